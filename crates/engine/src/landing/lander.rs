//! Works through a lane: checks what is to become the branch, moves the branch there, or sends a task back (I18).
//!
//! Every step rests on the store and the repository: the tasks in the lane, the branch's tip and the verdicts. So a crash
//! between any two steps leaves the branch at a commit that passed, and the next run goes on from there. Moving the branch
//! comes before calling its tasks done; a task whose work is already in the branch is done without another check.

use std::sync::Arc;
use std::time::Duration;

use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use baton_core::landing::lane::{BATCH_MAX, LaneMember, lane_entry};
use baton_core::landing::search::{LaneStep, next_step};
use baton_core::landing::verdict::{TreeState, Verdict, VerdictSubject};
use baton_core::people::actor::Actor;
use baton_core::task::Task;
use baton_core::task::not_landed::NotLanded;
use baton_core::transition::command::Command;
use baton_core::transition::refusal::CommandRefusal;
use serde_json::json;

use crate::base::announce::Announce;
use crate::base::error::EngineError;
use crate::cluster::merge_lock::MergeLock;
use crate::cluster::node::Node;
use crate::git::Worktrees;
use crate::landing::ahead::ChecksAhead;
use crate::landing::batch::Batch;
use crate::landing::board::LandingBoard;
use crate::landing::check_room::CheckRoom;
use crate::landing::checking::{CheckOrder, Suite};
use crate::landing::foundations;
use crate::landing::lanes::{self, Lane};
use crate::landing::live_runs::CheckSubject;
use crate::landing::met;
use crate::projects::Projects;
use crate::projects::hooks::HookCall;
use crate::projects::source::{CodeSource, slug};
use crate::settings::Settings;
use crate::settings::hooks::HookName;
use crate::tasks::service::TaskService;
use crate::user_tasks::UserTasks;

/// Between two looks at who is in the lane while checks run.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Cheap to clone.
#[derive(Clone)]
pub struct Lander {
    pub(crate) tasks: TaskService,
    pub(crate) projects: Projects,
    pub(crate) settings: Arc<Settings>,
    pub(crate) user_tasks: UserTasks,
    pub(crate) announce: Announce,
    pub board: LandingBoard,
    pub(crate) room: CheckRoom,
    node: Node,
}

impl Lander {
    pub fn new(
        projects: Projects,
        settings: Arc<Settings>,
        user_tasks: UserTasks,
        node: Node,
        board: LandingBoard,
        room: CheckRoom,
        announce: Announce,
    ) -> Self {
        Self { tasks: projects.tasks.clone(), projects, settings, user_tasks, announce, board, room, node }
    }

    /// Works on the lane of this task until the task has left it. For commands that run without a server.
    pub async fn land(&self, task: TaskId) -> Result<(), EngineError> {
        while let Some(lane) = lanes::find(&self.projects, task).await? {
            self.work(&lane).await?;
        }
        Ok(())
    }

    /// Sends back what contains work that was cancelled: it would never land.
    pub async fn settle_resting(&self, lane: &Lane) -> Result<(), EngineError> {
        for LaneMember { task, .. } in &lane.resting {
            let unmet = foundations::unmet(&self.projects, task).await?;
            if let Some(gone) = unmet.iter().find(|found| found.is_cancelled) {
                self.send_back(task, NotLanded::RestsOnCancelled { task_id: gone.task }).await?;
            }
        }
        Ok(())
    }

    /// Works on the lane until it is empty.
    pub async fn work(&self, lane: &Lane) -> Result<(), EngineError> {
        let worked = match self.projects.settings_to_work_by(lane.project.as_ref()).await {
            Ok(settings) => self.with_settings(settings).work_through(lane).await,
            Err(error) => Err(error),
        };
        match &worked {
            Ok(()) => self.board.note_idle(&lane.key),
            Err(error) => self.board.note_error(&lane.key, format!("{error}; {}", error.hint())),
        }
        worked
    }

    /// The same for a lane of a project with these settings.
    fn with_settings(&self, settings: Arc<Settings>) -> Self {
        Self { projects: self.projects.with_settings(&settings), settings, ..self.clone() }
    }

