//! An inquiry: the way of an agent's driver to the human while its agent waits.
//!
//! Permissions and forms come through the same door and into the same inbox as every other question of the attempt,
//! durable before anybody hears of them. The driver waits for a short while and then lets its agent go; the question
//! stays.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use baton_agents::asking::asker::{AskFuture, AskReply, Asker};
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::text::NonBlank;
use tokio::sync::Mutex;

use crate::asking::{AgentGateway, Asked, Waited};
use crate::attempt::mailbox::Mailbox;
use crate::base::attempt_secret::AttemptSecret;
use crate::base::error::EngineError;
use crate::base::redaction;

/// Longer than any driver waits: it is the driver who decides when its agent has waited long enough.
const PATIENCE: Duration = Duration::from_hours(24);

pub(crate) struct QuestionRelay(Arc<RelayState>);

struct RelayState {
    gateway: AgentGateway,
    mailbox: Mailbox,
    secret: AttemptSecret,
    /// I6: one question at a time, the others wait for their turn. Inside, the consents that were used: a permission
    /// covers one use.
    turn: Mutex<BTreeSet<NonBlank>>,
}

impl QuestionRelay {
    pub(crate) fn new(gateway: AgentGateway, mailbox: Mailbox, secret: AttemptSecret) -> Self {
        Self(Arc::new(RelayState { gateway, mailbox, secret, turn: Mutex::default() }))
    }
}

impl Asker for QuestionRelay {
    fn ask(&self, question: QuestionDraft) -> AskFuture {
        let inner = self.0.clone();
        // What the store could not do is in the attempt's end: the question is asked again then.
        Box::pin(async move {
            inner.ask(redaction::redact_question(question)).await.unwrap_or(AskReply::Released)
        })
    }
}

impl RelayState {
    async fn ask(&self, draft: QuestionDraft) -> Result<AskReply, EngineError> {
        let mut used = self.turn.lock().await;
        let asked = if used.contains(&draft.text) {
            Asked::Pending { question: self.gateway.ask_anew(&self.secret, draft.clone()).await? }
        } else {
            self.gateway.ask(&self.secret, draft.clone()).await?
        };
        let question = match asked {
            Asked::Known { answer, .. } => {
                if draft.kind == QuestionKind::Permission {
                    used.insert(draft.text);
                }
                return Ok(AskReply::Answer(answer.to_string()));
            }
            Asked::Pending { question } => question,
        };
        // Should the agent be let go before the answer comes, this is where it left off.
        self.mailbox.put_left_at(self.secret.attempt(), Some(draft));
        match self.gateway.answer_within(question, PATIENCE).await? {
            Waited::Answered { answer, .. } => {
                self.mailbox.put_left_at(self.secret.attempt(), None);
                Ok(AskReply::Answer(answer.to_string()))
            }
            Waited::Withdrawn { .. } | Waited::Later => Ok(AskReply::Released),
        }
    }
}
