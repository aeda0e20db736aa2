//! The person in the demo: answers the question, releases and approves the breakdown, accepts the work. Where a real
//! person follows on the pages, it waits for them first, and steps in only where nobody does anything.

use baton_core::transition::approval::ApprovalRefusal;
use baton_core::transition::refusal::Refusal;
use baton_engine::tasks::error::TaskError;
use std::time::Duration;

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::records::project::is_complete;
use baton_core::task::Task;
use baton_core::task::state::{Mark, TaskState};
use baton_core::transition::command::Command;
use baton_engine::base::error::EngineError;
use baton_engine::landing::acceptor::Acceptor;
use baton_engine::services::engine::Engine;

use super::pace::Pace;
use super::story;
use super::telling::Telling;
use crate::fault::Fault;

/// However still it is, the tasks are looked at this often.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

pub struct Human<'a> {
    engine: &'a Engine,
    acceptor: Acceptor,
    /// By which name it decides.
    name: &'static str,
    pace: Pace,
}

impl<'a> Human<'a> {
    pub fn new(engine: &'a Engine, name: &'static str, pace: Pace) -> Self {
        Self { engine, acceptor: Acceptor::new(engine.shop.clone()), name, pace }
    }

    /// Plays until the project is complete.
    pub async fn play(&self, telling: &mut Telling) -> Result<(), Fault> {
        let tasks = &self.engine.shop.tasks;
        let mut changes = tasks.changes();
        loop {
            changes.mark_unchanged();
            telling.go_on().await?;
            let open = tasks.project_tasks(story::project()).await?;
            let next_due = self.decide_what_is_due(&open, self.patience(telling)).await?;
            let open = tasks.project_tasks(story::project()).await?;
            let standings: Vec<_> = open.iter().map(|task| (task.id(), task.standing())).collect();
            if is_complete(standings.iter().map(|(id, standing)| (*id, standing))) {
                return telling.go_on().await;
            }
            tokio::select! {
                news = changes.changed() => if news.is_err() { return Ok(()) },
                () = tokio::time::sleep(next_due) => {}
            }
        }
    }

    /// How long a decision waits for somebody else: not long, once it was ours that came last.
    fn patience(&self, telling: &Telling) -> Duration {
        let was_ours = telling.last_decider().is_some_and(|by| *by == Actor::human(self.name));
        if was_ours { self.pace.patience_alone } else { self.pace.patience }
    }

    /// Decides what has waited long enough; returns when to look again.
    async fn decide_what_is_due(&self, tasks: &[Task], patience: Duration) -> Result<Duration, Fault> {
        let now = self.engine.shop.tasks.store.now().await.map_err(EngineError::from)?;
        let mut next_due = LOOK_AGAIN;
        for task in tasks {
            let waited = u64::try_from(now.ms_since(task.updated_at())).unwrap_or_default();
            let left = patience.saturating_sub(Duration::from_millis(waited));
            if !left.is_zero() {
                next_due = next_due.min(left);
                continue;
            }
            match self.decide(task).await {
                // The task moved on while it was looked at; the next look sees it as it is.
                Ok(()) => {}
                Err(error)
                    if error.is::<Refusal>() || error.is::<ApprovalRefusal>() || error.is::<TaskError>() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(next_due)
    }

    async fn decide(&self, task: &Task) -> Result<(), EngineError> {
        let tasks = &self.engine.shop.tasks;
        let you = || Actor::human(self.name);
        match task.state() {
            TaskState::AwaitingResponse { waiting } => {
                let options = &waiting.question.draft.options;
                // What could not be finished is tried again; anything else gets the first answer on offer.
                let again = options.iter().find(|option| option.as_str() == "RETRY");
                let chosen = again.or(options.first()).cloned();
                let answer = chosen.or_else(|| NonBlank::new("Go on as you think best.").ok());
                let Some(answer) = answer else { return Ok(()) };
                tasks.answer(waiting.question.id, answer, AnsweredBy::human(self.name), you()).await.map(drop)
            }
            TaskState::Breakdown { released: false } => {
                tasks.apply(task.id(), Command::Release, you()).await.map(drop)
            }
            TaskState::Provisional(work) if work.mark == Mark::Plan => {
                tasks.approve(task.id(), you()).await.map(drop)
            }
            // The recycler sees to these.
            TaskState::Provisional(work) if work.mark.is_too_large() => Ok(()),
            TaskState::Provisional(_) => self.acceptor.accept(task.id(), false, you()).await.map(drop),
            TaskState::Failed { .. } => tasks.apply(task.id(), Command::Retry, you()).await.map(drop),
            TaskState::Incoming
            | TaskState::Breakdown { released: true }
            | TaskState::Claimed { .. }
            | TaskState::NeedsContinuation { .. }
            | TaskState::Blocked { .. }
            | TaskState::Recycled { .. }
            | TaskState::Done { .. }
            | TaskState::Cancelled { .. } => Ok(()),
        }
    }
}
