//! The person in the demo: answers the question, releases and approves the breakdown, accepts the work. Where a real
//! person follows on the pages, it waits for them first, and steps in only where nobody does anything.

use std::time::Duration;

use baton_core::actor::Actor;
use baton_core::answer_source::AnsweredBy;
use baton_core::command::Command;
use baton_core::project::is_complete;
use baton_core::state::{Mark, TaskState};
use baton_core::task::Task;
use baton_core::text::NonBlank;
use baton_engine::acceptor::Acceptor;
use baton_engine::engine::Engine;
use baton_engine::error::EngineError;

use crate::commands::demo::narrator::Narrator;
use crate::commands::demo::pace::DemoPace;
use crate::commands::demo::story;
use crate::error::CliError;

/// However still it is, the tasks are looked at this often.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

pub struct StandIn<'a> {
    engine: &'a Engine,
    acceptor: Acceptor,
    /// By which name it decides.
    name: &'static str,
    pace: DemoPace,
}

impl<'a> StandIn<'a> {
    pub fn new(engine: &'a Engine, name: &'static str, pace: DemoPace) -> Self {
        Self { engine, acceptor: Acceptor::new(engine.shop.clone()), name, pace }
    }

    /// Plays until the project is complete.
    pub async fn play(&self, telling: &mut Narrator) -> Result<(), CliError> {
        let desk = &self.engine.shop.desk;
        let mut changes = desk.changes();
        loop {
            changes.mark_unchanged();
            telling.go_on().await?;
            let tasks = desk.project_tasks(story::project()).await?;
            let next_due = self.decide_what_is_due(&tasks, self.patience(telling)).await?;
            let tasks = desk.project_tasks(story::project()).await?;
            let standings: Vec<_> = tasks.iter().map(|task| (task.id(), task.standing())).collect();
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
    fn patience(&self, telling: &Narrator) -> Duration {
        let was_ours = telling.last_decider().is_some_and(|by| *by == Actor::human(self.name));
        if was_ours { self.pace.patience_alone } else { self.pace.patience }
    }

    /// Decides what has waited long enough; returns when to look again.
    async fn decide_what_is_due(&self, tasks: &[Task], patience: Duration) -> Result<Duration, CliError> {
        let now = self.engine.shop.desk.store.now().await.map_err(EngineError::from)?;
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
                Ok(())
                | Err(
                    EngineError::Refused(_) | EngineError::Approval(_) | EngineError::AlreadyAnswered { .. },
                ) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(next_due)
    }

    async fn decide(&self, task: &Task) -> Result<(), EngineError> {
        let desk = &self.engine.shop.desk;
        let you = || Actor::human(self.name);
        match task.state() {
            TaskState::AwaitingResponse { waiting } => {
                let options = &waiting.question.draft.options;
                // What could not be finished is tried again; anything else gets the first answer on offer.
                let again = options.iter().find(|option| option.as_str() == "RETRY");
                let chosen = again.or(options.first()).cloned();
                let answer = chosen.or_else(|| NonBlank::new("Go on as you think best.").ok());
                let Some(answer) = answer else { return Ok(()) };
                desk.answer(waiting.question.id, answer, AnsweredBy::human(self.name), you()).await.map(drop)
            }
            TaskState::Breakdown { released: false } => {
                desk.apply(task.id(), Command::Release, you()).await.map(drop)
            }
            TaskState::Provisional(work) if work.mark == Mark::Plan => {
                desk.approve(task.id(), you()).await.map(drop)
            }
            // The recycler sees to these.
            TaskState::Provisional(work) if work.mark.is_too_large() => Ok(()),
            TaskState::Provisional(_) => self.acceptor.accept(task.id(), false, you()).await.map(drop),
            TaskState::Failed { .. } => desk.apply(task.id(), Command::Retry, you()).await.map(drop),
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
