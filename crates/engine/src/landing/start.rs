//! Whether work fails because of what it started from or is merged on: commits of the person's own that the branch does not have
//! yet.

use baton_core::base::git_name::CommitId;
use baton_core::base::time::Timestamp;
use baton_core::landing::lane::lane_entry;
use baton_core::landing::verdict::{TreeState, VerdictKey, VerdictSubject};
use baton_core::task::not_landed::NotLanded;

use crate::base::error::EngineError;
use crate::git::Worktrees;
use crate::landing::batch::{Batch, LandingCandidate};
use crate::landing::checking::{CheckOrder, Suite};
use crate::landing::lander::{Lander, LaneRound};
use crate::landing::lanes::Lane;
use crate::landing::live_runs::CheckSubject;
use crate::projects::trunk::BranchTip;

/// What is known about the person's commits that a candidate started from or is merged on.
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
        let without_work = format!("{} with your commit {}", lane.key.branch, start.short());
        match verdict.as_ref().map_or(TreeState::Unknown, |verdict| verdict.state(accepted_at(candidate))) {
            TreeState::Green => Ok(StartState::Passes),
            TreeState::Red => Ok(StartState::Fails(NotLanded::StartFails {
                into: lane.key.branch.clone(),
                base: start,
                checks: verdict.map(|verdict| verdict.failed()).unwrap_or_default(),
                conflicts: Vec::new(),
            })),
            TreeState::Unknown | TreeState::Suspect => {
                let subject = VerdictSubject::Before;
                let run = RunWithoutWork { commit, shown: start, suite, key, subject, without_work };
                self.check_without(lane, worktrees, candidate, run).await?;
                Ok(StartState::Checked)
            }
        }
    }

    /// Before work is sent back because it conflicts with the person's own commits: the checks on those alone.
    pub(crate) async fn judge_ground(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        candidate: &LandingCandidate,
        round: &mut LaneRound,
    ) -> Result<StartState, EngineError> {
        let BranchTip { branch, commit } = batch.ground.clone();
        let suite = self.suite_on(worktrees, &commit, &batch.tree, []).await?;
        if suite.checks.is_empty() {
            return Ok(StartState::Passes);
        }
        let key = suite.key(batch.tree.clone());
        let verdict = self.verdict(&key).await?.map(|stored| stored.value);
        let state =
            verdict.as_ref().map_or(TreeState::Unknown, |verdict| verdict.state(accepted_at(candidate)));
        if state == TreeState::Green {
            return Ok(StartState::Passes);
        }
        let is_known = state == TreeState::Red
            && !std::mem::take(&mut round.looks_again)
            && !self.is_old(verdict.as_ref()).await?;
        if is_known {
            let checks = verdict.map(|verdict| verdict.failed()).unwrap_or_default();
            return Ok(StartState::Fails(NotLanded::BranchFails { into: branch, base: commit, checks }));
        }
        let without_work = branch.to_string();
        let subject = VerdictSubject::Candidate;
        let run = RunWithoutWork { shown: commit.clone(), commit, suite, key, subject, without_work };
        self.check_without(lane, worktrees, candidate, run).await?;
        Ok(StartState::Checked)
    }

    /// Runs the checks on something that the candidate's work is not in.
    async fn check_without(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        candidate: &LandingCandidate,
        run: RunWithoutWork,
    ) -> Result<(), EngineError> {
        let RunWithoutWork { commit, shown, suite, key, subject: of, without_work } = run;
        let _place = self.room.enter().await;
        let subject = CheckSubject {
            tasks: vec![candidate.task.id()],
            commit: shown.clone(),
            base: shown.clone(),
            without_work: Some(without_work),
            since: self.tasks.store.now().await?,
        };
        let attempt = lane_entry(&candidate.task).and_then(|entry| entry.work.attempt);
        let order = CheckOrder {
            into: lane.key.branch.clone(),
            commit,
            base: shown,
            suite,
            key,
            watched: self.board.note_checking(&lane.key, subject),
            subject: of,
            attempt: attempt.unwrap_or_else(|| self.tasks.ids.attempt()),
        };
        self.check(worktrees, order).await
    }
}

/// A run of the checks on something that no candidate's work is in.
struct RunWithoutWork {
    commit: CommitId,
    /// The commit that people know.
    shown: CommitId,
    suite: Suite,
    key: VerdictKey,
    subject: VerdictSubject,
    /// What is checked, in words.
    without_work: String,
}

fn accepted_at(candidate: &LandingCandidate) -> Timestamp {
    lane_entry(&candidate.task).map_or(Timestamp::from_ms(0), |entry| entry.since)
}

/// The person's commit that the work started from, if the branch does not have it.
pub(crate) async fn unlanded_start(
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
