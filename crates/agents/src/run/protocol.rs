//! The protocol of one kind of agent: its lines in, Baton's lines out. No protocol touches a process, a pipe or a clock.

use crate::asking::asker::AskReply;
use crate::asking::pending::AskId;
use crate::run::conversation::Conversation;

pub(crate) trait Protocol: Send {
    /// Sends the first message.
    fn begin(&mut self, conversation: &mut Conversation);

    /// Handles one line of the agent.
    fn handle_line(&mut self, line: &str, conversation: &mut Conversation);

    /// Handles the beginning of a line that is too long.
    fn handle_oversized_line(&mut self, beginning: &str, conversation: &mut Conversation);

    /// Delivers the answer to a question that this protocol asked.
    fn deliver_answer(&mut self, ask: AskId, reply: AskReply, conversation: &mut Conversation);

    /// Makes way for the messages that wait in the conversation, if the agent can be reached now. One that cannot be reached
    /// during its turn leaves them there.
    fn steer(&mut self, conversation: &mut Conversation);

    /// Asks the agent to end its turn; finishes the conversation if it cannot be asked.
    fn cancel(&mut self, conversation: &mut Conversation);
}
