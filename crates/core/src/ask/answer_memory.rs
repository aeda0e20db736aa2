//! What a human has told a phase already, so that an agent which asks again is not asking them again.
//!
//! Its ask cycle owns it, and it ends with the cycle: nothing in it reaches the next phase.

use serde::{Deserialize, Serialize};

use crate::ask::answer_source::AnsweredBy;
use crate::ask::question::{Question, QuestionKind};
use crate::base::text::NonBlank;

/// Answers kept; the oldest gives way. An agent that asks again does so soon, mostly after a restart.
pub const REMEMBERED_MAX: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    text: NonBlank,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    options: Vec<NonBlank>,
    pub answer: NonBlank,
    pub answered_by: AnsweredBy,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AnswerMemory(Vec<Remembered>);

impl Remembered {
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
        self.0.push(Remembered::new(question, answer, answered_by));
    }

    pub fn recall(&self, question: &Question) -> Option<&Remembered> {
        let same = |known: &&Remembered| known.is_to(question);
        if is_information(question.kind()) { self.0.iter().rev().find(same) } else { None }
    }
}

/// Only information keeps. A decision holds for the moment it was made in: HELP asks the same again, a
/// declined gate is asked anew, a permission covers one use.
const fn is_information(kind: QuestionKind) -> bool {
    match kind {
        QuestionKind::Clarification => true,
        QuestionKind::Confirmation
        | QuestionKind::Gate
        | QuestionKind::Permission
        | QuestionKind::Danger
        | QuestionKind::Escalation => false,
    }
}
