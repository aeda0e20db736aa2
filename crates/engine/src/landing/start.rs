//! Whether work fails because of what it started from: commits of the person's own that the branch does not have yet.

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::time::Timestamp;
use baton_core::landing::lane::lane_entry;
use baton_core::landing::verdict::{TreeState, VerdictSubject};
use baton_core::task::Task;
use baton_core::task::not_landed::NotLanded;

use crate::base::error::EngineError;
use crate::git::Worktrees;
use crate::landing::batch::{Batch, LandingCandidate};
use crate::landing::checking::CheckOrder;
use crate::landing::lander::Lander;
use crate::landing::lanes::Lane;
use crate::landing::live_runs::CheckSubject;

/// What is known about where a candidate started.
pub(crate) enum StartState {
    /// The branch has it, or it passes: what fails is the work.
    Passes,
    /// The checks ran on it; look again.
    Checked,
    /// Nothing the agent did.
    Fails(NotLanded),
}

impl Lander {
    /// Before work is sent back: the checks on the branch with the commits it started from, and without the work.
    pub(crate) async fn judge_start(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        candidate: &LandingCandidate,
    ) -> Result<StartState, EngineError> {
        let Some(start) = unlanded_start(worktrees, batch, candidate).await? else {
            return Ok(StartState::Passes);
        };
        let ground = &batch.ground.commit;
        let Ok(tree) = worktrees.merge_trees(&candidate.spec, ground, &start).await? else {
            // Nobody can say how the two would do together.
            return Ok(StartState::Passes);
        };
        let commit = worktrees.join(&candidate.spec, &tree, ground, &start).await?;
        let tree = worktrees.tree_of(&commit).await?;
        let suite = self.suite_on(worktrees, ground, &tree, []).await?;
        let key = suite.key(tree);
        let verdict = self.verdict(&key).await?.map(|stored| stored.value);
        let since = lane_entry(&candidate.task).map_or(Timestamp::from_ms(0), |entry| entry.since);
        match verdict.as_ref().map_or(TreeState::Unknown, |verdict| verdict.state(since)) {
            TreeState::Green => Ok(StartState::Passes),
            TreeState::Red => Ok(StartState::Fails(NotLanded::StartFails {
                into: lane.key.branch.clone(),
                base: start,
                checks: verdict.map(|verdict| verdict.failed()).unwrap_or_default(),
            })),
            TreeState::Unknown | TreeState::Suspect => {
                let _place = self.room.enter().await;
                let subject = CheckSubject {
                    tasks: vec![candidate.task.id()],
                    commit: start.clone(),
                    base: start.clone(),
                    since: self.tasks.store.now().await?,
                };
                let attempt = lane_entry(&candidate.task).and_then(|entry| entry.work.attempt);
                let order = CheckOrder {
                    into: lane.key.branch.clone(),
                    commit,
                    base: start,
                    suite,
                    key,
                    watched: self.board.note_checking(&lane.key, subject),
                    subject: VerdictSubject::Before,
                    attempt: attempt.unwrap_or_else(|| self.tasks.ids.attempt()),
                };
                self.check(worktrees, order).await?;
                Ok(StartState::Checked)
            }
        }
    }

    /// Those that can land without the commits of the person's own that the ground has and the tip does not.
    pub(crate) async fn started_before(
        &self,
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
}

/// The person's commit that the work started from, if the branch does not have it.
async fn unlanded_start(
    worktrees: &Worktrees,
    batch: &Batch,
    candidate: &LandingCandidate,
) -> Result<Option<CommitId>, EngineError> {
    let Some(start) = worktrees.start_of(&candidate.spec.branch).await? else { return Ok(None) };
    let repository = worktrees.repository();
    let is_in_work = match &candidate.spec.head {
        Some(head) => repository.is_ancestor(&start, head).await?,
        None => true,
    };
    let is_landed = repository.is_ancestor(&start, &batch.ground.commit).await?;
    Ok((is_in_work && !is_landed).then_some(start))
}
