//! Either backend behind one type, for programs that learn at run time which store to use.
//!
//! A `Store` can be patient: its calls then wait until an unreachable server is back. A worker must survive a restart
//! of the server and a network outage; a person at a terminal wants an error.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::{AttemptId, EffectId, ProjectId, QuestionId, RoutineId, RunId, SessionId, TaskId};
use baton_core::base::text::PersonName;
use baton_core::base::time::Timestamp;
use baton_core::landing::verdict::{Verdict, VerdictKey};
use baton_core::limits::hold::Hold;
use baton_core::limits::spending::{Spending, SpendingAccount};
use baton_core::people::access_token::AccessToken;
use baton_core::phase::phase_loop::PhaseLoop;
use baton_core::recipe::run::Run;
use baton_core::records::attachment::Attachment;
use baton_core::records::change::{Change, Versioned, WriteGuard};
use baton_core::records::project::Project;
use baton_core::records::receipt::{Receipt, ReceiptKey};
use baton_core::records::session::{Message, Session};
use baton_core::recycle::plan_record::PlanRecord;
use baton_core::routine::Routine;
use baton_core::schedule::worker::{Worker, WorkerSighting};
use baton_core::task::Task;
use baton_core::task::attempt_record::AttemptRecord;
use baton_core::task::state::QueueName;
use tokio::sync::watch;
use tokio::time::sleep;
use tracing::field::Empty;
use tracing::{Instrument, debug_span, warn};

use crate::backend::Backend;
use crate::call::StoreCall;
use crate::columns::record_key;
use crate::crash_point::CrashPoint;
use crate::error::StoreError;
use crate::latency::{Histogram, OperationLatency};
use crate::model::claim::{ClaimRequest, ClaimedTask};
use crate::model::commit::{Commit, Conflict};
use crate::model::event::StoredEvent;
use crate::model::lease::Lease;
use crate::model::outbox::PendingEffect;
use crate::model::query::{
    Cursor, EventRetention, Page, PruneResult, QuestionFilter, RunFilter, TaskDependency, TaskFilter,
    TaskGroup,
};
use crate::postgres::LogChannel;
use crate::{PostgresStore, SqliteStore};

/// Between retries while the server is unreachable. The backend has already retried for a while before it reports
/// that.
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Clone)]
pub struct Store {
    kind: AnyBackend,
    /// Calls retry for as long as the server is unreachable.
    is_patient: bool,
    latencies: Arc<Latencies>,
}

#[derive(Clone)]
enum AnyBackend {
    /// One file, for one machine.
    Sqlite(SqliteStore),
    /// A schema on a shared server, for many machines.
    Postgres(PostgresStore),
}

impl From<SqliteStore> for Store {
    fn from(store: SqliteStore) -> Self {
        Self { kind: AnyBackend::Sqlite(store), is_patient: false, latencies: Arc::default() }
    }
}

impl From<PostgresStore> for Store {
    fn from(store: PostgresStore) -> Self {
        Self { kind: AnyBackend::Postgres(store), is_patient: false, latencies: Arc::default() }
    }
}

impl Store {
    /// The same store for callers that must survive an outage: a call that failed because the server is unreachable
    /// is retried until it succeeds. A commit whose fate is unknown is reported as a conflict, so that the caller
    /// reads the rows and decides again.
    pub fn patient(&self) -> Self {
        Self { is_patient: true, ..self.clone() }
    }

    /// The same store for callers that want an error rather than a wait.
    pub fn impatient(&self) -> Self {
        Self { is_patient: false, ..self.clone() }
    }
}

/// Whether a patient caller should retry.
fn is_unreachable<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Unreachable { .. }))
}

/// Reports a failed call and waits before the next try.
async fn pause(operation: &'static str) {
    warn!(operation, "the store is unreachable; retrying");
    sleep(PAUSE).await;
}

/// A function of its own so that reference arguments are copied and values cloned by the same expression.
fn again<T: Clone>(argument: &T) -> T {
    argument.clone()
}

/// The conflict to report for a commit of unknown fate, if the change replaces a row: had it been written, the row's
/// version would have changed.
fn version_conflict(change: &Change) -> Option<Conflict> {
    let put = change.puts.iter().find(|put| matches!(put.guard, WriteGuard::Version(_)))?;
    let (kind, key) = record_key(&put.record);
    Some(Conflict::Moved { kind, key, expected: put.guard, found: None })
}

