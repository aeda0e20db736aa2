//! Prints what happens, from the same event log that every client reads.

use baton_core::people::actor::Actor;
use baton_core::records::event::EventBody;
use baton_engine::tasks::service::TaskService;

use crate::commands::narration::Narration;
use crate::error::CliError;
use crate::output;

pub(crate) struct Narrator {
    tasks: TaskService,
    is_headless: bool,
    seen: u64,
    narration: Narration,
    /// Who made the last decision.
    last_decider: Option<Actor>,
}

impl Narrator {
    pub(crate) fn new(tasks: TaskService, is_headless: bool) -> Self {
        Self { tasks, is_headless, seen: 0, narration: Narration::default(), last_decider: None }
    }

    /// Prints the events since the last call.
    pub(crate) async fn print_new(&mut self) -> Result<(), CliError> {
        loop {
            let events = self.tasks.events_after(self.seen).await?;
            let Some(last) = events.last() else { return Ok(()) };
            self.seen = last.seq;
            for recorded in &events {
                let is_of_person = matches!(recorded.event.by, Actor::Human { .. });
                if is_of_person && is_decision(&recorded.event.body) {
                    self.last_decider = Some(recorded.event.by.clone());
                }
                if let Some(line) = self.narration.line(&recorded.event.body) {
                    let tally = format!("[{}/{}] ", self.narration.done, self.narration.tasks());
                    output::line(&if self.is_headless { line } else { tally + &line });
                }
            }
        }
    }

    pub(crate) fn last_decider(&self) -> Option<&Actor> {
        self.last_decider.as_ref()
    }
}

/// Whether this event is a decision of a person or of the stand-in.
fn is_decision(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::QuestionAnswered { .. }
            | EventBody::TaskDone { .. }
            | EventBody::TaskLanding { .. }
            | EventBody::TaskRejected { .. }
            | EventBody::BreakdownReleased { .. }
            | EventBody::PlanApproved { .. }
            | EventBody::PlanRejected { .. }
    )
}
