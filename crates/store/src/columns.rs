//! The columns stored beside each body, which lists, claims and counters use.
//!
//! Core computes every one when the record is written. SQL compares them and never derives one.

use std::collections::BTreeSet;

use crate::error::StoreError;
use crate::model::record_kind::RecordKind;

use baton_core::ask::question_record::QuestionState;
use baton_core::base::id::{ProjectId, TaskId};
use baton_core::base::text::{Label, NonBlank};
use baton_core::base::time::Timestamp;
use baton_core::graph::Standing;
use baton_core::landing::verdict::Verdict;
use baton_core::recipe::run::Run;
use baton_core::records::change::Record;
use baton_core::task::Task;
use baton_core::task::state::{QueueName, TaskStatus};
use serde::Serialize;

/// The columns of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a column of its own; core's states are the machine"
)]
pub(crate) struct TaskColumns<'t> {
    pub(crate) id: TaskId,
    pub(crate) session: &'t str,
    pub(crate) project: Option<ProjectId>,
    /// Who requested it.
    pub(crate) person: Option<&'t str>,
    pub(crate) queue: &'static str,
    pub(crate) status: &'static str,
    pub(crate) title: &'t str,
    pub(crate) role: &'t str,
    /// It can be claimed as soon as nothing blocks it.
    pub(crate) is_claimable: bool,
    pub(crate) rank: i64,
    pub(crate) created_ms: i64,
    pub(crate) updated_ms: i64,
    /// Dependencies on it are met.
    pub(crate) is_done: bool,
    /// It will not change any more, so its old events may be pruned.
    pub(crate) is_finished: bool,
    /// It waits to be accepted; counted for backpressure.
    pub(crate) is_provisional: bool,
    /// The labels its worker must have.
    pub(crate) needs: &'t BTreeSet<Label>,
    /// New dependencies on it are redirected to these.
    pub(crate) replaced_by: Vec<TaskId>,
}

impl<'t> TaskColumns<'t> {
    pub(crate) fn new(task: &'t Task) -> Self {
        let standing = task.standing();
        let (is_done, is_finished) = match &standing {
            Standing::Done => (true, true),
            Standing::Cancelled | Standing::Replaced { .. } => (false, true),
            Standing::Open | Standing::Failed | Standing::Recycled { .. } => (false, false),
        };
        let replaced_by = match standing {
            Standing::Replaced { by } => by,
            Standing::Open
            | Standing::Done
            | Standing::Cancelled
            | Standing::Failed
            | Standing::Recycled { .. } => Vec::new(),
        };
        let spec = task.spec();
        let queue = task.state().queue();
        Self {
            id: spec.id,
            session: spec.session_id.as_str(),
            project: spec.project_id,
            person: task.asker().map(NonBlank::as_str),
            queue: queue.as_str(),
            status: task.state().status().as_str(),
            title: spec.title.as_str(),
            role: spec.role.as_str(),
            is_claimable: task.is_claimable(),
            rank: task.claim_rank().number(),
            created_ms: spec.created_at.ms(),
            updated_ms: task.updated_at().ms(),
            is_done,
            is_finished,
            is_provisional: queue == QueueName::Provisional,
            needs: &spec.needs,
            replaced_by,
        }
    }
}

/// The kind of a record and its key.
pub(crate) fn record_key(record: &Record) -> (RecordKind, String) {
    match record {
        Record::Project(project) => (RecordKind::Project, project.id.to_string()),
        Record::Session(session) => (RecordKind::Session, session.id.to_string()),
        Record::Message(message) => {
            (RecordKind::Message, format!("{}#{}", message.session_id, message.number))
        }
        Record::Task(task) => (RecordKind::Task, task.id().to_string()),
        Record::Attempt(attempt) => (RecordKind::Attempt, attempt.attempt.id.to_string()),
        Record::Question(question) => (RecordKind::Question, question.question.id.to_string()),
        Record::Plan(plan) => (RecordKind::Plan, plan.task_id.to_string()),
        Record::Run(run) => (RecordKind::Run, run.id().to_string()),
        Record::Loop(phase_loop) => (RecordKind::Loop, phase_loop.session().to_string()),
        Record::Receipt(receipt) => (RecordKind::Receipt, receipt.key.to_string()),
        Record::Hold(hold) => (RecordKind::Hold, hold.agent.to_string()),
        Record::Spending(spending) => (RecordKind::Spending, spending.account.key()),
        Record::AccessToken(token) => (RecordKind::AccessToken, token.name.to_string()),
        Record::Verdict(verdict) => (RecordKind::Verdict, verdict.key.to_string()),
        Record::Attachment(attachment) => (RecordKind::Attachment, attachment.id.to_string()),
        Record::Routine(routine) => (RecordKind::Routine, routine.id.to_string()),
    }
}