/// Calls the backend once, inside a span, and records how long it took.
macro_rules! observed {
    ($self:ident, $name:ident, $store:ident => $call:expr) => {{
        let call = StoreCall::start(concat!("store.", stringify!($name)), &$self.latencies.$name);
        let span = debug_span!(concat!("store.", stringify!($name)), rows = Empty, duration_ms = Empty);
        let result = async {
            match &$self.kind {
                AnyBackend::Sqlite($store) => $call.await,
                AnyBackend::Postgres($store) => $call.await,
            }
        }
        .instrument(span.clone())
        .await;
        call.finish(&span, &result);
        result
    }};
}

impl Store {
    /// See [`Backend::commit`].
    pub async fn commit(&self, change: Change) -> Result<Commit, StoreError> {
        if !self.is_patient {
            return self.commit_once(change).await;
        }
        loop {
            match self.commit_once(change.clone()).await {
                Err(StoreError::CommitUnknown { detail }) => {
                    warn!(detail, "the fate of a commit is unknown");
                    let conflict = version_conflict(&change).map(Commit::Conflict);
                    return conflict.ok_or(StoreError::CommitUnknown { detail });
                }
                Err(StoreError::Unreachable { .. }) => pause("store.commit").await,
                result => return result,
            }
        }
    }

    async fn commit_once(&self, change: Change) -> Result<Commit, StoreError> {
        let point = CrashPoint::of_change(&change);
        point.before_write()?;
        let written = observed!(self, commit, store => store.commit(change))?;
        point.after_write()?;
        Ok(written)
    }

    async fn claim_once(&self, request: ClaimRequest) -> Result<Vec<ClaimedTask>, StoreError> {
        let point = CrashPoint::named("claim");
        point.before_write()?;
        let claimed = observed!(self, claim, store => store.claim(request))?;
        // Most claims find nothing, which no fault can spoil.
        if !claimed.is_empty() {
            point.after_write()?;
        }
        Ok(claimed)
    }

    /// See [`Backend::claim`].
    pub async fn claim(&self, request: ClaimRequest) -> Result<Vec<ClaimedTask>, StoreError> {
        match self.claim_once(request).await {
            // Nothing was claimed, or the claim is unknown: in that case the lease expires and the task becomes ready
            // again.
            Err(StoreError::Unreachable { .. } | StoreError::CommitUnknown { .. }) if self.is_patient => {
                Ok(Vec::new())
            }
            result => result,
        }
    }

    /// The channel to logs on other machines; `None` for a store of one machine.
    pub fn log_channel(&self) -> Option<LogChannel> {
        match &self.kind {
            AnyBackend::Sqlite(_) => None,
            AnyBackend::Postgres(store) => Some(store.log_channel()),
        }
    }

    /// See [`Backend::subscribe`].
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        match &self.kind {
            AnyBackend::Sqlite(store) => store.subscribe(),
            AnyBackend::Postgres(store) => store.subscribe(),
        }
    }

    /// How long the calls made so far took, for every operation that was called. Shared by all clones.
    pub fn latency(&self) -> Vec<OperationLatency> {
        self.latencies.snapshot()
    }
}

/// Forwards calls to the backend, and gives each a histogram.
macro_rules! forward {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) -> $answer:ty;)*) => {
        impl Store {
            $(
                #[doc = concat!("See [`Backend::", stringify!($name), "`].")]
                pub async fn $name(&self, $($argument: $kind),*) -> Result<$answer, StoreError> {
                    loop {
                        let result = observed!(self, $name, store => store.$name($(again(&$argument)),*));
                        if !(self.is_patient && is_unreachable(&result)) {
                            return result;
                        }
                        pause(concat!("store.", stringify!($name))).await;
                    }
                }
            )*
        }

        #[derive(Default)]
        struct Latencies {
            commit: Histogram,
            claim: Histogram,
            $($name: Histogram,)*
        }

        impl Latencies {
            fn snapshot(&self) -> Vec<OperationLatency> {
                let all = [
                    self.commit.snapshot("commit"),
                    self.claim.snapshot("claim"),
                    $(self.$name.snapshot(stringify!($name)),)*
                ];
                all.into_iter().filter(|latency| latency.count > 0).collect()
            }
        }
    };
}

