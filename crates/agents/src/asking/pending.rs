//! The open questions of one attempt, while its agent waits for the answers.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::ask::question::QuestionDraft;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::asking::asker::{AskReply, Asker};

/// Open questions per attempt. Further ones are refused.
pub(crate) const ASKING_MAX: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AskId(u64);

pub(crate) struct PendingQuestions {
    wait: Duration,
    asking: JoinSet<(AskId, AskReply)>,
    waiting: BTreeMap<AskId, QuestionDraft>,
    asked: u64,
}

impl PendingQuestions {
    /// `wait` is how long each question stays open.
    pub(crate) fn new(wait: Duration) -> Self {
        Self { wait, asking: JoinSet::new(), waiting: BTreeMap::new(), asked: 0 }
    }

    /// None when too many questions are open.
    pub(crate) fn ask(&mut self, asker: &dyn Asker, question: QuestionDraft) -> Option<AskId> {
        if self.waiting.len() >= ASKING_MAX {
            return None;
        }
        self.asked += 1;
        let id = AskId(self.asked);
        let asking = asker.ask(question.clone());
        let wait = self.wait;
        self.asking.spawn(async move { (id, timeout(wait, asking).await.unwrap_or(AskReply::Released)) });
        self.waiting.insert(id, question);
        Some(id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The next answer; pends forever while no question is open. Cancel-safe.
    pub(crate) async fn next(&mut self) -> (AskId, QuestionDraft, AskReply) {
        loop {
            let (id, reply) = match self.asking.join_next().await {
                Some(Ok(answered)) => answered,
                // An asker panicked. Which one is not known, but its question is the one left when all others are answered.
                Some(Err(_)) if self.asking.is_empty() => match self.waiting.keys().next() {
                    Some(&id) => (id, AskReply::Released),
                    None => continue,
                },
                Some(Err(_)) => continue,
                None => std::future::pending().await,
            };
            if let Some(question) = self.waiting.remove(&id) {
                return (id, question, reply);
            }
        }
    }
}
