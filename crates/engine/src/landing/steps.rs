//! One step of a lane: what the verdicts lead to next, and the run of the checks that adds one.

use std::time::Duration;

use baton_core::base::time::Timestamp;
use baton_core::landing::lane::lane_entry;
use baton_core::landing::search::{LaneStep, next_step};
use baton_core::landing::verdict::{TreeState, Verdict, VerdictSubject, blame_since};
use baton_core::task::Task;
use baton_core::task::not_landed::NotLanded;

use crate::base::error::EngineError;
use crate::git::Worktrees;
use crate::landing::ahead::ChecksAhead;
use crate::landing::batch::Batch;
use crate::landing::checking::{CheckOrder, Suite};
use crate::landing::lander::{Lander, LaneRound};
use crate::landing::lanes::{self, Lane};
use crate::landing::live_runs::CheckSubject;
use crate::landing::met::{self, MetWork};
use crate::landing::start::StartState;

/// Between two looks at who is in the lane while checks run.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// A branch that fails is checked again after this long without a new commit: what its checks need may be back.
const RED_BRANCH_STANDS_MS: i64 = 10 * 60 * 1_000;

impl Lander {
    /// The next step of the batch. True if a task left the lane.
    pub(crate) async fn step(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        behind: &[Task],
        round: &mut LaneRound,
    ) -> Result<bool, EngineError> {
        for (candidate, _) in &batch.members {
            if let Some(reason) = self.proves_nothing(lane, worktrees, batch, &candidate.task).await? {
                self.send_back(&candidate.task, reason).await?;
                return Ok(true);
            }
        }
        let suites = self.suites(worktrees, batch).await?;
        let states = self.states(batch, &suites).await?;
        let key = |prefix: usize| suites[prefix].key(batch.trees()[prefix].clone());
        let first = || batch.members.first().map(|(candidate, _)| candidate);
        match (next_step(&states), first()) {
            (None, _) | (_, None) => Ok(false),
            (Some(LaneStep::Check(prefix)), Some(_)) => {
                if round.ahead.finish(&key(prefix)).await? {
                    return Ok(false);
                }
                let _place = self.room.enter().await;
                let is_first_look = prefix == batch.members.len() && states[prefix] == TreeState::Unknown;
                if is_first_look {
                    self.look_ahead(lane, worktrees, batch, behind, &mut round.ahead).await?;
                } else {
                    round.ahead.clear();
                }
                let order = self.order(lane, worktrees, batch, prefix, suites[prefix].clone()).await?;
                self.check_meanwhile(lane, worktrees, batch, order, &mut round.ahead, is_first_look).await
            }
            (Some(LaneStep::Land(prefix)), Some(_)) => {
                let verdict = self.verdict(&key(prefix)).await?.map(|stored| stored.value);
                self.move_branch(lane, worktrees, batch, prefix, verdict).await
            }
            (Some(LaneStep::SendBackFirst), Some(first)) => {
                match self.judge_start(lane, worktrees, batch, first).await? {
                    StartState::Passes => {}
                    StartState::Checked => return Ok(false),
                    StartState::Fails(reason) => {
                        self.delay(&first.task, reason).await?;
                        round.delayed.insert((first.task.id(), batch.ground.commit.clone()));
                        return Ok(true);
                    }
                }
                let verdict = self.verdict(&key(1)).await?.map(|stored| stored.value);
                let checks = verdict.as_ref().map(Verdict::failed).unwrap_or_default();
                let MetWork { tasks: met, more: met_more } =
                    met::find(&self.tasks, worktrees, first, &batch.tip, &checks).await?;
                let reason = NotLanded::ChecksFailed {
                    into: batch.ground.branch.clone(),
                    commit: verdict
                        .as_ref()
                        .map_or_else(|| batch.tip.clone(), |verdict| verdict.commit.clone()),
                    base: batch.ground.commit.clone(),
                    checks,
                    met,
                    met_more,
                    met_commits: met::find_commits(worktrees, first, batch).await?,
                    failed_before: has_failed(&first.task),
                    suite: Some(suites[1].digest.clone()),
                    protected: suites[1]
                        .judged
                        .as_ref()
                        .map(|judged| judged.files.clone())
                        .unwrap_or_default(),
                };
                self.send_back(&first.task, reason).await?;
                Ok(true)
            }
            (Some(LaneStep::BranchFails), Some(first)) => {
                let verdict = self.verdict(&key(0)).await?.map(|stored| stored.value);
                if std::mem::take(&mut round.looks_again) || self.is_old(verdict.as_ref()).await? {
                    let _place = self.room.enter().await;
                    let order = self.order(lane, worktrees, batch, 0, suites[0].clone()).await?;
                    return self
                        .check_meanwhile(lane, worktrees, batch, order, &mut round.ahead, false)
                        .await;
                }
                let reason = NotLanded::BranchFails {
                    into: batch.ground.branch.clone(),
                    base: batch.ground.commit.clone(),
                    checks: verdict.map(|verdict| verdict.failed()).unwrap_or_default(),
                };
                self.delay(&first.task, reason).await?;
                round.delayed.insert((first.task.id(), batch.ground.commit.clone()));
                Ok(true)
            }
        }
    }

