//! The calls that both kinds of store implement. Only [`Store`](crate::Store) uses it; callers above see that one type.

use std::collections::BTreeMap;
use std::future::Future;
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
use baton_core::state::Queue;
use baton_core::task::Task;
use baton_core::text::PersonName;
use baton_core::time::Timestamp;
use baton_core::worker::{Sighting, Worker};
use tokio::sync::watch;

use crate::claim::{ClaimRequest, Claimed};
use crate::commit::Commit;
use crate::error::StoreError;
use crate::lease::Lease;
use crate::outbox::PendingEffect;
use crate::postgres::LogLine;
use crate::query::{Cursor, Page, Pruned, QuestionFilter, Retention, TaskDependency, TaskFilter, TaskGroup};
use crate::recorded::Recorded;

type Answer<T> = Result<T, StoreError>;

/// One kind of store. Cheap to clone; all clones share the same rows.
pub trait Backend: Clone + Send + Sync + 'static {
    /// The store's own clock. Leases are judged by it alone, whatever the workers' clocks say.
    fn now(&self) -> impl Future<Output = Answer<Timestamp>> + Send;

    /// Writes all of `change` or none of it, durably before it returns. A row that moved on meanwhile is an
    /// answer, not an error: read again and decide again.
    fn commit(&self, change: Change) -> impl Future<Output = Answer<Commit>> + Send;

    /// Claims as much ready work as core's order and limits allow, in one transaction.
    fn claim(&self, request: ClaimRequest) -> impl Future<Output = Answer<Vec<Claimed>>> + Send;

    /// Renews the leases still held by `worker` and returns the attempts whose lease it no longer holds. One that
    /// has run out but was taken back by nobody is still held.
    fn renew(
        &self,
        worker: &str,
        attempts: &[AttemptId],
        lease_ms: i64,
    ) -> impl Future<Output = Answer<Vec<AttemptId>>> + Send;
    fn leases(&self) -> impl Future<Output = Answer<Vec<Lease>>> + Send;
    fn expired_leases(&self, limit: u32) -> impl Future<Output = Answer<Vec<Lease>>> + Send;

    /// Notes that a worker lives, and how it describes itself.
    fn beat(&self, worker: &Worker) -> impl Future<Output = Answer<()>> + Send;
    /// Everyone who was ever heard of and has not taken leave, by name.
    fn workers(&self) -> impl Future<Output = Answer<Vec<Sighting>>> + Send;
    /// A worker goes, or is known to come back no more.
    fn forget_worker(&self, name: &str) -> impl Future<Output = Answer<()>> + Send;
    /// Takes what only one may have at a time, or has it for longer; false while somebody else does. A holder that is
    /// not heard of for `lock_ms` on the store's clock has lost it.
    fn lock(&self, name: &str, holder: &str, lock_ms: i64) -> impl Future<Output = Answer<bool>> + Send;
    fn unlock(&self, name: &str, holder: &str) -> impl Future<Output = Answer<()>> + Send;

    fn project(&self, id: ProjectId) -> impl Future<Output = Answer<Option<Stored<Project>>>> + Send;
    fn projects(
        &self,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> impl Future<Output = Answer<Page<Project>>> + Send;
    fn session(&self, id: &SessionId) -> impl Future<Output = Answer<Option<Stored<Session>>>> + Send;
    /// In the order they were said, after the message of number `after`.
    fn messages(
        &self,
        session: &SessionId,
        after: u32,
        limit: u32,
    ) -> impl Future<Output = Answer<Vec<Message>>> + Send;

    fn task(&self, id: TaskId) -> impl Future<Output = Answer<Option<Stored<Task>>>> + Send;
    /// Oldest first.
    fn tasks(
        &self,
        filter: &TaskFilter,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> impl Future<Output = Answer<Page<Stored<Task>>>> + Send;
    /// What could be claimed now, in claim order.
    fn ready(&self, limit: u32) -> impl Future<Output = Answer<Vec<Stored<Task>>>> + Send;
    fn ready_count(&self) -> impl Future<Output = Answer<u64>> + Send;
    /// How many tasks are in each queue but `done`; queues without any may be missing.
    fn queue_counts(&self) -> impl Future<Output = Answer<BTreeMap<Queue, u64>>> + Send;
    /// Every task whose id begins with `prefix`, up to `limit`: two are enough to know it is not unique.
    fn tasks_by_prefix(&self, prefix: &str, limit: u32) -> impl Future<Output = Answer<Vec<TaskId>>> + Send;
    /// What `task` waits on, met or not, in id order.
    fn dependencies(&self, task: TaskId) -> impl Future<Output = Answer<Vec<TaskDependency>>> + Send;
    /// What waits on `task`, in id order, after `after`.
    fn dependents(
        &self,
        task: TaskId,
        after: Option<TaskId>,
        limit: u32,
    ) -> impl Future<Output = Answer<Vec<TaskDependency>>> + Send;
    /// Oldest first; a group is as old as its first task.
    fn task_groups(
        &self,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> impl Future<Output = Answer<Page<TaskGroup>>> + Send;

    /// All attempts of a task, first to last.
    fn attempts(&self, task: TaskId) -> impl Future<Output = Answer<Vec<AttemptRecord>>> + Send;
    fn attempt(&self, id: AttemptId) -> impl Future<Output = Answer<Option<AttemptRecord>>> + Send;
    /// The worker of each of these attempts that ran on one known by a name.
    fn workers_of(
        &self,
        attempts: &[AttemptId],
    ) -> impl Future<Output = Answer<BTreeMap<AttemptId, String>>> + Send;
    fn question(&self, id: QuestionId)
    -> impl Future<Output = Answer<Option<Stored<QuestionRecord>>>> + Send;
    /// Oldest first.
    fn questions(
        &self,
        filter: &QuestionFilter,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> impl Future<Output = Answer<Page<Stored<QuestionRecord>>>> + Send;
    fn plan(&self, breakdown: TaskId) -> impl Future<Output = Answer<Option<Stored<PlanRecord>>>> + Send;
    fn run(&self, id: RunId) -> impl Future<Output = Answer<Option<Stored<Run>>>> + Send;
    /// Runs that have not exited.
    fn open_runs(&self) -> impl Future<Output = Answer<Vec<Stored<Run>>>> + Send;
    fn phase_loop(
        &self,
        session: &SessionId,
    ) -> impl Future<Output = Answer<Option<Stored<PhaseLoop>>>> + Send;

    /// The last hold of every agent that ever had one, released or not, by the agent's name.
    fn holds(&self) -> impl Future<Output = Answer<Vec<Stored<Hold>>>> + Send;
    /// What an account has used so far; none before its first.
    fn spending(&self, account: Account) -> impl Future<Output = Answer<Option<Stored<Spending>>>> + Send;

    /// The last token of a name, good or not.
    fn access_token(
        &self,
        name: &PersonName,
    ) -> impl Future<Output = Answer<Option<Stored<AccessToken>>>> + Send;
    /// All of them, by name.
    fn access_tokens(&self) -> impl Future<Output = Answer<Vec<Stored<AccessToken>>>> + Send;

    /// What came of the message that carried this key, if one did.
    fn receipt(&self, key: &ReceiptKey) -> impl Future<Output = Answer<Option<Receipt>>> + Send;

    /// The history after `seq`, oldest first, without gaps: a reader that goes on from the last number it saw
    /// misses nothing and sees nothing twice. Only what `prune` removed is missing; no number is given again.
    fn events_after(&self, seq: u64, limit: u32) -> impl Future<Output = Answer<Vec<Recorded>>> + Send;
    /// The history of one task.
    fn task_events(
        &self,
        task: TaskId,
        after: u64,
        limit: u32,
    ) -> impl Future<Output = Answer<Vec<Recorded>>> + Send;
    /// The highest event number known here. It changes soon after any commit, by this process or another, and
    /// it is marked as changed, with the same number, when work became ready without an event.
    fn subscribe(&self) -> watch::Receiver<u64>;
    /// The way to logs of other machines; none where the store is a file, and all its work on one machine.
    fn log_line(&self) -> Option<LogLine>;

    /// Effects not yet carried out, oldest first, after `after`. One that is caused later has a higher id, so a
    /// reader that goes on from the last id it saw misses none.
    fn pending_effects(
        &self,
        after: Option<EffectId>,
        limit: u32,
    ) -> impl Future<Output = Answer<Vec<PendingEffect>>> + Send;
    /// Marks effects as carried out. Doing so twice is as good as once.
    fn finish_effects(&self, ids: &[EffectId]) -> impl Future<Output = Answer<()>> + Send;

    /// Removes old history that nobody needs, a bounded piece at a time.
    fn prune(&self, retention: &Retention) -> impl Future<Output = Answer<Pruned>> + Send;
    /// A consistent copy while work goes on, where the backend can make one itself.
    fn backup(&self, to: &Path) -> impl Future<Output = Answer<()>> + Send;
    /// Waits for what is being written, then lets go of the files or connections.
    fn close(&self) -> impl Future<Output = Answer<()>> + Send;
}
