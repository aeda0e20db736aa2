//! The interface both backends implement. Code above this crate uses [`Store`](crate::Store) instead.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;

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
use baton_core::records::change::{Change, Versioned};
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

use crate::error::StoreError;
use crate::model::claim::{ClaimRequest, ClaimedTask};
use crate::model::commit::Commit;
use crate::model::event::StoredEvent;
use crate::model::lease::Lease;
use crate::model::outbox::PendingEffect;
use crate::model::query::{
    Cursor, EventRetention, Page, PruneResult, QuestionFilter, RunFilter, TaskDependency, TaskFilter,
    TaskGroup,
};

type Result<T> = std::result::Result<T, StoreError>;

/// One storage backend. Cheap to clone; all clones share the same rows.
pub trait Backend: Clone + Send + Sync + 'static {
    /// The store's clock. Leases expire by this clock only, never by a worker's.
    fn now(&self) -> impl Future<Output = Result<Timestamp>> + Send;

    /// Writes all of `change` or none of it; it is durable when this returns. A row that changed since it was read is
    /// a [`Commit::Conflict`], not an error: read again and decide again.
    fn commit(&self, change: Change) -> impl Future<Output = Result<Commit>> + Send;

    /// Claims as much ready work as core's order and limits allow, in one transaction.
    fn claim(&self, request: ClaimRequest) -> impl Future<Output = Result<Vec<ClaimedTask>>> + Send;

    /// Renews the leases `worker` still holds and returns the attempts whose lease it has lost. A lease that expired
    /// but was not reclaimed is still held.
    fn renew(
        &self,
        worker: &str,
        attempts: &[AttemptId],
        lease_ms: i64,
    ) -> impl Future<Output = Result<Vec<AttemptId>>> + Send;
    fn leases(&self) -> impl Future<Output = Result<Vec<Lease>>> + Send;
    fn expired_leases(&self, limit: u32) -> impl Future<Output = Result<Vec<Lease>>> + Send;

    /// Records a heartbeat of a worker and its description.
    fn beat(&self, worker: &Worker) -> impl Future<Output = Result<()>> + Send;
    /// Every worker that has sent a heartbeat and was not forgotten, by name.
    fn workers(&self) -> impl Future<Output = Result<Vec<WorkerSighting>>> + Send;
    /// Removes a worker that has shut down or will not come back.
    fn forget_worker(&self, name: &str) -> impl Future<Output = Result<()>> + Send;
    /// Acquires or extends a named lock; false while another holder has it. The lock expires `lock_ms` after the
    /// holder's last call, by the store's clock.
    fn lock(&self, name: &str, holder: &str, lock_ms: i64) -> impl Future<Output = Result<bool>> + Send;
    fn unlock(&self, name: &str, holder: &str) -> impl Future<Output = Result<()>> + Send;

    fn project(&self, id: ProjectId) -> impl Future<Output = Result<Option<Versioned<Project>>>> + Send;
    fn projects(
        &self,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> impl Future<Output = Result<Page<Project>>> + Send;
    fn session(&self, id: &SessionId) -> impl Future<Output = Result<Option<Versioned<Session>>>> + Send;
    /// Messages numbered above `after`, in order.
    fn messages(
        &self,
        session: &SessionId,
        after: u32,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Message>>> + Send;

    /// The last `limit` messages of a session, or the last before number `before`, in order.
    fn last_messages(
        &self,
        session: &SessionId,
        before: Option<u32>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Message>>> + Send;

    fn task(&self, id: TaskId) -> impl Future<Output = Result<Option<Versioned<Task>>>> + Send;
    /// Oldest first.
    fn tasks(
        &self,
        filter: &TaskFilter,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> impl Future<Output = Result<Page<Versioned<Task>>>> + Send;
    /// Tasks that could be claimed now, in claim order.
    fn ready(&self, limit: u32) -> impl Future<Output = Result<Vec<Versioned<Task>>>> + Send;
    fn ready_count(&self) -> impl Future<Output = Result<u64>> + Send;
    /// Those of `ids` that exist, in id order.
    fn tasks_by_ids(&self, ids: &[TaskId]) -> impl Future<Output = Result<Vec<Versioned<Task>>>> + Send;
    /// How many tasks match, counted up to `max`.
    fn count_tasks(&self, filter: &TaskFilter, max: u32) -> impl Future<Output = Result<u64>> + Send;
    /// How many tasks each queue holds; empty queues are left out. Scans a whole index: for metrics, not for pages.
    fn queue_depths(&self) -> impl Future<Output = Result<BTreeMap<QueueName, u64>>> + Send;
    /// Up to `limit` tasks whose id begins with `prefix`; two are enough to know it is ambiguous.
    fn tasks_by_prefix(&self, prefix: &str, limit: u32) -> impl Future<Output = Result<Vec<TaskId>>> + Send;
    /// What `task` depends on, met or not, in id order.
    fn dependencies(&self, task: TaskId) -> impl Future<Output = Result<Vec<TaskDependency>>> + Send;
    /// What depends on `task`, in id order, after `after`.
    fn dependents(
        &self,
        task: TaskId,
        after: Option<TaskId>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<TaskDependency>>> + Send;
    /// The dependencies of each of `tasks`, met or not, ordered by task and then by dependency.
    fn dependencies_of_many(
        &self,
        tasks: &[TaskId],
    ) -> impl Future<Output = Result<Vec<TaskDependency>>> + Send;
    /// The dependents of each of `tasks`, at most `limit_each` for each, ordered by the task depended on and then by
    /// dependent.
    fn dependents_of_many(
        &self,
        tasks: &[TaskId],
        limit_each: u32,
    ) -> impl Future<Output = Result<Vec<TaskDependency>>> + Send;
    /// Oldest first; the age of a group is that of its first task.
    fn task_groups(
        &self,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> impl Future<Output = Result<Page<TaskGroup>>> + Send;

    /// The groups with the most recent activity, newest first. Only the latest events are searched for activity;
    /// groups without any follow by age.
    fn recent_task_groups(&self, limit: u32) -> impl Future<Output = Result<Vec<TaskGroup>>> + Send;

    /// All attempts of a task, in order.
    fn attempts(&self, task: TaskId) -> impl Future<Output = Result<Vec<AttemptRecord>>> + Send;
    /// All attempts of each of `tasks`, ordered by task and number.
    fn attempts_of_many(&self, tasks: &[TaskId]) -> impl Future<Output = Result<Vec<AttemptRecord>>> + Send;
    /// The last attempt of each of `tasks` that has one, ordered by task.
    fn last_attempts(&self, tasks: &[TaskId]) -> impl Future<Output = Result<Vec<AttemptRecord>>> + Send;
    fn attempt(&self, id: AttemptId) -> impl Future<Output = Result<Option<AttemptRecord>>> + Send;
    /// The worker that ran each of these attempts, where it is known.
    fn workers_of(
        &self,
        attempts: &[AttemptId],
    ) -> impl Future<Output = Result<BTreeMap<AttemptId, String>>> + Send;
    fn question(
        &self,
        id: QuestionId,
    ) -> impl Future<Output = Result<Option<Versioned<QuestionRecord>>>> + Send;
    /// Oldest first.
    fn questions(
        &self,
        filter: &QuestionFilter,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> impl Future<Output = Result<Page<Versioned<QuestionRecord>>>> + Send;
    /// Those of `ids` that exist, in id order.
    fn questions_by_ids(
        &self,
        ids: &[QuestionId],
    ) -> impl Future<Output = Result<Vec<Versioned<QuestionRecord>>>> + Send;
    /// The questions of each of `tasks`, filtered by `is_pending` if given, ordered by task and then oldest first.
    fn questions_of_many(
        &self,
        tasks: &[TaskId],
        is_pending: Option<bool>,
    ) -> impl Future<Output = Result<Vec<Versioned<QuestionRecord>>>> + Send;
    /// How many questions match, counted up to `max`.
    fn count_questions(&self, filter: &QuestionFilter, max: u32) -> impl Future<Output = Result<u64>> + Send;
    fn plan(&self, breakdown: TaskId) -> impl Future<Output = Result<Option<Versioned<PlanRecord>>>> + Send;
    fn run(&self, id: RunId) -> impl Future<Output = Result<Option<Versioned<Run>>>> + Send;
    /// Runs that have not exited.
    fn open_runs(&self) -> impl Future<Output = Result<Vec<Versioned<Run>>>> + Send;
    /// Newest first.
    fn runs(
        &self,
        filter: &RunFilter,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> impl Future<Output = Result<Page<Versioned<Run>>>> + Send;
    fn phase_loop(
        &self,
        session: &SessionId,
    ) -> impl Future<Output = Result<Option<Versioned<PhaseLoop>>>> + Send;

    /// The latest hold of every agent that ever had one, released or not, by agent name.
    fn holds(&self) -> impl Future<Output = Result<Vec<Versioned<Hold>>>> + Send;
    /// What an account has used so far; `None` before its first use.
    fn spending(
        &self,
        account: SpendingAccount,
    ) -> impl Future<Output = Result<Option<Versioned<Spending>>>> + Send;

    /// The latest token of this name, valid or not.
    fn access_token(
        &self,
        name: &PersonName,
    ) -> impl Future<Output = Result<Option<Versioned<AccessToken>>>> + Send;
    /// The latest token of every name, by name.
    fn access_tokens(&self) -> impl Future<Output = Result<Vec<Versioned<AccessToken>>>> + Send;

    /// What is known about a tree.
    fn verdict(&self, key: &VerdictKey) -> impl Future<Output = Result<Option<Versioned<Verdict>>>> + Send;
    /// The verdicts reached last, newest first.
    fn last_verdicts(&self, limit: u32) -> impl Future<Output = Result<Vec<Versioned<Verdict>>>> + Send;

    /// The files of a session, newest first.
    fn attachments(
        &self,
        session: &SessionId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Versioned<Attachment>>>> + Send;

    fn routine(&self, id: RoutineId) -> impl Future<Output = Result<Option<Versioned<Routine>>>> + Send;
    /// All routines that were not removed, oldest first.
    fn routines(&self) -> impl Future<Output = Result<Vec<Versioned<Routine>>>> + Send;

    /// The result of the request that carried this idempotency key, if there was one.
    fn receipt(&self, key: &ReceiptKey) -> impl Future<Output = Result<Option<Receipt>>> + Send;

    /// Events after `seq`, oldest first, without gaps: a reader that continues from the last number it saw misses
    /// nothing and sees nothing twice. Only `prune` removes events; numbers are never reused.
    fn events_after(&self, seq: u64, limit: u32) -> impl Future<Output = Result<Vec<StoredEvent>>> + Send;
    /// The events of one task.
    fn task_events(
        &self,
        task: TaskId,
        after: u64,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<StoredEvent>>> + Send;
    /// The highest event number known to this process. Changes shortly after any commit, by this process or another;
    /// marked as changed with the same number when work became ready without an event.
    fn subscribe(&self) -> watch::Receiver<u64>;

    /// Effects not yet carried out, oldest first, after `after`. Ids grow with the commits, so a reader that
    /// continues from the last id it saw misses none.
    fn pending_effects(
        &self,
        after: Option<EffectId>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<PendingEffect>>> + Send;
    /// Marks effects as carried out. Idempotent.
    fn finish_effects(&self, ids: &[EffectId]) -> impl Future<Output = Result<()>> + Send;

    /// Deletes old events, a bounded number at a time.
    fn prune(&self, retention: &EventRetention) -> impl Future<Output = Result<PruneResult>> + Send;
    /// Makes a consistent copy while the store is in use, if the backend can do that itself.
    fn backup(&self, to: &Path) -> impl Future<Output = Result<()>> + Send;
    /// Finishes pending writes, then closes files and connections.
    fn close(&self) -> impl Future<Output = Result<()>> + Send;
}
