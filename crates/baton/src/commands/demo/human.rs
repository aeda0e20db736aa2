//! The person in the demo: answers the question, releases and approves the breakdown, accepts the work.

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
use baton_engine::place::AnyStore;

use super::story;
use super::telling::Telling;
use crate::fault::Fault;

const NAME: &str = "you";

pub struct Human<'a> {
    engine: &'a Engine<AnyStore>,
    acceptor: Acceptor<AnyStore>,
}

impl<'a> Human<'a> {
    pub fn new(engine: &'a Engine<AnyStore>) -> Self {
        Self { engine, acceptor: Acceptor::new(engine.shop.clone()) }
    }

    /// Plays until the project is complete.
    pub async fn play(&self, mut telling: Telling) -> Result<(), Fault> {
        let desk = &self.engine.shop.desk;
        let mut changes = desk.changes();
        loop {
            changes.mark_unchanged();
            telling.go_on().await?;
            let tasks = desk.project_tasks(story::project()).await?;
            for task in &tasks {
                match self.decide(task).await {
                    // The task moved on while it was looked at; the next look sees it as it is.
                    Ok(()) | Err(EngineError::Refused(_) | EngineError::Approval(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            let tasks = desk.project_tasks(story::project()).await?;
            let standings: Vec<_> = tasks.iter().map(|task| (task.id(), task.standing())).collect();
            if is_complete(standings.iter().map(|(id, standing)| (*id, standing))) {
                return telling.go_on().await;
            }
            if changes.changed().await.is_err() {
                return Ok(());
            }
        }
    }

    async fn decide(&self, task: &Task) -> Result<(), EngineError> {
        let desk = &self.engine.shop.desk;
        let you = || Actor::human(NAME);
        match task.state() {
            TaskState::AwaitingResponse { waiting } => {
                let options = &waiting.question.draft.options;
                // What could not be finished is tried again; anything else gets the first answer on offer.
                let again = options.iter().find(|option| option.as_str() == "RETRY");
                let chosen = again.or(options.first()).cloned();
                let answer = chosen.or_else(|| NonBlank::new("Go on as you think best.").ok());
                let Some(answer) = answer else { return Ok(()) };
                desk.answer(waiting.question.id, answer, AnsweredBy::human(NAME), you()).await.map(drop)
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
