//! The columns of a record that is not a task, and what a write of either kind carries.

use baton_core::recipe::run::RunState;
use baton_core::records::change::Record;
use baton_core::task::Task;

use crate::columns;
use crate::error::StoreError;

/// The table is one for every kind, so a key says its kind too.
pub(super) type RowKey = (&'static str, String);

#[derive(Debug)]
pub(super) struct TaskWrite {
    pub(super) task: Box<Task>,
    pub(super) version: u64,
    /// The row is not there yet.
    pub(super) is_new: bool,
    /// Counted for a new row only; afterwards the writes to its edges count.
    pub(super) open_blockers: u32,
}

#[derive(Debug)]
pub(super) struct RecordWrite {
    pub(super) record: Record,
    pub(super) version: u64,
    pub(super) is_new: bool,
}

/// Where lists find a record.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RecordColumns {
    pub(super) session: Option<String>,
    pub(super) task: Option<String>,
    pub(super) place: i64,
    pub(super) is_open: bool,
}

impl RecordColumns {
    pub(super) fn of(record: &Record) -> Self {
        match record {
            Record::Project(project) => Self { place: project.created_at.ms(), ..Self::default() },
            Record::Session(session) => Self { place: session.created_at.ms(), ..Self::default() },
            Record::Message(message) => Self {
                session: Some(message.session_id.to_string()),
                place: i64::from(message.number),
                ..Self::default()
            },
            // Tasks have a table of their own, and more columns.
            Record::Task(task) => Self { place: task.spec().created_at.ms(), ..Self::default() },
            Record::Attempt(attempt) => Self {
                task: Some(attempt.task_id.to_string()),
                place: i64::from(attempt.attempt.number),
                ..Self::default()
            },
            Record::Question(question) => Self {
                session: Some(question.session_id.to_string()),
                task: question.task_id.map(|task| task.to_string()),
                place: question.asked_at.ms(),
                is_open: columns::is_pending(&question.state),
            },
            Record::Plan(plan) => Self { place: plan.submitted_at.ms(), ..Self::default() },
            Record::Run(run) => Self {
                is_open: match run.state() {
                    RunState::Working | RunState::AtGate { .. } | RunState::Leaving { .. } => true,
                    RunState::Exited { .. } => false,
                },
                ..Self::default()
            },
            Record::Loop(_) => Self::default(),
            Record::Receipt(receipt) => Self { place: receipt.at.ms(), ..Self::default() },
            Record::Hold(hold) => {
                Self { place: hold.since.ms(), is_open: hold.released.is_none(), ..Self::default() }
            }
            Record::Spending(_) => Self::default(),
            Record::AccessToken(token) => {
                Self { place: token.created_at.ms(), is_open: token.revoked.is_none(), ..Self::default() }
            }
        }
    }
}

/// The record as core would read it back.
pub(super) fn body(record: &Record) -> Result<String, StoreError> {
    match record {
        Record::Project(project) => columns::body("project", project),
        Record::Session(session) => columns::body("session", session),
        Record::Message(message) => columns::body("message", message),
        Record::Task(task) => columns::body("task", task),
        Record::Attempt(attempt) => columns::body("attempt", attempt),
        Record::Question(question) => columns::body("question", question),
        Record::Plan(plan) => columns::body("plan", plan),
        Record::Run(run) => columns::body("run", run),
        Record::Loop(phase_loop) => columns::body("loop", phase_loop),
        Record::Receipt(receipt) => columns::body("receipt", receipt),
        Record::Hold(hold) => columns::body("hold", hold),
        Record::Spending(spending) => columns::body("spending", spending),
        Record::AccessToken(token) => columns::body("access_token", token),
    }
}