forward! {
    fn now() -> Timestamp;
    fn renew(worker: &str, attempts: &[AttemptId], lease_ms: i64) -> Vec<AttemptId>;
    fn leases() -> Vec<Lease>;
    fn expired_leases(limit: u32) -> Vec<Lease>;
    fn beat(worker: &Worker) -> ();
    fn workers() -> Vec<WorkerSighting>;
    fn forget_worker(name: &str) -> ();
    fn lock(name: &str, holder: &str, lock_ms: i64) -> bool;
    fn unlock(name: &str, holder: &str) -> ();
    fn project(id: ProjectId) -> Option<Versioned<Project>>;
    fn projects(cursor: Option<Cursor>, limit: u32) -> Page<Project>;
    fn session(id: &SessionId) -> Option<Versioned<Session>>;
    fn messages(session: &SessionId, after: u32, limit: u32) -> Vec<Message>;
    fn last_messages(session: &SessionId, before: Option<u32>, limit: u32) -> Vec<Message>;
    fn task(id: TaskId) -> Option<Versioned<Task>>;
    fn tasks(filter: &TaskFilter, cursor: Option<Cursor>, limit: u32) -> Page<Versioned<Task>>;
    fn ready(limit: u32) -> Vec<Versioned<Task>>;
    fn ready_count() -> u64;
    fn tasks_by_ids(ids: &[TaskId]) -> Vec<Versioned<Task>>;
    fn count_tasks(filter: &TaskFilter, max: u32) -> u64;
    fn queue_depths() -> BTreeMap<QueueName, u64>;
    fn tasks_by_prefix(prefix: &str, limit: u32) -> Vec<TaskId>;
    fn dependencies(task: TaskId) -> Vec<TaskDependency>;
    fn dependents(task: TaskId, after: Option<TaskId>, limit: u32) -> Vec<TaskDependency>;
    fn dependencies_of_many(tasks: &[TaskId]) -> Vec<TaskDependency>;
    fn dependents_of_many(tasks: &[TaskId], limit_each: u32) -> Vec<TaskDependency>;
    fn task_groups(cursor: Option<Cursor>, limit: u32) -> Page<TaskGroup>;
    fn recent_task_groups(limit: u32) -> Vec<TaskGroup>;
    fn attempts(task: TaskId) -> Vec<AttemptRecord>;
    fn attempts_of_many(tasks: &[TaskId]) -> Vec<AttemptRecord>;
    fn last_attempts(tasks: &[TaskId]) -> Vec<AttemptRecord>;
    fn attempt(id: AttemptId) -> Option<AttemptRecord>;
    fn workers_of(attempts: &[AttemptId]) -> BTreeMap<AttemptId, String>;
    fn question(id: QuestionId) -> Option<Versioned<QuestionRecord>>;
    fn questions(filter: &QuestionFilter, cursor: Option<Cursor>, limit: u32) -> Page<Versioned<QuestionRecord>>;
    fn questions_by_ids(ids: &[QuestionId]) -> Vec<Versioned<QuestionRecord>>;
    fn questions_of_many(tasks: &[TaskId], is_pending: Option<bool>) -> Vec<Versioned<QuestionRecord>>;
    fn count_questions(filter: &QuestionFilter, max: u32) -> u64;
    fn plan(breakdown: TaskId) -> Option<Versioned<PlanRecord>>;
    fn run(id: RunId) -> Option<Versioned<Run>>;
    fn open_runs() -> Vec<Versioned<Run>>;
    fn runs(filter: &RunFilter, cursor: Option<Cursor>, limit: u32) -> Page<Versioned<Run>>;
    fn phase_loop(session: &SessionId) -> Option<Versioned<PhaseLoop>>;
    fn holds() -> Vec<Versioned<Hold>>;
    fn spending(account: SpendingAccount) -> Option<Versioned<Spending>>;
    fn access_token(name: &PersonName) -> Option<Versioned<AccessToken>>;
    fn access_tokens() -> Vec<Versioned<AccessToken>>;
    fn verdict(key: &VerdictKey) -> Option<Versioned<Verdict>>;
    fn last_verdicts(limit: u32) -> Vec<Versioned<Verdict>>;
    fn attachments(session: &SessionId, limit: u32) -> Vec<Versioned<Attachment>>;
    fn routine(id: RoutineId) -> Option<Versioned<Routine>>;
    fn routines() -> Vec<Versioned<Routine>>;
    fn receipt(key: &ReceiptKey) -> Option<Receipt>;
    fn events_after(seq: u64, limit: u32) -> Vec<StoredEvent>;
    fn task_events(task: TaskId, after: u64, limit: u32) -> Vec<StoredEvent>;
    fn pending_effects(after: Option<EffectId>, limit: u32) -> Vec<PendingEffect>;
    fn finish_effects(ids: &[EffectId]) -> ();
    fn prune(retention: &EventRetention) -> PruneResult;
    fn backup(to: &Path) -> ();
    fn close() -> ();
}
