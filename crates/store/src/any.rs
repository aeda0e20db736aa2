//! Either backend behind one type, for programs that learn at run time which store they are to use.
//!
//! It adds nothing: every call is handed to the store that was opened.

use std::path::Path;

use baton_core::access_token::AccessToken;
use baton_core::attempt_record::AttemptRecord;
use baton_core::change::{Change, Stored};
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
use baton_core::task::Task;
use baton_core::text::PersonName;
use baton_core::time::Timestamp;
use tokio::sync::watch;

use crate::claim::{ClaimRequest, Claimed};
use crate::commit::Commit;
use crate::error::StoreError;
use crate::lease::Lease;
use crate::outbox::PendingEffect;
use crate::postgres::LogLine;
use crate::query::{Cursor, Page, Pruned, QuestionFilter, Retention, TaskDependency, TaskFilter, TaskGroup};
use crate::recorded::Recorded;
use crate::store::Store;
use crate::{PostgresStore, SqliteStore};

#[derive(Clone)]
pub enum AnyStore {
    /// One file, for one machine.
    Sqlite(SqliteStore),
    /// A schema of a shared server, for many.
    Postgres(PostgresStore),
}

impl From<SqliteStore> for AnyStore {
    fn from(store: SqliteStore) -> Self {
        Self::Sqlite(store)
    }
}

impl From<PostgresStore> for AnyStore {
    fn from(store: PostgresStore) -> Self {
        Self::Postgres(store)
    }
}

/// The trait's calls, each handed on as it is. A call the trait gains and this list lacks does not compile.
macro_rules! handed_on {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) -> $answer:ty;)*) => {
        impl Store for AnyStore {
            $(async fn $name(&self, $($argument: $kind),*) -> Result<$answer, StoreError> {
                match self {
                    Self::Sqlite(store) => store.$name($($argument),*).await,
                    Self::Postgres(store) => store.$name($($argument),*).await,
                }
            })*

            fn log_line(&self) -> Option<LogLine> {
                match self {
                    Self::Sqlite(store) => store.log_line(),
                    Self::Postgres(store) => store.log_line(),
                }
            }

            fn subscribe(&self) -> watch::Receiver<u64> {
                match self {
                    Self::Sqlite(store) => store.subscribe(),
                    Self::Postgres(store) => store.subscribe(),
                }
            }
        }
    };
}

handed_on! {
    fn now() -> Timestamp;
    fn commit(change: Change) -> Commit;
    fn claim(request: ClaimRequest) -> Vec<Claimed>;
    fn renew(worker: &str, attempts: &[AttemptId], lease_ms: i64) -> Vec<AttemptId>;
    fn leases() -> Vec<Lease>;
    fn expired_leases(limit: u32) -> Vec<Lease>;
    fn project(id: ProjectId) -> Option<Stored<Project>>;
    fn projects(cursor: Option<Cursor>, limit: u32) -> Page<Project>;
    fn session(id: &SessionId) -> Option<Stored<Session>>;
    fn messages(session: &SessionId, after: u32, limit: u32) -> Vec<Message>;
    fn task(id: TaskId) -> Option<Stored<Task>>;
    fn tasks(filter: &TaskFilter, cursor: Option<Cursor>, limit: u32) -> Page<Stored<Task>>;
    fn ready(limit: u32) -> Vec<Stored<Task>>;
    fn ready_count() -> u64;
    fn tasks_by_prefix(prefix: &str, limit: u32) -> Vec<TaskId>;
    fn dependencies(task: TaskId) -> Vec<TaskDependency>;
    fn dependents(task: TaskId, after: Option<TaskId>, limit: u32) -> Vec<TaskDependency>;
    fn task_groups(cursor: Option<Cursor>, limit: u32) -> Page<TaskGroup>;
    fn attempts(task: TaskId) -> Vec<AttemptRecord>;
    fn attempt(id: AttemptId) -> Option<AttemptRecord>;
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
