//! Writes of a batch, and the columns of records other than tasks.

use baton_core::records::change::Record;
use baton_core::task::Task;

use crate::columns;
use crate::model::record_kind::RecordKind;

/// One table holds every kind of record, so the key includes the kind.
pub(crate) type RowKey = (RecordKind, String);

#[derive(Debug)]
pub(crate) struct TaskWrite {
    pub(crate) task: Box<Task>,
    pub(crate) version: u64,
    /// The row does not exist yet.
    pub(crate) is_new: bool,
    /// Set for new rows only; afterwards, writes to the edges count.
    pub(crate) open_blockers: u32,
}

#[derive(Debug)]
pub(crate) struct RecordWrite {
    pub(crate) record: Record,
    pub(crate) version: u64,
    pub(crate) is_new: bool,
}

/// The columns lists use.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordColumns {
    pub(crate) session: Option<String>,
    pub(crate) task: Option<String>,
    pub(crate) place: i64,
    pub(crate) is_open: bool,
}

impl RecordColumns {
    pub(crate) fn new(record: &Record) -> Self {
        match record {
            Record::Project(project) => Self { place: project.created_at.ms(), ..Self::default() },
            Record::Session(session) => Self { place: session.created_at.ms(), ..Self::default() },
            Record::Message(message) => Self {
                session: Some(message.session_id.to_string()),
                place: i64::from(message.number),
                ..Self::default()
            },
            // Tasks have a table of their own, with more columns.
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
                session: Some(run.session().to_string()),
                place: columns::run_started(run).ms(),
                is_open: !run.has_exited(),
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
            Record::Verdict(verdict) => Self { place: columns::verdict_ms(verdict), ..Self::default() },
            Record::Attachment(attachment) => Self {
                session: Some(attachment.session_id.to_string()),
                place: attachment.at.ms(),
                ..Self::default()
            },
            Record::Routine(routine) => {
                Self { place: routine.created_at.ms(), is_open: !routine.is_removed(), ..Self::default() }
            }
        }
    }
}
