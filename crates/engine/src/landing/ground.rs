//! What the candidates of a lane are merged on, and by which rules: the person's own branch where that is ahead, or the tip of the
//! lane's branch alone where the person's commits fail the checks or their settings cannot be read.

use std::collections::BTreeSet;

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::TaskId;
use baton_core::landing::lane::landing_delay;
use baton_core::landing::verdict::Verdict;
use baton_core::task::Task;
use baton_core::task::not_landed::NotLanded;

use crate::base::error::EngineError;
use crate::git::Worktrees;
use crate::landing::error::LandingError;
use crate::landing::lander::{Lander, LaneRound};
use crate::landing::lanes::Lane;
use crate::projects::trunk::BranchTip;
use crate::settings::SettingsError;

/// What the next batch of a lane is built from.
pub(crate) struct LaneGround {
    /// By the rules of the ground.
    pub lander: Lander,
    pub ground: BranchTip,
    /// Those that can land on it, in order; at least one.
    pub tasks: Vec<Task>,
}

impl Lander {
    /// Fails if nothing that waits can land anywhere.
    pub(crate) async fn choose_ground(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        at_tip: BranchTip,
        waiting: &[Task],
        round: &mut LaneRound,
    ) -> Result<LaneGround, EngineError> {
        let trunk = self.projects.trunk(worktrees, lane.project.as_ref()).await?;
        let ground = trunk.unwrap_or_else(|| at_tip.clone());
        let is_ahead = ground.commit != at_tip.commit;
        let stopped = match self.by_rules_at(worktrees, &ground).await {
            Ok(lander) => {
                if !std::mem::replace(&mut round.has_begun, true) && !round.looks_again {
                    round.delayed = lander.still_delayed(worktrees, &ground.commit, waiting).await?;
                }
                let tasks = round.without_delayed(&ground.commit, waiting.to_vec());
                if !tasks.is_empty() {
                    return Ok(LaneGround { lander, ground, tasks });
                }
                stands_still(&lane.key.branch, ground.clone(), waiting).into()
            }
            Err(error) if is_ahead && error.is::<SettingsError>() => error,
            Err(error) => return Err(error),
        };
        if !is_ahead {
            return Err(stopped);
        }
        // The person's own commits fail, or nobody can say how to judge them: what was started before them lands without.
        let before = started_before(worktrees, &at_tip.commit, &ground.commit, waiting.to_vec()).await?;
        let tasks = round.without_delayed(&at_tip.commit, before);
        if tasks.is_empty() {
            return Err(stopped);
        }
        let lander = self.by_rules_at(worktrees, &at_tip).await?;
        Ok(LaneGround { lander, ground: at_tip, tasks })
    }

    /// Who waits for a branch that has not changed since it failed: nothing has to be merged or run to know that.
    async fn still_delayed(
        &self,
        worktrees: &Worktrees,
        tip: &CommitId,
        waiting: &[Task],
    ) -> Result<BTreeSet<(TaskId, CommitId)>, EngineError> {
        let delayed: BTreeSet<(TaskId, CommitId)> =
            waiting.iter().filter(|task| waits_for(task, tip)).map(|task| (task.id(), tip.clone())).collect();
        if delayed.is_empty() {
            return Ok(delayed);
        }
        let tree = worktrees.tree_of(tip).await?;
        let suite = self.suite_on(worktrees, tip, &tree, []).await?;
        let branch = self.verdict(&suite.key(tree)).await?.map(|stored| stored.value);
        let still_fails =
            branch.as_ref().is_some_and(Verdict::fails) && !self.is_old(branch.as_ref()).await?;
        Ok(if still_fails { delayed } else { BTreeSet::new() })
    }
}

/// Whether the task waits because the checks fail on this commit without it.
pub(crate) fn waits_for(task: &Task, tip: &CommitId) -> bool {
    matches!(landing_delay(task), Some(NotLanded::BranchFails { base, .. }) if base == tip)
}

/// Those that can land without the commits of the person's own that the ground has and the tip does not.
pub(crate) async fn started_before(
    worktrees: &Worktrees,
    tip: &CommitId,
    ground: &CommitId,
    tasks: Vec<Task>,
) -> Result<Vec<Task>, EngineError> {
    let repository = worktrees.repository();
    let mut before = Vec::new();
    for task in tasks {
        let Some(head) = repository.tip(&BranchName::for_task(task.id())).await? else { continue };
        let common = repository.merge_base(&head, ground).await?;
        if let Some(common) = common
            && repository.is_ancestor(&common, tip).await?
        {
            before.push(task);
        }
    }
    Ok(before)
}

/// Why nothing in the lane can land.
fn stands_still(into: &BranchName, ground: BranchTip, waiting: &[Task]) -> LandingError {
    let fails_at_start = |task: &Task| matches!(landing_delay(task), Some(NotLanded::StartFails { .. }));
    if waiting.iter().all(fails_at_start) {
        return LandingError::StartFails { branch: into.clone(), tasks: waiting.len() };
    }
    let BranchTip { branch, commit: tip } = ground;
    LandingError::BranchFails { branch, tip, tasks: waiting.len() }
}
