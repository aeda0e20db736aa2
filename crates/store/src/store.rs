//! Either backend behind one type, for programs that learn at run time which store they are to use.
//!
//! It adds one thing: those who run agents may have their calls wait until a shared server is back. A worker must
//! outlive a restart of the server and a cut of the network; a person at a terminal wants to be told.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use baton_core::access_token::AccessToken;
use baton_core::attempt_record::AttemptRecord;
use baton_core::change::{Change, Guard, Stored};
use baton_core::hold::Hold;
use baton_core::id::{AttemptId, EffectId, ProjectId, QuestionId, RunId, SessionId, TaskId};
use baton_core::phase_loop::PhaseLoop;
use baton_core::plan_record::PlanRecord;
use baton_core::project::Project;
use baton_core::question_record::QuestionRecord;
use baton_core::receipt::{Receipt, ReceiptKey};
use baton_core::run::Run;
use baton_core::session::{Message, Session};
use baton_core::spending::{Account, Spending};
use baton_core::state::Queue;
use baton_core::task::Task;
use baton_core::text::PersonName;
use baton_core::time::Timestamp;
use baton_core::worker::{Sighting, Worker};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::backend::Backend;
use crate::claim::{ClaimRequest, Claimed};
use crate::columns::kind_and_key;
use crate::commit::{Commit, Conflict};
use crate::error::StoreError;
use crate::lease::Lease;
use crate::outbox::PendingEffect;
use crate::postgres::LogLine;
use crate::query::{Cursor, Page, Pruned, QuestionFilter, Retention, TaskDependency, TaskFilter, TaskGroup};
use crate::recorded::Recorded;
use crate::{PostgresStore, SqliteStore};

/// Between tries while a shared server is away. The store itself has waited a while before it says so.
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Clone)]
pub struct Store {
    kind: Kind,
    /// Whether calls wait for a server that cannot be reached, however long it takes.
    is_patient: bool,
}

#[derive(Clone)]
enum Kind {
    /// One file, for one machine.
    Sqlite(SqliteStore),
    /// A schema of a shared server, for many.
    Postgres(PostgresStore),
}

impl From<SqliteStore> for Store {
    fn from(store: SqliteStore) -> Self {
        Self { kind: Kind::Sqlite(store), is_patient: false }
    }
}

impl From<PostgresStore> for Store {
    fn from(store: PostgresStore) -> Self {
        Self { kind: Kind::Postgres(store), is_patient: false }
    }
}

impl Store {
    /// The same store for whoever works through an outage: a call that was not carried out because the server is away is
    /// made again until it is. A change whose fate is unknown counts as one that came too late: whoever made it reads
    /// the rows again and decides again.
    pub fn patient(&self) -> Self {
        Self { is_patient: true, ..self.clone() }
    }

    /// The same store for whoever has somebody waiting, and would rather tell them.
    pub fn impatient(&self) -> Self {
        Self { is_patient: false, ..self.clone() }
    }
}

/// What a patient caller makes of an answer: none to ask again.
fn heard<T>(answer: Result<T, StoreError>, is_patient: bool) -> Option<Result<T, StoreError>> {
    match answer {
        Err(StoreError::Unreachable { .. }) if is_patient => None,
        answer => Some(answer),
    }
}

/// Its own function, because the arguments of most calls are copied anyway.
fn again<T: Clone>(argument: &T) -> T {
    argument.clone()
}

/// The conflict an unknown fate is told as, where the change replaces a row: if it was written, the row has moved.
fn overtaken(change: &Change) -> Option<Conflict> {
    let put = change.puts.iter().find(|put| matches!(put.guard, Guard::Version(_)))?;
    let (kind, key) = kind_and_key(&put.record);
    Some(Conflict::Moved { kind, key, expected: put.guard, found: None })
}

