//! The result of one command on a task, before a version guards it.

use crate::ask::question_record::QuestionRecord;
use crate::records::effect::Effect;
use crate::records::event::Event;
use crate::task::Task;
use crate::task::attempt_record::AttemptRecord;

/// What a command does, as values. The store writes it in one transaction; the engine then performs the effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    pub task: Task,
    /// Tasks created by this transition.
    pub created: Vec<Task>,
    pub attempts: Vec<AttemptRecord>,
    pub questions: Vec<QuestionRecord>,
    pub events: Vec<Event>,
    pub effects: Vec<Effect>,
}
