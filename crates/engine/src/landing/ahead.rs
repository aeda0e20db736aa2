//! Checks of the batches behind the first one, on what the branch will be if those before them pass.
//!
//! They only add verdicts. A batch whose turn comes finds its own there, because the same tasks merged on the same branch
//! make the same tree; if a batch before it fails, its tree never comes up, and the run was for nothing.

use baton_core::landing::lane::BATCH_MAX;
use baton_core::landing::verdict::VerdictKey;
use baton_core::task::Task;
use tokio::task::JoinHandle;

use crate::base::error::EngineError;
use crate::git::Worktrees;
use crate::landing::batch::Batch;
use crate::landing::lander::Lander;
use crate::landing::lanes::Lane;
use crate::projects::trunk::BranchTip;

/// The runs that are at work for one lane.
#[derive(Default)]
pub(crate) struct ChecksAhead(Vec<AheadRun>);

/// Ends the run when it is dropped, and with it the processes of the checks.
struct AheadRun {
    key: VerdictKey,
    handle: JoinHandle<Result<(), EngineError>>,
}

impl Drop for AheadRun {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

impl ChecksAhead {
    /// Waits for the run about this tree. False if there is none, or it broke off without a verdict.
    pub(crate) async fn finish(&mut self, key: &VerdictKey) -> Result<bool, EngineError> {
        let Some(place) = self.0.iter().position(|run| run.key == *key) else { return Ok(false) };
        let mut run = self.0.swap_remove(place);
        match (&mut run.handle).await {
            Ok(ended) => ended.map(|()| true),
            Err(_) => Ok(false),
        }
    }

    /// Ends them all: what they suppose will not come true.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    fn has(&self, key: &VerdictKey) -> bool {
        self.0.iter().any(|run| run.key == *key)
    }
}

impl Lander {
    /// Starts checks on the batches behind this one, as many as the machine has room for.
    pub(crate) async fn look_ahead(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        behind: &[Task],
        ahead: &mut ChecksAhead,
    ) -> Result<(), EngineError> {
        if batch.is_cut {
            return Ok(());
        }
        let mut tip = batch.commit(worktrees, batch.members.len()).await?;
        for tasks in behind.chunks(BATCH_MAX) {
            let branch = &lane.key.branch;
            let ground = BranchTip { branch: branch.clone(), commit: tip.clone() };
            let mut next = Batch::build(worktrees, branch, tip, ground, tasks.to_vec()).await?;
            // Rules that cannot be read are reported when their turn comes.
            let Ok(lander) = self.by_rules_at(worktrees, &next.ground).await else { return Ok(()) };
            next.end_at_new_rules(worktrees).await?;
            let all = next.members.len();
            tip = next.commit(worktrees, all).await?;
            let Some((_, tree)) = next.members.last() else { continue };
            let tasks: Vec<&Task> = next.tasks().collect();
            let suite = lander.suite_on(worktrees, &next.ground.commit, tree, tasks.iter().copied()).await?;
            let key = suite.key(tree.clone());
            if ahead.has(&key) || self.verdict(&key).await?.is_some() {
                if next.is_cut {
                    return Ok(());
                }
                continue;
            }
            let Some(place) = self.room.enter_now() else { return Ok(()) };
            let order = lander.order(lane, worktrees, &next, all, suite).await?;
            let worktrees = worktrees.clone();
            let run = async move {
                let _place = place;
                lander.check(&worktrees, order).await
            };
            ahead.0.push(AheadRun { key, handle: tokio::spawn(run) });
            if next.is_cut {
                return Ok(());
            }
        }
        Ok(())
    }
}
