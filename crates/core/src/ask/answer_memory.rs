//! The answers a human gave in this cycle, so that an agent that asks again gets the same answer without asking them.
//!
//! The memory belongs to its ask cycle and ends with it: nothing reaches the next phase.

use serde::{Deserialize, Serialize};

use crate::ask::answer_source::AnsweredBy;
use crate::ask::question::{Question, QuestionKind};
use crate::base::text::NonBlank;

/// Answers kept; the oldest is dropped. An agent that asks again does so soon, mostly after a restart.
pub const REMEMBERED_MAX: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedAnswer {
    text: NonBlank,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    options: Vec<NonBlank>,
    pub answer: NonBlank,
    pub answered_by: AnsweredBy,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AnswerMemory(Vec<RememberedAnswer>);

impl RememberedAnswer {
    pub fn new(question: &Question, answer: &NonBlank, answered_by: &AnsweredBy) -> Self {
        Self {
            text: question.text().clone(),
            options: question.draft.options.clone(),
            answer: answer.clone(),
            answered_by: answered_by.clone(),
        }
    }

    pub fn is_to(&self, question: &Question) -> bool {
        self.text == *question.text() && self.options == question.draft.options
    }
}

impl AnswerMemory {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn keep(&mut self, question: &Question, answer: &NonBlank, answered_by: &AnsweredBy) {
        if !is_information(question.kind()) {
            return;
        }
        if self.0.len() >= REMEMBERED_MAX {
            self.0.remove(0);
        }
        self.0.push(RememberedAnswer::new(question, answer, answered_by));
    }

    pub fn recall(&self, question: &Question) -> Option<&RememberedAnswer> {
        let same = |known: &&RememberedAnswer| known.is_to(question);
        if is_information(question.kind()) { self.0.iter().rev().find(same) } else { None }
    }
}

/// Only information is reusable. A decision applies to the moment it was made: HELP asks the same again, a declined
/// gate is asked again, a permission covers one use.
const fn is_information(kind: QuestionKind) -> bool {
    match kind {
        QuestionKind::Clarification => true,
        QuestionKind::Confirmation
        | QuestionKind::Gate
        | QuestionKind::Permission
        | QuestionKind::Danger
        | QuestionKind::Escalation
        | QuestionKind::Completion => false,
    }
}
