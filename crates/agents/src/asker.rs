//! The door to the human, while an agent waits.
//!
//! The engine puts a durable question store behind it. A driver only waits a short while: an agent is not
//! kept alive for an answer that may take a night.

use std::future::Future;
use std::pin::Pin;

use baton_core::ask::question::QuestionDraft;

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    Answer(String),
    /// Nobody answered yet. The question is kept; the attempt ends with it and is resumed with the answer.
    Released,
}

pub type Asking = Pin<Box<dyn Future<Output = Reply> + Send>>;

pub trait Asker: Send + Sync {
    /// Asks, and returns when there is an answer or none is to be waited for. A question that was answered
    /// before returns that answer at once.
    fn ask(&self, question: QuestionDraft) -> Asking;
}

/// Nobody is there now: every question ends the attempt.
pub struct Nobody;

impl Asker for Nobody {
    fn ask(&self, _: QuestionDraft) -> Asking {
        Box::pin(async { Reply::Released })
    }
}