/// The trait's calls, each handed on as it is. A call the trait gains and this list lacks does not compile.
macro_rules! handed_on {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) -> $answer:ty;)*) => {
        impl Store {
            $(pub async fn $name(&self, $($argument: $kind),*) -> Result<$answer, StoreError> {
                loop {
                    let answer = match &self.kind {
                        Kind::Sqlite(store) => store.$name($(again(&$argument)),*).await,
                        Kind::Postgres(store) => store.$name($(again(&$argument)),*).await,
                    };
                    match heard(answer, self.is_patient) {
                        Some(answer) => return answer,
                        None => sleep(PAUSE).await,
                    }
                }
            })*

            pub async fn commit(&self, change: Change) -> Result<Commit, StoreError> {
                loop {
                    let answer = match &self.kind {
                        Kind::Sqlite(store) => store.commit(change.clone()).await,
                        Kind::Postgres(store) => store.commit(change.clone()).await,
                    };
                    match heard(answer, self.is_patient) {
                        Some(Err(StoreError::Unknown { detail })) if self.is_patient => {
                            let conflict = overtaken(&change).map(Commit::Conflict);
                            return conflict.ok_or(StoreError::Unknown { detail });
                        }
                        Some(answer) => return answer,
                        None => sleep(PAUSE).await,
                    }
                }
            }

            pub async fn claim(&self, request: ClaimRequest) -> Result<Vec<Claimed>, StoreError> {
                let answer = match &self.kind {
                    Kind::Sqlite(store) => store.claim(request).await,
                    Kind::Postgres(store) => store.claim(request).await,
                };
                match answer {
                    // Nothing was claimed, or nobody knows of it: such a lease runs out, and the task comes back.
                    Err(StoreError::Unreachable { .. } | StoreError::Unknown { .. }) if self.is_patient => {
                        Ok(Vec::new())
                    }
                    answer => answer,
                }
            }

            pub fn log_line(&self) -> Option<LogLine> {
                match &self.kind {
                    Kind::Sqlite(store) => store.log_line(),
                    Kind::Postgres(store) => store.log_line(),
                }
            }

            pub fn subscribe(&self) -> watch::Receiver<u64> {
                match &self.kind {
                    Kind::Sqlite(store) => store.subscribe(),
                    Kind::Postgres(store) => store.subscribe(),
                }
            }
        }
    };
}

handed_on! {
    fn now() -> Timestamp;
    fn renew(worker: &str, attempts: &[AttemptId], lease_ms: i64) -> Vec<AttemptId>;
    fn leases() -> Vec<Lease>;
    fn expired_leases(limit: u32) -> Vec<Lease>;
    fn beat(worker: &Worker) -> ();
    fn workers() -> Vec<Sighting>;
    fn forget_worker(name: &str) -> ();
    fn lock(name: &str, holder: &str, lock_ms: i64) -> bool;
    fn unlock(name: &str, holder: &str) -> ();
    fn project(id: ProjectId) -> Option<Stored<Project>>;
    fn projects(cursor: Option<Cursor>, limit: u32) -> Page<Project>;
    fn session(id: &SessionId) -> Option<Stored<Session>>;
    fn messages(session: &SessionId, after: u32, limit: u32) -> Vec<Message>;
    fn task(id: TaskId) -> Option<Stored<Task>>;
    fn tasks(filter: &TaskFilter, cursor: Option<Cursor>, limit: u32) -> Page<Stored<Task>>;
    fn ready(limit: u32) -> Vec<Stored<Task>>;
    fn ready_count() -> u64;
    fn queue_counts() -> BTreeMap<Queue, u64>;
    fn tasks_by_prefix(prefix: &str, limit: u32) -> Vec<TaskId>;
    fn dependencies(task: TaskId) -> Vec<TaskDependency>;
    fn dependents(task: TaskId, after: Option<TaskId>, limit: u32) -> Vec<TaskDependency>;
    fn task_groups(cursor: Option<Cursor>, limit: u32) -> Page<TaskGroup>;
    fn attempts(task: TaskId) -> Vec<AttemptRecord>;
    fn attempt(id: AttemptId) -> Option<AttemptRecord>;
    fn workers_of(attempts: &[AttemptId]) -> BTreeMap<AttemptId, String>;
    fn question(id: QuestionId) -> Option<Stored<QuestionRecord>>;
    fn questions(filter: &QuestionFilter, cursor: Option<Cursor>, limit: u32) -> Page<Stored<QuestionRecord>>;
    fn plan(breakdown: TaskId) -> Option<Stored<PlanRecord>>;
    fn run(id: RunId) -> Option<Stored<Run>>;
    fn open_runs() -> Vec<Stored<Run>>;
    fn phase_loop(session: &SessionId) -> Option<Stored<PhaseLoop>>;
    fn holds() -> Vec<Stored<Hold>>;
    fn spending(account: Account) -> Option<Stored<Spending>>;
    fn access_token(name: &PersonName) -> Option<Stored<AccessToken>>;
    fn access_tokens() -> Vec<Stored<AccessToken>>;
    fn receipt(key: &ReceiptKey) -> Option<Receipt>;
    fn events_after(seq: u64, limit: u32) -> Vec<Recorded>;
    fn task_events(task: TaskId, after: u64, limit: u32) -> Vec<Recorded>;
    fn pending_effects(after: Option<EffectId>, limit: u32) -> Vec<PendingEffect>;
    fn finish_effects(ids: &[EffectId]) -> ();
    fn prune(retention: &Retention) -> Pruned;
    fn backup(to: &Path) -> ();
    fn close() -> ();
}