    async fn work_through(&self, lane: &Lane) -> Result<(), EngineError> {
        // Candidates of a batch stay together until it is decided: one that comes in later does not start the search anew.
        let mut together: Vec<TaskId> = Vec::new();
        let mut ahead = ChecksAhead::default();
        loop {
            let mut waiting = lanes::waiting(&self.projects, &lane.key).await?;
            if waiting.is_empty() {
                return Ok(());
            }
            together.retain(|id| waiting.iter().any(|task| task.id() == *id));
            let worktrees = self.open(&waiting).await?;
            let (first, behind): (Vec<Task>, Vec<Task>) = if together.is_empty() {
                let behind = waiting.split_off(waiting.len().min(BATCH_MAX));
                (waiting, behind)
            } else {
                waiting.into_iter().partition(|task| together.contains(&task.id()))
            };
            let batch = Batch::build(&worktrees, &lane.key.branch, first).await?;
            if self.settle_early(lane, &worktrees, &batch).await? {
                continue;
            }
            if batch.members.is_empty() {
                return Ok(());
            }
            together = batch.ids(batch.members.len());
            if self.step(lane, &worktrees, &batch, &behind, &mut ahead).await? {
                together.clear();
            }
        }
    }

    /// The repository, with what other machines pushed for these tasks.
    async fn open(&self, waiting: &[Task]) -> Result<Worktrees, EngineError> {
        let mut worktrees = None;
        for task in waiting {
            let (found, _) = self.projects.repository_as_shared(task).await?;
            let is_clone = found.repository().is_clone();
            worktrees = Some(found);
            if !is_clone {
                break;
            }
        }
        worktrees.ok_or_else(|| crate::landing::error::LandingError::EmptyLane.into())
    }

    /// What needs no check. True if anything left the lane.
    async fn settle_early(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
    ) -> Result<bool, EngineError> {
        for task in &batch.merged {
            let (commit, verified) = self.found_merged(lane, worktrees, batch, task).await?;
            self.leave(task.id(), Command::Land { commit, verified }).await?;
        }
        for (task, verified, tip) in &batch.moved {
            let reason = NotLanded::Moved { verified: verified.clone(), tip: tip.clone() };
            self.send_back(task, reason).await?;
        }
        for (candidate, files) in &batch.conflicts {
            let met = met::find(&self.tasks, worktrees, candidate, &batch.tip).await?;
            let met = met::touching(&self.tasks, worktrees, met, files).await?;
            let reason = NotLanded::Conflict { into: lane.key.branch.clone(), files: files.clone(), met };
            self.send_back(&candidate.task, reason).await?;
        }
        Ok(!batch.merged.is_empty() || !batch.moved.is_empty() || !batch.conflicts.is_empty())
    }

    /// The next step of the batch. True if a task left the lane.
    async fn step(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        behind: &[Task],
        ahead: &mut ChecksAhead,
    ) -> Result<bool, EngineError> {
        for (candidate, _) in &batch.members {
            if let Some(reason) = self.proves_nothing(lane, worktrees, batch, &candidate.task).await? {
                self.send_back(&candidate.task, reason).await?;
                return Ok(true);
            }
        }
        let suites = self.suites(worktrees, batch)?;
        let mut states = Vec::new();
        for (prefix, (suite, tree)) in suites.iter().zip(batch.trees()).enumerate() {
            let stored = self.verdict(&suite.key(tree)).await?;
            states.push(match stored {
                _ if suite.checks.is_empty() => TreeState::Green,
                Some(stored) if prefix == 0 => stored.value.state_of_branch(accepted_at(batch, prefix)),
                Some(stored) => stored.value.state(accepted_at(batch, prefix)),
                None => TreeState::Unknown,
            });
        }
        let key = |prefix: usize| suites[prefix].key(batch.trees()[prefix].clone());
        let first = || batch.members.first().map(|(candidate, _)| candidate);
        match (next_step(&states), first()) {
            (None, _) | (_, None) => Ok(false),
            (Some(LaneStep::Check(prefix)), Some(_)) => {
                if ahead.finish(&key(prefix)).await? {
                    return Ok(false);
                }
                let _place = self.room.enter().await;
                if prefix == batch.members.len() && states[prefix] == TreeState::Unknown {
                    self.look_ahead(lane, worktrees, batch, behind, ahead).await?;
                } else {
                    ahead.clear();
                }
                let order = self.order(lane, worktrees, batch, prefix, suites[prefix].clone()).await?;
                let is_first_look = prefix == batch.members.len() && states[prefix] == TreeState::Unknown;
                self.check_meanwhile(lane, worktrees, batch, order, ahead, is_first_look).await
            }
            (Some(LaneStep::Land(prefix)), Some(_)) => {
                let verdict = self.verdict(&key(prefix)).await?.map(|stored| stored.value);
                self.move_branch(lane, worktrees, batch, prefix, verdict).await
            }
            (Some(LaneStep::SendBackFirst), Some(first)) => {
                let verdict = self.verdict(&key(1)).await?.map(|stored| stored.value);
                let reason = NotLanded::ChecksFailed {
                    into: lane.key.branch.clone(),
                    commit: verdict
                        .as_ref()
                        .map_or_else(|| batch.tip.clone(), |verdict| verdict.commit.clone()),
                    base: batch.tip.clone(),
                    checks: verdict.map(|verdict| verdict.failed()).unwrap_or_default(),
                    met: met::find(&self.tasks, worktrees, first, &batch.tip).await?,
                };
                self.send_back(&first.task, reason).await?;
                Ok(true)
            }
            (Some(LaneStep::BranchFails), Some(first)) => {
                let verdict = self.verdict(&key(0)).await?.map(|stored| stored.value);
                let reason = NotLanded::BranchFails {
                    into: lane.key.branch.clone(),
                    base: batch.tip.clone(),
                    checks: verdict.map(|verdict| verdict.failed()).unwrap_or_default(),
                };
                self.send_back(&first.task, reason).await?;
                Ok(true)
            }
        }
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
        let subject = CheckSubject {
            tasks: batch.ids(prefix.max(1)),
            commit: batch.commit(worktrees, prefix).await?,
            base: batch.tip.clone(),
            since: self.tasks.store.now().await?,
        };
        let last = batch.tasks().take(prefix.max(1)).last();
        let attempt = last.and_then(lane_entry).and_then(|entry| entry.work.attempt);
        let tree = if prefix == 0 { &batch.tree } else { &batch.members[prefix - 1].1 };
        Ok(CheckOrder {
            into: lane.key.branch.clone(),
            commit: subject.commit.clone(),
            base: batch.tip.clone(),
            key: suite.key(tree.clone()),
            suite,
            watched: self.board.note_checking(&lane.key, subject),
            subject: VerdictSubject::Candidate,
            attempt: attempt.unwrap_or_else(|| self.tasks.ids.attempt()),
        })
    }

