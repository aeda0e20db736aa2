//! The text of a notice: complete enough to act on.

use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::EffectId;
use baton_core::base::text::NonBlank;
use baton_core::recipe::run::RunState;
use baton_core::records::effect::Notification;
use baton_core::task::Task;
use baton_core::task::state::TaskState;
use serde::Serialize;
use serde_json::{Value, json};

use crate::base::error::EngineError;
use crate::tasks::service::TaskService;

/// A notice without its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NoticeText {
    /// question, `task_failed` or `run_exited`.
    pub kind: &'static str,
    /// For people.
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

impl NoticeText {
    /// None if its subject no longer exists.
    pub async fn of(tasks: &TaskService, about: &Notification) -> Result<Option<Self>, EngineError> {
        Ok(match about {
            Notification::Question(id) => match tasks.store.question(*id).await? {
                Some(stored) => {
                    let of = match stored.value.task_id {
                        Some(task) => tasks.store.task(task).await?.map(|stored| stored.value),
                        None => None,
                    };
                    Some(question(&stored.value, of.as_ref()))
                }
                None => None,
            },
            Notification::Failed(id) => tasks.store.task(*id).await?.map(|stored| {
                let spec = stored.value.spec();
                let why = match stored.value.state() {
                    TaskState::Failed { error, .. } => error.to_string(),
                    _ => format!("It is now in {}.", stored.value.state().queue().as_str()),
                };
                Self {
                    session_id: Some(spec.session_id.to_string()),
                    task_id: Some(spec.id.to_string()),
                    ..Self::new(
                        "task_failed",
                        format!(
                            "{} failed: {}\n\n{why}\n\nTry again: baton task retry {}",
                            spec.id, spec.title, spec.id
                        ),
                    )
                }
            }),
            Notification::RunExited(id) => tasks.store.run(*id).await?.map(|stored| {
                let run = stored.value;
                let how = match run.state() {
                    RunState::Exited { reason } => reason.message(),
                    RunState::Working | RunState::AtGate { .. } | RunState::Leaving { .. } => {
                        "It is still running.".to_owned()
                    }
                };
                let how = match run.summary() {
                    Some(summary) => format!(
                        "{how}\n\n{summary}\n\nNew session: baton loop --session {session}. View results: baton task list. \
                         Edit tasks: baton task add",
                        session = run.session()
                    ),
                    None => how,
                };
                Self {
                    session_id: Some(run.session().to_string()),
                    task_id: run.task().map(|task| task.to_string()),
                    run_id: Some(run.id().to_string()),
                    ..Self::new("run_exited", format!("The recipe {} ended. {how}", run.recipe()))
                }
            }),
        })
    }

    fn new(kind: &'static str, text: String) -> Self {
        Self {
            kind,
            text,
            session_id: None,
            task_id: None,
            question_id: None,
            run_id: None,
            options: Vec::new(),
        }
    }

    /// One JSON object with the id, by which receivers drop duplicates.
    pub fn json(&self, id: EffectId) -> String {
        let mut object = json!(self);
        if let Value::Object(fields) = &mut object {
            fields.insert("id".to_owned(), json!(id.to_string()));
        }
        object.to_string()
    }
}

fn question(record: &QuestionRecord, of: Option<&Task>) -> NoticeText {
    let asked = &record.question;
    let about = of.map(|task| format!("\n\nTask {}: {}", task.id(), task.spec().title)).unwrap_or_default();
    let next = match &record.state {
        QuestionState::Pending => format!("Answer: baton answer {} TEXT", asked.id),
        QuestionState::Answered { answer, answered_by, .. } => {
            format!("Answered by {answered_by}: {answer}")
        }
        QuestionState::Withdrawn { reason, .. } => format!("No longer needs an answer: {reason}"),
    };
    NoticeText {
        session_id: Some(record.session_id.to_string()),
        task_id: record.task_id.map(|task| task.to_string()),
        question_id: Some(asked.id.to_string()),
        options: asked.draft.options.iter().map(NonBlank::to_string).collect(),
        ..NoticeText::new("question", format!("{}{about}\n\n{next}", asked.text()))
    }
}
