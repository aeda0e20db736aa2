//! The questions of one attempt that wait for a human while their agent waits too.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::ask::question::QuestionDraft;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::asker::{Asker, Reply};

/// Questions that wait at once. An agent that asks more is refused.
pub const ASKING_MAX: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskId(u64);

pub struct Questions {
    wait: Duration,
    asking: JoinSet<(AskId, Reply)>,
    waiting: BTreeMap<AskId, QuestionDraft>,
    asked: u64,
}

impl Questions {
    /// Each is waited for this long.
    pub fn new(wait: Duration) -> Self {
        Self { wait, asking: JoinSet::new(), waiting: BTreeMap::new(), asked: 0 }
    }

    /// None when too many wait already.
    pub fn ask(&mut self, asker: &dyn Asker, question: QuestionDraft) -> Option<AskId> {
        if self.waiting.len() >= ASKING_MAX {
            return None;
        }
        self.asked += 1;
        let id = AskId(self.asked);
        let asking = asker.ask(question.clone());
        let wait = self.wait;
        self.asking.spawn(async move { (id, timeout(wait, asking).await.unwrap_or(Reply::Released)) });
        self.waiting.insert(id, question);
        Some(id)
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The next answer; never returns while nobody is asked. Safe to drop half-way.
    pub async fn next(&mut self) -> (AskId, QuestionDraft, Reply) {
        loop {
            let (id, reply) = match self.asking.join_next().await {
                Some(Ok(answered)) => answered,
                // An asker broke down. Its question still stands: it is the one that is left when the others are done.
                Some(Err(_)) if self.asking.is_empty() => match self.waiting.keys().next() {
                    Some(&id) => (id, Reply::Released),
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