    /// What runs on each prefix of the batch, the tip alone first.
    fn suites(&self, worktrees: &Worktrees, batch: &Batch) -> Result<Vec<Suite>, EngineError> {
        let tasks: Vec<&Task> = batch.members.iter().map(|(candidate, _)| &candidate.task).collect();
        (0..=tasks.len()).map(|prefix| self.suite(worktrees, tasks[..prefix].iter().copied())).collect()
    }

    /// I18: the branch moves to the commit whose tree passed, if it still is where that was built on. False if it is not.
    async fn move_branch(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        prefix: usize,
        verdict: Option<Verdict>,
    ) -> Result<bool, EngineError> {
        let ids = batch.ids(prefix);
        let waiting = lanes::waiting(&self.projects, &lane.key).await?;
        if !ids.iter().all(|id| waiting.iter().any(|task| task.id() == *id)) {
            // Somebody took one back meanwhile.
            return Ok(true);
        }
        let (from, to) = (&batch.tip, batch.commit(worktrees, prefix).await?);
        let has_moved = match &lane.source {
            CodeSource::Here(_) => worktrees.advance(&lane.key.branch, from, &to).await?,
            CodeSource::Remote(remote) => {
                let name = format!("merge:{}", slug(remote));
                let lock = MergeLock::take(&self.tasks.store, &self.node, name).await?;
                let moved = worktrees.advance_shared(&lane.key.branch, from, &to).await;
                lock.end(&self.tasks.store).await?;
                moved?
            }
        };
        if has_moved {
            for (candidate, _) in batch.members.iter().take(prefix) {
                let verified =
                    self.verified(lane, worktrees, batch, &candidate.task, verdict.as_ref()).await?;
                self.leave(candidate.task.id(), Command::Land { commit: to.clone(), verified }).await?;
                let more = json!({ "into": lane.key.branch, "commit": to });
                let hook = HookCall {
                    name: HookName::AfterLanding,
                    task: &candidate.task,
                    attempt: None,
                    folder: None,
                    more,
                };
                self.projects.run_last_hook(hook).await;
            }
        }
        Ok(has_moved)
    }

    async fn send_back(&self, task: &Task, reason: NotLanded) -> Result<(), EngineError> {
        self.leave(task.id(), Command::SendBack { reason: Box::new(reason) }).await
    }

    /// Somebody may have decided about the task meanwhile; then there is nothing left to do.
    async fn leave(&self, task: TaskId, command: Command) -> Result<(), EngineError> {
        match self.tasks.apply(task, command, Actor::Baton).await {
            Ok(_) => Ok(()),
            Err(refused) if refused.is::<CommandRefusal>() => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// When the last of these was accepted. For the tip alone: when the first was, for whose sake it is looked at.
fn accepted_at(batch: &Batch, prefix: usize) -> Timestamp {
    let entries = batch.members.iter().take(prefix.max(1)).filter_map(|(one, _)| lane_entry(&one.task));
    entries.map(|entry| entry.since).max().unwrap_or(Timestamp::from_ms(0))
}