    /// What is known about each prefix of the batch.
    async fn states(&self, batch: &Batch, suites: &[Suite]) -> Result<Vec<TreeState>, EngineError> {
        let (mut states, mut branch) = (Vec::new(), None);
        for (prefix, (suite, tree)) in suites.iter().zip(batch.trees()).enumerate() {
            let stored = self.verdict(&suite.key(tree)).await?.map(|stored| stored.value);
            let accepted_at = accepted_at(batch, prefix);
            states.push(match &stored {
                _ if suite.checks.is_empty() => TreeState::Green,
                Some(stored) if prefix == 0 => stored.state_of_branch(accepted_at),
                Some(stored) => stored.state(blame_since(branch.as_ref(), accepted_at)),
                None => TreeState::Unknown,
            });
            if prefix == 0 {
                branch = stored;
            }
        }
        Ok(states)
    }

    /// Whether it is worth a run to see whether the branch still fails.
    pub(crate) async fn is_old(&self, branch: Option<&Verdict>) -> Result<bool, EngineError> {
        let Some(checked_at) = branch.and_then(Verdict::checked_at) else { return Ok(false) };
        Ok(self.tasks.store.now().await?.ms().saturating_sub(checked_at.ms()) >= RED_BRANCH_STANDS_MS)
    }

    /// Runs the checks. What comes in meanwhile is checked ahead; when one of those that are checked is taken back, the run is
    /// ended, and so is everything that supposes it. True in that case.
    async fn check_meanwhile(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        order: CheckOrder,
        ahead: &mut ChecksAhead,
        looks_ahead: bool,
    ) -> Result<bool, EngineError> {
        let mut news = self.tasks.changes();
        let ids = batch.ids(batch.members.len());
        let mut checking = Box::pin(self.check(worktrees, order));
        loop {
            tokio::select! {
                checked = &mut checking => return checked.map(|()| false),
                is_open = news.changed() => {
                    if is_open.is_err() {
                        return checking.await.map(|()| false);
                    }
                }
            }
            let waiting = lanes::waiting(&self.projects, &lane.key).await?;
            if !ids.iter().all(|id| waiting.iter().any(|task| task.id() == *id)) {
                ahead.clear();
                return Ok(true);
            }
            if looks_ahead && waiting.len() > ids.len() {
                let behind: Vec<Task> =
                    waiting.into_iter().filter(|task| !ids.contains(&task.id())).collect();
                self.look_ahead(lane, worktrees, batch, &behind, ahead).await?;
            }
            // Every commit anywhere counts as a change; once in a while is enough.
            tokio::select! {
                checked = &mut checking => return checked.map(|()| false),
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    /// A run of the checks on a prefix of a batch.
    pub(crate) async fn order(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        prefix: usize,
        suite: Suite,
    ) -> Result<CheckOrder, EngineError> {
        // What is checked without a task has nothing merged on it.
        let base = if prefix == 0 { &batch.ground.commit } else { &batch.tip };
        let subject = CheckSubject {
            tasks: batch.ids(prefix.max(1)),
            commit: batch.commit(worktrees, prefix).await?,
            base: base.clone(),
            without_work: (prefix == 0).then(|| batch.ground.branch.to_string()),
            since: self.tasks.store.now().await?,
        };
        let last = batch.tasks().take(prefix.max(1)).last();
        let attempt = last.and_then(lane_entry).and_then(|entry| entry.work.attempt);
        let tree = if prefix == 0 { &batch.tree } else { &batch.members[prefix - 1].1 };
        Ok(CheckOrder {
            into: lane.key.branch.clone(),
            commit: subject.commit.clone(),
            base: base.clone(),
            key: suite.key(tree.clone()),
            suite,
            watched: self.board.note_checking(&lane.key, subject),
            subject: VerdictSubject::Candidate,
            attempt: attempt.unwrap_or_else(|| self.tasks.ids.attempt()),
        })
    }

    /// What runs on each prefix of the batch, the ground alone first.
    async fn suites(&self, worktrees: &Worktrees, batch: &Batch) -> Result<Vec<Suite>, EngineError> {
        let tasks: Vec<&Task> = batch.tasks().collect();
        let mut suites = Vec::with_capacity(tasks.len() + 1);
        for (prefix, tree) in batch.trees().iter().enumerate() {
            let tasks = tasks.iter().take(prefix).copied();
            suites.push(self.suite_on(worktrees, &batch.ground.commit, tree, tasks).await?);
        }
        Ok(suites)
    }
}

/// Whether its checks failed at the end of its last attempt.
fn has_failed(task: &Task) -> bool {
    let end = task.ledger().last_end.as_ref();
    end.is_some_and(|end| end.verified.checks.iter().any(|check| check.exit_code != 0))
}

/// When the last of these was accepted. For the tip alone: when the first was, for whose sake it is looked at.
fn accepted_at(batch: &Batch, prefix: usize) -> Timestamp {
    let entries = batch.members.iter().take(prefix.max(1)).filter_map(|(one, _)| lane_entry(&one.task));
    entries.map(|entry| entry.since).max().unwrap_or(Timestamp::from_ms(0))
}
