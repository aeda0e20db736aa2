//! Reports the progress of the work that a message started.

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::{QuestionId, SessionId, TaskId};
use baton_core::base::words::pluralize;
use baton_core::records::event::EventBody;
use baton_core::task::state::{AcceptedBy, QueueName, TaskState};
use baton_engine::StoredEvent;
use baton_engine::reports::view::TaskView;
use serde_json::{Value, json};

use crate::commands::chat::ChatResponse;
use crate::commands::question::render_question;
use crate::error::CliError;
use crate::output;

/// One thing that happened to the task.
pub(crate) enum ChatUpdate {
    Progress(String),
    /// To an agent, which may still be unable to start.
    Given {
        agent: String,
    },
    /// The agent it was given to runs.
    Started,
    Asked {
        question: QuestionId,
    },
    Answered {
        by: String,
    },
    Over(ChatEnd),
}

/// How the work on this message ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChatEnd {
    Done,
    /// Waits for acceptance.
    Provisional,
    Failed,
    Cancelled,
    Recycled,
}

impl ChatUpdate {
    /// None for events of other tasks, and for those not worth reporting.
    pub(crate) fn new(recorded: &StoredEvent, followed: TaskId, conversation: &SessionId) -> Option<Self> {
        let progress = |text: String| Some(Self::Progress(text));
        match &recorded.event.body {
            EventBody::TaskClaimed { task, agent, .. } if *task == followed => {
                Some(Self::Given { agent: agent.to_string() })
            }
            EventBody::AgentStarted { task, .. } if *task == followed => Some(Self::Started),
            EventBody::StepStarted { session, step, .. } if session == conversation => {
                progress(format!("Step: {step}"))
            }
            EventBody::OutcomeRefused { session, step, error, .. } if session == conversation => {
                progress(format!("Retrying step {step}: {error}"))
            }
            EventBody::RunExited { session, reason, .. } if session == conversation => {
                progress(reason.message())
            }
            EventBody::TaskRequeued { task, reason, .. } if *task == followed => {
                progress(format!("Requeued: {reason}."))
            }
            EventBody::TaskContinues { task, .. } if *task == followed => {
                progress("All turns used; continuing in another attempt.".to_owned())
            }
            EventBody::QuestionAsked { task: Some(task), question, .. } if *task == followed => {
                Some(Self::Asked { question: question.id })
            }
            EventBody::QuestionAnswered { task: Some(task), answered_by, .. } if *task == followed => {
                Some(Self::Answered { by: answered_by.to_string() })
            }
            EventBody::TaskDone { task, .. } if *task == followed => Some(Self::Over(ChatEnd::Done)),
            EventBody::TaskProvisional { task, .. } if *task == followed => {
                Some(Self::Over(ChatEnd::Provisional))
            }
            EventBody::TaskFailed { task, .. } if *task == followed => Some(Self::Over(ChatEnd::Failed)),
            EventBody::TaskCancelled { task, .. } if *task == followed => {
                Some(Self::Over(ChatEnd::Cancelled))
            }
            EventBody::TaskRecycled { task, .. } if *task == followed => Some(Self::Over(ChatEnd::Recycled)),
            _ => None,
        }
    }
}

/// Progress on standard error and the result on standard output; or one JSON object per line.
#[derive(Clone, Copy)]
pub(crate) struct ChatReporter {
    pub(crate) is_json: bool,
}

impl ChatReporter {
    pub(crate) fn sent(self, sent: &ChatResponse) -> Result<(), CliError> {
        if self.is_json {
            return Self::line("sent", "message", &json!(sent));
        }
        let text = match (&sent.delivered_to, sent.task_id) {
            (Some(to), task) => {
                let session = &sent.session_id;
                let (who, follow) = match (&to.recipe_id, task) {
                    (Some(recipe), _) => {
                        (recipe.to_string(), format!(" Follow it: baton recipe follow --session {session}"))
                    }
                    (None, Some(task)) => (task.to_string(), String::new()),
                    (None, None) => (session.to_string(), String::new()),
                };
                match to.question_id {
                    Some(question) => format!("Sent to {who}, as an answer to {question}.{follow}"),
                    None => format!("Sent to {who}; its agent reads it at its next pause.{follow}"),
                }
            }
            (None, Some(task)) => format!("Queued {task} ({}).", sent.task_type),
            (None, None) => "Sent.".to_owned(),
        };
        output::talk(&text);
        Ok(())
    }

    pub(crate) fn update(self, update: &ChatUpdate) -> Result<(), CliError> {
        let text = match update {
            ChatUpdate::Progress(text) => text.clone(),
            ChatUpdate::Answered { by } => format!("Answered by {by}."),
            // Reported in full elsewhere.
            ChatUpdate::Asked { .. }
            | ChatUpdate::Over(_)
            | ChatUpdate::Given { .. }
            | ChatUpdate::Started => return Ok(()),
        };
        if self.is_json {
            return Self::line("progress", "text", &json!(text));
        }
        output::talk(&text);
        Ok(())
    }

    pub(crate) fn question(self, record: &QuestionRecord) -> Result<(), CliError> {
        if self.is_json {
            return Self::line("question", "question", &json!(record));
        }
        output::talk(render_question(record).trim_end());
        Ok(())
    }

    /// Prints the result. Failed work is an error that says what to do.
    pub(crate) fn end(self, view: &TaskView, end: ChatEnd) -> Result<String, CliError> {
        let id = view.summary.task_id;
        let result = view.output.as_deref().map(str::trim).filter(|output| !output.is_empty());
        if self.is_json {
            Self::line("ended", "task", &json!(view))?;
        } else if let Some(result) = result {
            output::line(result);
        }
        let failed = |what: &str, next: String| Err(CliError::failed(format!("{id} {what}"), next));
        match end {
            ChatEnd::Done => {
                let commits = view.verified.as_ref().map_or(0, |verified| verified.commits);
                let is_answer = matches!(view.state, TaskState::Done { accepted_by: AcceptedBy::Output });
                if is_answer && commits > 0 {
                    output::talk(&format!(
                        "Only an answer was asked for, and its agent also made {}. That stays on the branch baton/{id} and \
                         does not land. See it: baton task diff {id}",
                        pluralize(commits.into(), "commit")
                    ));
                }
                Ok(String::new())
            }
            // Already recycled when we looked.
            ChatEnd::Provisional if view.summary.queue == QueueName::Recycled => failed(
                "is being broken down into smaller tasks",
                "see the plan: baton breakdown list".to_owned(),
            ),
            ChatEnd::Provisional if view.summary.too_large.is_some() => failed(
                "made no progress",
                format!(
                    "see where it is: baton task show {id}. Unless Baton does that by itself, break it down: baton recycle {id}"
                ),
            ),
            ChatEnd::Provisional => {
                output::talk(&format!("Ready for review: baton task diff {id}, then baton accept {id}"));
                Ok(String::new())
            }
            ChatEnd::Failed => failed(
                "failed",
                format!("show the log: baton task log {id}; try again: baton task retry {id}"),
            ),
            ChatEnd::Cancelled => failed("was cancelled", "send it again: baton chat TEXT".to_owned()),
            ChatEnd::Recycled => failed(
                "is being broken down into smaller tasks",
                "see the plan: baton breakdown list".to_owned(),
            ),
        }
    }

    fn line(kind: &str, name: &str, value: &Value) -> Result<(), CliError> {
        output::line(output::json_line(&json!({ "kind": kind, name: value }))?.trim_end());
        Ok(())
    }
}