/// The inverse of [`TaskStatus::as_str`].
pub(crate) fn parse_status(text: &str) -> Option<TaskStatus> {
    serde_json::from_value(text.into()).ok()
}

/// The inverse of [`QueueName::as_str`].
pub(crate) fn parse_queue(text: &str) -> Option<QueueName> {
    serde_json::from_value(text.into()).ok()
}

/// What Rust's `trim` removes, for SQL that tests for blank text.
pub(crate) const WHITESPACE: &str = "\t\n\u{b}\u{c}\r \u{85}\u{a0}\u{1680}\u{2000}\u{2001}\u{2002}\u{2003}\u{2004}\u{2005}\u{2006}\
    \u{2007}\u{2008}\u{2009}\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}";

/// The roles of the tasks that a loop makes for its own agents; their descriptions are prompts, which nobody wrote.
pub(crate) const PROMPTED_ROLES: &str = "'plan', 'review'";

pub(crate) const fn is_pending(state: &QuestionState) -> bool {
    match state {
        QuestionState::Pending => true,
        QuestionState::Answered { .. } | QuestionState::Withdrawn { .. } => false,
    }
}

/// When the run started; runs stored before this was recorded come first.
pub(crate) fn run_started(run: &Run) -> Timestamp {
    run.started_at().unwrap_or(Timestamp::from_ms(0))
}

/// When the checks last ran, for the order of verdicts.
pub(crate) fn verdict_ms(verdict: &Verdict) -> i64 {
    verdict.checked_at().map_or(0, Timestamp::ms)
}

/// Enough for most bodies, so that the buffer need not grow.
const BODY_BYTES_USUAL: usize = 1_024;

/// Serialises a body. Core's types always serialise; if one ever does not, the caller gets an error.
pub(crate) fn body<T: Serialize>(kind: RecordKind, value: &T) -> Result<String, StoreError> {
    let bad = |detail: String| StoreError::BadRow { kind, key: String::new(), detail };
    let mut text = Vec::with_capacity(BODY_BYTES_USUAL);
    serde_json::to_writer(&mut text, value).map_err(|error| bad(error.to_string()))?;
    String::from_utf8(text).map_err(|error| bad(error.to_string()))
}

/// Serialises the body of a record.
pub(crate) fn record_body(record: &Record) -> Result<String, StoreError> {
    match record {
        Record::Project(project) => body(RecordKind::Project, project),
        Record::Session(session) => body(RecordKind::Session, session),
        Record::Message(message) => body(RecordKind::Message, message),
        Record::Task(task) => body(RecordKind::Task, task),
        Record::Attempt(attempt) => body(RecordKind::Attempt, attempt),
        Record::Question(question) => body(RecordKind::Question, question),
        Record::Plan(plan) => body(RecordKind::Plan, plan),
        Record::Run(run) => body(RecordKind::Run, run),
        Record::Loop(phase_loop) => body(RecordKind::Loop, phase_loop),
        Record::Receipt(receipt) => body(RecordKind::Receipt, receipt),
        Record::Hold(hold) => body(RecordKind::Hold, hold),
        Record::Spending(spending) => body(RecordKind::Spending, spending),
        Record::AccessToken(token) => body(RecordKind::AccessToken, token),
        Record::Verdict(verdict) => body(RecordKind::Verdict, verdict),
        Record::Attachment(attachment) => body(RecordKind::Attachment, attachment),
        Record::Routine(routine) => body(RecordKind::Routine, routine),
    }
}
