//! What a person says to a task's agent, and that the agent got it.

use crate::base::id::AttemptId;
use crate::base::text::NonBlank;
use crate::people::actor::Actor;
use crate::records::effect::Effect;
use crate::records::event::EventBody;
use crate::task::messages::TaskMessages;
use crate::transition::refusal::CommandRefusal;
use crate::transition::step::TransitionBuilder;

impl TransitionBuilder<'_> {
    /// I19: only a person steers an agent; Baton itself tells it what became of its surroundings.
    pub(super) fn add_message(&mut self, number: u32, text: NonBlank) -> Result<(), CommandRefusal> {
        if !self.context.actor.is_human() && self.context.actor != Actor::Baton {
            return Err(CommandRefusal::NotYours { task: self.before.id() });
        }
        self.task.ledger.messages = Some(TaskMessages::with(self.before.ledger.messages, number));
        let (session, task) = (self.before.spec.session_id.clone(), self.before.id());
        self.say(EventBody::MessagePosted { session, text, task: Some(task) });
        if let Some(live) = self.before.state.live_attempt() {
            self.effect(Effect::DeliverMessages { attempt: live.id });
        }
        Ok(())
    }

    pub(super) fn note_delivery(&mut self, attempt: AttemptId, number: u32) {
        if let Some(messages) = &mut self.task.ledger.messages {
            messages.deliver(number);
        }
        self.say(EventBody::MessagesDelivered { task: self.before.id(), attempt, up_to: number });
    }
}
