//! How one kind of agent speaks: its lines in, ours out. No tongue touches a process, a pipe or a clock.

use crate::asking::asker::Reply;
use crate::asking::pending::AskId;
use crate::run::conversation::Conversation;

pub trait Tongue: Send {
    /// Our first words.
    fn begin(&mut self, talk: &mut Conversation);

    /// One whole line of the agent's.
    fn line(&mut self, line: &str, talk: &mut Conversation);

    /// A line that is too long to be kept.
    fn too_long(&mut self, beginning: &str, talk: &mut Conversation);

    /// What came of a question that this tongue had asked.
    fn answered(&mut self, ask: AskId, reply: Reply, talk: &mut Conversation);

    /// Asks the agent to end its turn. Where there is no way to, the turn is declared over.
    fn cancel(&mut self, talk: &mut Conversation);
}
