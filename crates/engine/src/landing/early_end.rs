//! What leaves a lane, or waits in it, before anything of it is checked: work that is in the branch already, that has moved, or that
//! cannot be merged.

use baton_core::task::not_landed::NotLanded;

use crate::base::error::EngineError;
use crate::git::Worktrees;
use crate::landing::batch::Batch;
use crate::landing::lander::{Lander, LaneRound};
use crate::landing::lanes::Lane;
use crate::landing::met;
use crate::landing::start::StartState;

impl Lander {
    /// What needs no check. True if the lane has to be looked at again.
    pub(crate) async fn settle_early(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        round: &mut LaneRound,
    ) -> Result<bool, EngineError> {
        for task in &batch.merged {
            let command = self.found_merged(lane, worktrees, batch, task).await?;
            self.leave(task.id(), command).await?;
        }
        for (task, verified, tip) in &batch.moved {
            let reason = NotLanded::Moved { verified: verified.clone(), tip: tip.clone() };
            self.send_back(task, reason).await?;
        }
        for (candidate, files) in &batch.conflicts {
            // Nobody has to fit in with commits of the person's that fail the checks.
            if batch.brings_in() {
                match self.judge_ground(lane, worktrees, batch, candidate, round).await? {
                    StartState::Passes => {}
                    StartState::Checked => return Ok(true),
                    StartState::Fails(reason) => {
                        self.delay(&candidate.task, reason).await?;
                        round.delayed.insert((candidate.task.id(), batch.ground.commit.clone()));
                        continue;
                    }
                }
            }
            let met = met::find(&self.tasks, worktrees, candidate, &batch.tip).await?;
            let met = met::touching(&self.tasks, worktrees, met, files).await?;
            let into = batch.ground.branch.clone();
            let reason = NotLanded::Conflict { into, files: files.clone(), met };
            self.send_back(&candidate.task, reason).await?;
        }
        Ok(!batch.merged.is_empty() || !batch.moved.is_empty() || !batch.conflicts.is_empty())
    }
}
