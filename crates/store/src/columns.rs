//! What a row shows beside its body: the columns that lists, claims and counters are made of.
//!
//! Every one is core's word about the record, taken when the record is written. SQL compares them; it never
//! works one out.

use std::collections::BTreeSet;

use baton_core::ask::question_record::QuestionState;
use baton_core::base::id::{ProjectId, TaskId};
use baton_core::base::text::{Label, NonBlank};
use baton_core::graph::Standing;
use baton_core::records::change::Record;
use baton_core::task::Task;
use baton_core::task::state::QueueName;
use serde::Serialize;

/// The columns of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a column of its own; core's states are the machine"
)]
pub struct TaskColumns<'t> {
    pub id: TaskId,
    pub session: &'t str,
    pub project: Option<ProjectId>,
    /// Who asked for it.
    pub person: Option<&'t str>,
    pub queue: &'static str,
    pub status: &'static str,
    pub title: &'t str,
    pub role: &'t str,
    /// An agent may be set on it as soon as nothing blocks it.
    pub is_claimable: bool,
    pub rank: i64,
    pub created_ms: i64,
    pub updated_ms: i64,
    /// Its dependents' edges to it are met.
    pub is_done: bool,
    /// Nothing more happens to it, so its old history may be forgotten.
    pub is_finished: bool,
    /// It waits to be accepted; counted for backpressure.
    pub is_provisional: bool,
    /// The labels its worker must have.
    pub needs: &'t BTreeSet<Label>,
    /// Edges added to it from now on go to these instead.
    pub replaced_by: Vec<TaskId>,
}

impl<'t> TaskColumns<'t> {
    pub fn of(task: &'t Task) -> Self {
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

/// The table a record lives in and the key it has there.
pub fn kind_and_key(record: &Record) -> (&'static str, String) {
    match record {
        Record::Project(project) => ("project", project.id.to_string()),
        Record::Session(session) => ("session", session.id.to_string()),
        Record::Message(message) => ("message", format!("{}#{}", message.session_id, message.number)),
        Record::Task(task) => ("task", task.id().to_string()),
        Record::Attempt(attempt) => ("attempt", attempt.attempt.id.to_string()),
        Record::Question(question) => ("question", question.question.id.to_string()),
        Record::Plan(plan) => ("plan", plan.task_id.to_string()),
        Record::Run(run) => ("run", run.id().to_string()),
        Record::Loop(phase_loop) => ("loop", phase_loop.session().to_string()),
        Record::Receipt(receipt) => ("receipt", receipt.key.to_string()),
        Record::Hold(hold) => ("hold", hold.agent.to_string()),
        Record::Spending(spending) => ("spending", spending.account.key()),
        Record::AccessToken(token) => ("access_token", token.name.to_string()),
    }
}

pub const fn is_pending(state: &QuestionState) -> bool {
    match state {
        QuestionState::Pending => true,
        QuestionState::Answered { .. } | QuestionState::Withdrawn { .. } => false,
    }
}

/// Room for most bodies, so that they need not be moved while they grow.
const BODY_BYTES_USUAL: usize = 1_024;

/// A record's body as it is stored. Core's types always serialise; if one ever did not, that is an error to show.
pub fn body<T: Serialize>(kind: &'static str, value: &T) -> Result<String, crate::StoreError> {
    let bad = |detail: String| crate::StoreError::BadRow { kind, key: String::new(), detail };
    let mut text = Vec::with_capacity(BODY_BYTES_USUAL);
    serde_json::to_writer(&mut text, value).map_err(|error| bad(error.to_string()))?;
    String::from_utf8(text).map_err(|error| bad(error.to_string()))
}
