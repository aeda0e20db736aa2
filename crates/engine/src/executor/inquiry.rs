//! An inquiry: the way of an agent's driver to the human while its agent waits.
//!
//! Permissions and forms come through the same door and into the same inbox as every other question of the attempt,
//! durable before anybody hears of them. The driver waits for a short while and then lets its agent go; the question
//! stays.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use baton_agents::asker::{Asker, Asking, Reply};
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::text::NonBlank;
use baton_store::Store;
use tokio::sync::Mutex;

use crate::asking::{Asked, Door, Secret, Waited};
use crate::error::EngineError;
use crate::mailbox::Mailbox;
use crate::redaction;

/// Longer than any driver waits: it is the driver who decides when its agent has waited long enough.
const PATIENCE: Duration = Duration::from_hours(24);

pub struct Inquiry<S>(Arc<Inner<S>>);

struct Inner<S> {
    door: Door<S>,
    mailbox: Mailbox,
    secret: Secret,
    /// I6: one question at a time, the others wait for their turn. Inside, the consents that were used: a permission
    /// covers one use.
    turn: Mutex<BTreeSet<NonBlank>>,
}

impl<S: Store> Inquiry<S> {
    pub fn new(door: Door<S>, mailbox: Mailbox, secret: Secret) -> Self {
        Self(Arc::new(Inner { door, mailbox, secret, turn: Mutex::default() }))
    }
}

impl<S: Store> Asker for Inquiry<S> {
    fn ask(&self, question: QuestionDraft) -> Asking {
        let inner = self.0.clone();
        // What the store could not do is in the attempt's end: the question is asked again then.
        Box::pin(async move { inner.ask(redaction::question(question)).await.unwrap_or(Reply::Released) })
    }
}

impl<S: Store> Inner<S> {
    async fn ask(&self, draft: QuestionDraft) -> Result<Reply, EngineError> {
        let mut used = self.turn.lock().await;
        let asked = if used.contains(&draft.text) {
            Asked::Pending { question: self.door.ask_anew(&self.secret, draft.clone()).await? }
        } else {
            self.door.ask(&self.secret, draft.clone()).await?
        };
        let question = match asked {
            Asked::Known { answer, .. } => {
                if draft.kind == QuestionKind::Permission {
                    used.insert(draft.text);
                }
                return Ok(Reply::Answer(answer.to_string()));
            }
            Asked::Pending { question } => question,
        };
        // Should the agent be let go before the answer comes, this is where it left off.
        self.mailbox.put_left_at(self.secret.attempt(), Some(draft));
        match self.door.answer_within(question, PATIENCE).await? {
            Waited::Answered { answer, .. } => {
                self.mailbox.put_left_at(self.secret.attempt(), None);
                Ok(Reply::Answer(answer.to_string()))
            }
            Waited::Withdrawn { .. } | Waited::Later => Ok(Reply::Released),
        }
    }
}
