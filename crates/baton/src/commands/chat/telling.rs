//! What a person, or a program, hears of the work a message caused.

use baton_core::event::EventBody;
use baton_core::id::{QuestionId, SessionId, TaskId};
use baton_core::question_record::QuestionRecord;
use baton_core::state::Queue;
use baton_engine::StoredEvent;
use baton_engine::view::TaskView;
use serde_json::{Value, json};

use super::Sent;
use crate::commands::question::shown;
use crate::fault::{FAILED, Fault};
use crate::output;

/// One thing that happened to the work.
pub enum News {
    Progress(String),
    Asked { question: QuestionId },
    Answered { by: String },
    Over(End),
}

/// How the work ended, as far as this message goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    Done,
    /// It waits to be accepted.
    Provisional,
    Failed,
    Cancelled,
    Recycled,
}

impl News {
    /// None for what has nothing to do with the task, or says nothing a person waits for.
    pub fn of(recorded: &StoredEvent, of: TaskId, conversation: &SessionId) -> Option<Self> {
        let progress = |text: String| Some(Self::Progress(text));
        match &recorded.event.body {
            EventBody::TaskClaimed { task, agent, .. } if *task == of => {
                progress(format!("{agent} is at work."))
            }
            EventBody::StepStarted { session, step, .. } if session == conversation => {
                progress(format!("Step: {step}"))
            }
            EventBody::OutcomeRefused { session, step, error, .. } if session == conversation => {
                progress(format!("Step {step} is asked again: {error}"))
            }
            EventBody::RunExited { session, reason, .. } if session == conversation => {
                progress(reason.message())
            }
            EventBody::TaskRequeued { task, reason, .. } if *task == of => {
                progress(format!("It goes back to the queue and is tried again: {reason}."))
            }
            EventBody::TaskContinues { task, .. } if *task == of => {
                progress("The turns are used up; it goes on in another attempt.".to_owned())
            }
            EventBody::QuestionAsked { task: Some(task), question, .. } if *task == of => {
                Some(Self::Asked { question: question.id })
            }
            EventBody::QuestionAnswered { task: Some(task), answered_by, .. } if *task == of => {
                Some(Self::Answered { by: answered_by.to_string() })
            }
            EventBody::TaskDone { task, .. } if *task == of => Some(Self::Over(End::Done)),
            EventBody::TaskProvisional { task, .. } if *task == of => Some(Self::Over(End::Provisional)),
            EventBody::TaskFailed { task, .. } if *task == of => Some(Self::Over(End::Failed)),
            EventBody::TaskCancelled { task, .. } if *task == of => Some(Self::Over(End::Cancelled)),
            EventBody::TaskRecycled { task, .. } if *task == of => Some(Self::Over(End::Recycled)),
            _ => None,
        }
    }
}

/// Words for a person on standard error, and the result on standard output; or one JSON object on each line.
#[derive(Clone, Copy)]
pub struct Telling {
    pub is_json: bool,
}

impl Telling {
    pub fn sent(self, sent: &Sent) -> Result<(), Fault> {
        if self.is_json {
            return Self::line("sent", "message", &json!(sent));
        }
        output::talk(&format!("{} is in the queue ({}).", sent.task_id, sent.task_type));
        Ok(())
    }

    pub fn news(self, news: &News) -> Result<(), Fault> {
        let text = match news {
            News::Progress(text) => text.clone(),
            News::Answered { by } => format!("Answered by {by}; it goes on."),
            // These are told in full.
            News::Asked { .. } | News::Over(_) => return Ok(()),
        };
        if self.is_json {
            return Self::line("progress", "text", &json!(text));
        }
        output::talk(&text);
        Ok(())
    }

    pub fn question(self, record: &QuestionRecord) -> Result<(), Fault> {
        if self.is_json {
            return Self::line("question", "question", &json!(record));
        }
        output::talk(shown(record).trim_end());
        Ok(())
    }

    /// What is printed last. Work that came to nothing is an error, which says what to do.
    pub fn end(self, view: &TaskView, end: End) -> Result<String, Fault> {
        let id = view.summary.task_id;
        let said = view.output.as_deref().map(str::trim).filter(|output| !output.is_empty());
        if self.is_json {
            Self::line("ended", "task", &json!(view))?;
        } else if let Some(said) = said {
            output::line(said);
        }
        let failed = |what: &str, next: String| {
            Err(Fault { message: format!("{id} {what}"), hint: next, code: FAILED })
        };
        match end {
            End::Done => Ok(String::new()),
            // It was sent to a breakdown before anybody could look at it.
            End::Provisional if view.summary.queue == Queue::Recycled => {
                failed("was too large and is broken down", "see the plan: baton breakdown list".to_owned())
            }
            End::Provisional if view.summary.too_large.is_some() => {
                output::talk(&format!(
                    "There is too little to show for it. Look, then decide: baton task diff {id}, then baton recycle {id}, \
                     or baton accept --force {id}"
                ));
                Ok(String::new())
            }
            End::Provisional => {
                output::talk(&format!("It waits for you: baton task diff {id}, then baton accept {id}"));
                Ok(String::new())
            }
            End::Failed => {
                failed("failed", format!("see why: baton task log {id}; again: baton task retry {id}"))
            }
            End::Cancelled => failed("was cancelled", "send it again: baton chat TEXT".to_owned()),
            End::Recycled => {
                failed("was too large and is broken down", "see the plan: baton breakdown list".to_owned())
            }
        }
    }

    fn line(kind: &str, name: &str, value: &Value) -> Result<(), Fault> {
        output::line(output::json_line(&json!({ "kind": kind, name: value }))?.trim_end());
        Ok(())
    }
}
