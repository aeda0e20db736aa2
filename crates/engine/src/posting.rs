//! Chat messages with a key of the sender's own: sent again, they return the first answer and do nothing twice.

use baton_core::actor::Actor;
use baton_core::change::{Change, Guard, Record};
use baton_core::id::{SessionId, TaskId};
use baton_core::priority::Priority;
use baton_core::project::Project;
use baton_core::receipt::{Receipt, ReceiptKey, Wanted};
use baton_core::session::{Message, Posted, Request};
use baton_core::task_type::TaskType;
use baton_core::text::NonBlank;
use baton_store::model::commit::Conflict;
use baton_store::model::record_kind::RecordKind;

use crate::desk::Desk;
use crate::error::EngineError;

/// A message as it was sent.
#[derive(Debug, Clone)]
pub struct Posting {
    pub session: SessionId,
    pub text: NonBlank,
    /// What the sender asked for. A type that was left out is guessed from the words.
    pub wanted: Wanted,
    pub key: Option<ReceiptKey>,
}

impl Posting {
    pub fn task_type(&self) -> TaskType {
        self.wanted.task_type.unwrap_or_else(|| TaskType::detect(self.text.as_str()))
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    pub session: SessionId,
    pub task: TaskId,
}

impl Desk {
    /// Takes a message in, once for each key.
    pub async fn take_in(
        &self,
        project: Option<&Project>,
        posting: &Posting,
        actor: Actor,
    ) -> Result<Taken, EngineError> {
        if let Some(taken) = self.taken_before(posting).await? {
            return Ok(taken);
        }
        let Posting { session, text, wanted, key } = posting;
        let request = |task_id| Request {
            task_id,
            task_type: posting.task_type(),
            priority: Priority::default(),
            recipe: wanted.recipe.clone(),
        };
        let receipt = |posted: &Posted| match key {
            Some(key) => {
                Change::new().put(Record::Receipt(receipt_of(key, posted, wanted.clone())), Guard::New)
            }
            None => Change::new(),
        };
        let posted = self.post_with(session.clone(), project, text.clone(), actor, request, receipt).await;
        match posted {
            Ok(posted) => Ok(Taken { session: posted.session.id, task: posted.task.id() }),
            // Somebody sent the same at the same time and was first.
            Err(EngineError::Dependency(Conflict::Moved { kind: RecordKind::Receipt, .. })) => {
                self.taken_before(posting).await?.ok_or(EngineError::KeyReused)
            }
            Err(error) => Err(error),
        }
    }

    async fn taken_before(&self, posting: &Posting) -> Result<Option<Taken>, EngineError> {
        let Some(key) = &posting.key else { return Ok(None) };
        let Some(receipt) = self.store.receipt(key).await? else { return Ok(None) };
        let number = receipt.message.unwrap_or_default();
        let messages = self.store.messages(&receipt.session_id, number.saturating_sub(1), 1).await?;
        let is_same = |message: &Message| {
            message.number == number
                && message.text == posting.text
                && receipt.session_id == posting.session
                && receipt.wanted == posting.wanted
        };
        if messages.first().is_some_and(is_same) {
            Ok(Some(Taken { session: receipt.session_id, task: receipt.task_id }))
        } else {
            Err(EngineError::KeyReused)
        }
    }
}

fn receipt_of(key: &ReceiptKey, posted: &Posted, wanted: Wanted) -> Receipt {
    Receipt {
        key: key.clone(),
        session_id: posted.session.id.clone(),
        message: Some(posted.message.number),
        task_id: posted.task.id(),
        wanted,
        at: posted.message.at,
    }
}
