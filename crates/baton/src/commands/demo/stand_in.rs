//! Decides in place of the visitor: answers the question, releases and approves the breakdown, sends the guide back with a
//! comment, accepts work. With pages open, only after the visitor had time to decide.

use baton_core::transition::approval::ApprovalRefusal;
use baton_core::transition::refusal::CommandRefusal;
use baton_engine::asking::Answers;
use baton_engine::tasks::error::TaskError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::records::project::is_complete;
use baton_core::task::Task;
use baton_core::task::state::{ReviewMark, TaskState};
use baton_core::transition::command::Command;
use baton_engine::base::error::EngineError;
use baton_engine::landing::acceptor::Acceptor;
use baton_engine::services::engine::Engine;

use crate::commands::demo::narrator::Narrator;
use crate::commands::demo::pace::DemoPace;
use crate::commands::demo::story;
use crate::error::CliError;

/// Look at the tasks at least this often.
const POLL_EVERY: Duration = Duration::from_secs(5);

pub(crate) struct StandIn<'a> {
    engine: &'a Engine,
    acceptor: Acceptor,
    /// Recorded as the one who decides.
    name: &'static str,
    pace: DemoPace,
    /// Whether somebody reads the pages.
    is_visited: Arc<AtomicBool>,
}

impl<'a> StandIn<'a> {
    pub(crate) fn new(engine: &'a Engine, name: &'static str, pace: DemoPace) -> Self {
        let is_visited = Arc::new(AtomicBool::new(false));
        Self { engine, acceptor: engine.workspace.acceptor(), name, pace, is_visited }
    }

    /// The same beside a visitor, who is never overtaken.
    pub(crate) fn beside(mut self, is_visited: &Arc<AtomicBool>) -> Self {
        self.is_visited = Arc::clone(is_visited);
        self
    }

    /// Runs until the project is complete.
    pub(crate) async fn play(&self, narrator: &mut Narrator) -> Result<(), CliError> {
        let tasks = &self.engine.workspace.tasks;
        let mut changes = tasks.changes();
        loop {
            changes.mark_unchanged();
            narrator.print_new().await?;
            let open = tasks.project_tasks(story::project()).await?;
            let next_due = self.decide_due(&open, self.patience(narrator)).await?;
            let open = tasks.project_tasks(story::project()).await?;
            let standings: Vec<_> = open.iter().map(|task| (task.id(), task.standing())).collect();
            if is_complete(standings.iter().map(|(id, standing)| (*id, standing))) {
                return narrator.print_new().await;
            }
            tokio::select! {
                news = changes.changed() => if news.is_err() { return Ok(()) },
                () = tokio::time::sleep(next_due) => {}
            }
        }
    }

    /// How long to wait for the visitor: not long if we made the last decision and nobody reads along.
    fn patience(&self, narrator: &Narrator) -> Duration {
        let was_ours = narrator.last_decider().is_some_and(|by| *by == Actor::human(self.name));
        let is_read = self.is_visited.load(Ordering::Relaxed);
        if was_ours && !is_read { self.pace.patience_alone } else { self.pace.patience }
    }

    /// Decides what is due; returns when to look again.
    async fn decide_due(&self, tasks: &[Task], patience: Duration) -> Result<Duration, CliError> {
        let now = self.engine.workspace.tasks.store.now().await.map_err(EngineError::from)?;
        let mut next_due = POLL_EVERY;
        for task in tasks {
            let waited = u64::try_from(now.ms_since(task.updated_at())).unwrap_or_default();
            let left = patience.saturating_sub(Duration::from_millis(waited));
            if !left.is_zero() {
                next_due = next_due.min(left);
                continue;
            }
            match self.decide(task, tasks).await {
                // The task changed meanwhile; look at it in the next round.
                Ok(()) => {}
                Err(error)
                    if error.is::<CommandRefusal>()
                        || error.is::<ApprovalRefusal>()
                        || error.is::<TaskError>() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(next_due)
    }

    async fn decide(&self, task: &Task, all: &[Task]) -> Result<(), EngineError> {
        let tasks = &self.engine.workspace.tasks;
        let you = || Actor::human(self.name);
        match task.state() {
            TaskState::AwaitingResponse { waiting } => {
                let options = &waiting.question.draft.options;
                // RETRY if offered, else the first option.
                let again = options.iter().find(|option| option.as_str() == "RETRY");
                let chosen = again.or(options.first()).cloned();
                let answer = chosen.or_else(|| NonBlank::new("Use your judgement.").ok());
                let Some(answer) = answer else { return Ok(()) };
                Answers::new(tasks)
                    .answer(waiting.question.id, answer, AnsweredBy::human(self.name), you())
                    .await
                    .map(drop)
            }
            TaskState::Held | TaskState::Breakdown { released: false } => {
                tasks.apply(task.id(), Command::Release, you()).await.map(drop)
            }
            TaskState::Provisional(work) if work.mark == ReviewMark::Plan => {
                tasks.approve(task.id(), you()).await.map(drop)
            }
            // The recycler handles these.
            TaskState::Provisional(work) if work.mark.is_too_large() => Ok(()),
            TaskState::Provisional(_) if story::waits_for_twin(task, all) => Ok(()),
            TaskState::Provisional(_) if story::wants_comment(task) => {
                let reason = NonBlank::new(story::COMMENT)?;
                tasks.apply(task.id(), Command::Reject { reason }, you()).await.map(drop)
            }
            TaskState::Provisional(_) => self.acceptor.accept(task.id(), false, you()).await.map(drop),
            TaskState::Failed { .. } => tasks.apply(task.id(), Command::Retry, you()).await.map(drop),
            TaskState::Incoming
            | TaskState::Breakdown { released: true }
            | TaskState::Claimed { .. }
            | TaskState::NeedsContinuation { .. }
            | TaskState::Blocked { .. }
            | TaskState::Landing(_)
            | TaskState::Recycled { .. }
            | TaskState::Done { .. }
            | TaskState::Cancelled { .. } => Ok(()),
        }
    }
}
