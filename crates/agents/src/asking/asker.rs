//! Puts a question to a human while an agent waits for the answer.
//!
//! The engine implements [`Asker`] on its durable question store. A driver waits only briefly: an agent is not kept
//! alive for an answer that may take all night.

use std::future::Future;
use std::pin::Pin;

use baton_core::ask::question::QuestionDraft;

/// The result of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskReply {
    Answer(String),
    /// No answer yet. The question stays open; the attempt ends with it and resumes when it is answered.
    Released,
}

pub type AskFuture = Pin<Box<dyn Future<Output = AskReply> + Send>>;

pub trait Asker: Send + Sync {
    /// Resolves when there is an answer, or when waiting for one is over. A question that was answered before resolves at
    /// once.
    fn ask(&self, question: QuestionDraft) -> AskFuture;
}

/// No human is available: every question ends the attempt.
pub struct NoAsker;

impl Asker for NoAsker {
    fn ask(&self, _: QuestionDraft) -> AskFuture {
        Box::pin(async { AskReply::Released })
    }
}
