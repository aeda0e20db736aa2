//! A person takes a task over from its agent, works in the same folder, and hands it back.

use crate::base::text::NonBlank;
use crate::people::actor::Actor;
use crate::records::effect::Effect;
use crate::records::event::EventBody;
use crate::task::attempt_record::AttemptClosing;
use crate::task::ledger::TakenOver;
use crate::task::state::TaskState;
use crate::transition::command::CommandName;
use crate::transition::refusal::CommandRefusal;
use crate::transition::step::TransitionBuilder;

impl TransitionBuilder<'_> {
    /// The task is held for the person, with the folder and the session of its last attempt. An agent at work is ended, by
    /// default when no tool of it runs.
    pub(super) fn take_over(&mut self, at_once: bool) -> Result<(), CommandRefusal> {
        let by = self.require_person()?;
        if self.before.is_breakdown() {
            return Err(self.wrong_state(CommandName::TakeOver));
        }
        let reason = NonBlank::or(&format!("taken over by {by}"), NonBlank::fixed("taken over"));
        self.withdraw_question(reason.clone());
        let since = self.task.updated_at;
        let attempt = match &self.before.state {
            TaskState::Claimed { attempt } => {
                self.close_attempt(attempt.clone(), AttemptClosing::Stopped { at: since });
                let attempt = attempt.id;
                self.effect(if at_once {
                    Effect::StopAgent { attempt }
                } else {
                    Effect::EndTurn { attempt }
                });
                Some(attempt)
            }
            TaskState::NeedsContinuation { after } => Some(*after),
            TaskState::AwaitingResponse { waiting } => waiting.after,
            TaskState::Blocked { waiting } => waiting.after,
            TaskState::Provisional(work) => work.attempt,
            TaskState::Incoming
            | TaskState::Held
            | TaskState::Breakdown { .. }
            | TaskState::Landing(_)
            | TaskState::Recycled { .. }
            | TaskState::Done { .. }
            | TaskState::Failed { .. }
            | TaskState::Cancelled { .. } => self.before.ledger.resumes,
        };
        self.task.ledger.resumes = attempt;
        self.hold_for(reason);
        self.task.ledger.taken = Some(TakenOver { by, since });
        Ok(())
    }

    /// The next attempt goes on where the person stopped, ahead of other work. If the person says that it is done, no agent
    /// starts in it: the work is measured and judged as it is.
    pub(super) fn hand_back(&mut self, is_done: bool) -> Result<(), CommandRefusal> {
        let by = self.require_person()?;
        if self.before.ledger.taken.is_none() {
            return Err(self.wrong_state(CommandName::HandBack));
        }
        self.task.ledger.submitted_by = is_done.then_some(by);
        self.task.state = TaskState::Incoming;
        self.task.ledger.held_because = None;
        self.task.ledger.taken = None;
        self.task.ledger.is_ahead = true;
        self.say(EventBody::TaskLetGo { task: self.task.id() });
        Ok(())
    }

    /// I19: only a person.
    fn require_person(&self) -> Result<Actor, CommandRefusal> {
        match &self.context.actor {
            person @ Actor::Human { .. } => Ok(person.clone()),
            Actor::Policy { .. } | Actor::Agent { .. } | Actor::Baton => {
                Err(CommandRefusal::NotYours { task: self.before.id() })
            }
        }
    }
}
