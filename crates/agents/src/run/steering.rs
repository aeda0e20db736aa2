//! Messages of people to an agent in the middle of its work.
//!
//! They wait until the turn can be cut short without harm, or is over. An agent whose protocol has no way to take them gets
//! them with its next prompt.

use crate::driver::AgentEvent;
use crate::run::conversation::Conversation;

impl Conversation {
    /// Whether the turn may be cut short for a message: no tool is in the middle of its work, and nobody is being asked.
    pub(crate) fn is_at_boundary(&self) -> bool {
        self.record.is_prompted && !self.is_ending() && !self.is_waiting() && !self.record.has_open_call()
    }

    /// The messages that wait, as one text, which is sent to the agent now.
    pub(crate) fn take_messages(&mut self) -> Option<String> {
        if self.messages.is_empty() || self.is_ending() {
            return None;
        }
        self.end_message();
        let texts = std::mem::take(&mut self.messages);
        self.record.messages_delivered += texts.len();
        for text in &texts {
            self.output.log_note(&format!("a message is delivered: {text}"));
        }
        self.output.events.push(AgentEvent::MessagesDelivered(self.record.messages_delivered));
        Some(texts.join("\n\n"))
    }
}
