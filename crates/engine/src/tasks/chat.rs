//! Chat messages with a key of the sender's own: sent again, they return the first answer and do nothing twice.

use crate::tasks::error::TaskError;
use baton_core::base::id::{AttachmentId, SessionId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::records::attachment::{AttachedFile, Attachment};
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::records::project::Project;
use baton_core::records::receipt::{DeliveredTo, Receipt, ReceiptKey, RequestedWork};
use baton_core::records::session::{Message, PostedMessage, TaskRequest};
use baton_store::model::commit::Conflict;
use baton_store::model::record_kind::RecordKind;

use crate::base::error::EngineError;
use crate::tasks::service::TaskService;

/// A message as it was sent.
#[derive(Debug, Clone)]
pub struct Posting {
    pub session: SessionId,
    pub text: NonBlank,
    /// What the sender asked for. A type that was left out is guessed from the words.
    pub wanted: RequestedWork,
    pub key: Option<ReceiptKey>,
    /// Files that came with it; the text names them.
    pub attachments: Vec<(AttachmentId, AttachedFile)>,
}

impl Posting {
    pub fn task_type(&self) -> TaskType {
        self.wanted.task_type.unwrap_or_else(|| TaskType::detect(self.text.as_str()))
    }

    /// The files, which are written together with the message.
    fn attached(&self, at: Timestamp) -> Change {
        self.attachments.iter().fold(Change::new(), |change, (id, file)| {
            let (session_id, file) = (self.session.clone(), file.clone());
            let attachment = Attachment { id: *id, session_id, file, at };
            change.put(Record::Attachment(Box::new(attachment)), WriteGuard::New)
        })
    }

    /// What is written with a message that went to an agent: its files, and with a key its receipt.
    pub(crate) fn receipt(&self, task: Option<TaskId>, to: &DeliveredTo, at: Timestamp) -> Change {
        let attached = self.attached(at);
        let Some(key) = &self.key else { return attached };
        let receipt = Receipt {
            key: key.clone(),
            session_id: self.session.clone(),
            message: None,
            task_id: task,
            wanted: self.wanted.clone(),
            delivered: Some(to.clone()),
            answer: None,
            at,
        };
        attached.put(Record::Receipt(receipt), WriteGuard::New)
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    pub session: SessionId,
    /// The new task, or the one whose agent got the message.
    pub task: Option<TaskId>,
    /// Who got the message; `None` where it became a task.
    pub delivered: Option<DeliveredTo>,
}

impl TaskService {
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
        let Posting { session, text, wanted, key, .. } = posting;
        let request = |task_id| TaskRequest {
            task_id,
            task_type: posting.task_type(),
            priority: Priority::default(),
            recipe: wanted.recipe.clone(),
        };
        let receipt = |posted: &PostedMessage| {
            let attached = posting.attached(posted.message.at);
            match key {
                Some(key) => {
                    attached.put(Record::Receipt(receipt_of(key, posted, wanted.clone())), WriteGuard::New)
                }
                None => attached,
            }
        };
        let posted = self.post_with(session.clone(), project, text.clone(), actor, request, receipt).await;
        match posted {
            Ok(posted) => {
                Ok(Taken { session: posted.session.id, task: Some(posted.task.id()), delivered: None })
            }
            // Somebody sent the same at the same time and was first.
            Err(error) if matches!(error.get(), Some(Conflict::Moved { kind: RecordKind::Receipt, .. })) => {
                Ok(self.taken_before(posting).await?.ok_or(TaskError::KeyReused)?)
            }
            Err(error) => Err(error),
        }
    }

    /// What came of an earlier message with the same key.
    pub(crate) async fn taken_before(&self, posting: &Posting) -> Result<Option<Taken>, EngineError> {
        let Some(key) = &posting.key else { return Ok(None) };
        let Some(receipt) = self.store.receipt(key).await? else { return Ok(None) };
        let number = receipt.message.unwrap_or_default();
        let messages = self.store.messages(&receipt.session_id, number.saturating_sub(1), 1).await?;
        let is_message = |message: &Message| message.number == number && message.text == posting.text;
        let is_text = match &receipt.delivered {
            Some(to) => to.text == posting.text,
            None => messages.first().is_some_and(is_message),
        };
        if is_text && receipt.session_id == posting.session && receipt.wanted == posting.wanted {
            Ok(Some(Taken {
                session: receipt.session_id,
                task: receipt.task_id,
                delivered: receipt.delivered,
            }))
        } else {
            Err(TaskError::KeyReused.into())
        }
    }
}

fn receipt_of(key: &ReceiptKey, posted: &PostedMessage, wanted: RequestedWork) -> Receipt {
    Receipt {
        key: key.clone(),
        session_id: posted.session.id.clone(),
        message: Some(posted.message.number),
        task_id: Some(posted.task.id()),
        wanted,
        delivered: None,
        answer: None,
        at: posted.message.at,
    }
}
