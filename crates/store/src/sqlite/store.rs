//! The trait, in terms of the writer and the readers.

use std::collections::BTreeMap;
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

use super::SqliteStore;
use super::apply::apply;
use super::fault::Fault;
use super::job::Done;
use super::rendered::Rendered;
use super::rows::{body, find, of_attempt, of_task, stored};
use super::{backup, claim, graph, groups, history, leases, lists, rows, workers};
use crate::backend::Backend;
use crate::claim::{ClaimRequest, Claimed};
use crate::commit::Commit;
use crate::error::StoreError;
use crate::lease::Lease;
use crate::outbox::PendingEffect;
use crate::postgres::LogLine;
use crate::query::{Cursor, Page, Pruned, QuestionFilter, Retention, TaskDependency, TaskFilter, TaskGroup};
use crate::recorded::Recorded;

type Answer<T> = Result<T, StoreError>;

impl Backend for SqliteStore {
    async fn now(&self) -> Answer<Timestamp> {
        Ok((self.0.clock)())
    }

    async fn commit(&self, change: Change) -> Answer<Commit> {
        let change = Rendered::of(change)?;
        let work = move |batch: &mut super::batch::Batch<'_>| match apply(batch, &change) {
            Ok(last_seq) => Ok(Done::Keep(Commit::Written { last_seq })),
            Err(Fault::Conflict(conflict)) => Ok(Done::Undo(Commit::Conflict(conflict))),
            Err(fault) => Err(fault),
        };
        self.0.writer.write("writing a change", work).await
    }

    async fn claim(&self, request: ClaimRequest) -> Answer<Vec<Claimed>> {
        self.0.writer.claim("claiming work", move |batch| claim::claim(batch, &request).map(Done::Keep)).await
    }

    async fn renew(&self, worker: &str, attempts: &[AttemptId], lease_ms: i64) -> Answer<Vec<AttemptId>> {
        let (worker, attempts) = (worker.to_owned(), attempts.to_vec());
        let work = move |batch: &mut super::batch::Batch<'_>| {
            leases::renew(batch, &worker, &attempts, lease_ms).map(Done::Keep)
        };
        self.0.writer.write("renewing leases", work).await
    }

    async fn leases(&self) -> Answer<Vec<Lease>> {
        self.0.readers.read("reading leases", leases::all).await
    }

    async fn expired_leases(&self, limit: u32) -> Answer<Vec<Lease>> {
        let now = (self.0.clock)();
        self.0.readers.read("reading leases", move |conn| leases::expired(conn, now, limit)).await
    }

    async fn beat(&self, worker: &Worker) -> Answer<()> {
        let worker = worker.clone();
        let work = move |batch: &mut super::batch::Batch<'_>| workers::beat(batch, &worker).map(Done::Keep);
        self.0.writer.write("noting a worker", work).await
    }

    async fn workers(&self) -> Answer<Vec<Sighting>> {
        self.0.readers.read("reading workers", workers::all).await
    }

    async fn forget_worker(&self, name: &str) -> Answer<()> {
        let name = name.to_owned();
        let work = move |batch: &mut super::batch::Batch<'_>| workers::leave(batch, &name).map(Done::Keep);
        self.0.writer.write("forgetting a worker", work).await
    }

    async fn lock(&self, name: &str, holder: &str, lock_ms: i64) -> Answer<bool> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        let work = move |batch: &mut super::batch::Batch<'_>| {
            workers::lock(batch, &name, &holder, lock_ms).map(Done::Keep)
        };
        self.0.writer.write("taking a lock", work).await
    }

    async fn unlock(&self, name: &str, holder: &str) -> Answer<()> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        let work =
            move |batch: &mut super::batch::Batch<'_>| workers::unlock(batch, &name, &holder).map(Done::Keep);
        self.0.writer.write("letting a lock go", work).await
    }

    async fn project(&self, id: ProjectId) -> Answer<Option<Stored<Project>>> {
        let sql = "SELECT version, body FROM projects WHERE id = ?1";
        let read = move |conn: &_| find(conn, sql, [i64::from(id.bits())], "project", id);
        self.0.readers.read("reading a project", read).await
    }

    async fn projects(&self, cursor: Option<Cursor>, limit: u32) -> Answer<Page<Project>> {
        let read = move |conn: &_| lists::projects(conn, cursor.as_ref(), limit);
        self.0.readers.read("reading projects", read).await
    }

    async fn session(&self, id: &SessionId) -> Answer<Option<Stored<Session>>> {
        let id = id.to_string();
        let sql = "SELECT version, body FROM sessions WHERE id = ?1";
        self.0.readers.read("reading a session", move |conn| find(conn, sql, [&id], "session", &id)).await
    }

    async fn messages(&self, session: &SessionId, after: u32, limit: u32) -> Answer<Vec<Message>> {
        let session = session.to_string();
        let read = move |conn: &rusqlite::Connection| {
            let sql = "SELECT version, body FROM messages WHERE session = ?1 AND number > ?2 ORDER BY number LIMIT ?3";
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query((&session, after, limit))?;
            let mut messages = Vec::new();
            while let Some(row) = rows.next()? {
                messages.push(body(row.get_ref(1)?, "message", &session)?);
            }
            Ok(messages)
        };
        self.0.readers.read("reading messages", read).await
    }

    async fn task(&self, id: TaskId) -> Answer<Option<Stored<Task>>> {
        self.0.readers.read("reading a task", move |conn| rows::task(conn, of_task(id))).await
    }

    async fn tasks(
        &self,
        filter: &TaskFilter,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> Answer<Page<Stored<Task>>> {
        let filter = filter.clone();
        let read = move |conn: &_| lists::tasks(conn, &filter, cursor.as_ref(), limit);
        self.0.readers.read("reading tasks", read).await
    }

    async fn ready(&self, limit: u32) -> Answer<Vec<Stored<Task>>> {
        self.0.readers.read("reading what is ready", move |conn| graph::ready(conn, limit)).await
    }

    async fn ready_count(&self) -> Answer<u64> {
        self.0.readers.read("reading what is ready", graph::ready_count).await
    }

    async fn queue_counts(&self) -> Answer<BTreeMap<Queue, u64>> {
        self.0.readers.read("counting tasks", graph::queue_counts).await
    }

    async fn tasks_by_prefix(&self, prefix: &str, limit: u32) -> Answer<Vec<TaskId>> {
        let prefix = prefix.to_owned();
        self.0.readers.read("reading tasks", move |conn| graph::tasks_by_prefix(conn, &prefix, limit)).await
    }

    async fn dependencies(&self, task: TaskId) -> Answer<Vec<TaskDependency>> {
        self.0.readers.read("reading dependencies", move |conn| graph::dependencies(conn, task)).await
    }

    async fn dependents(
        &self,
        task: TaskId,
        after: Option<TaskId>,
        limit: u32,
    ) -> Answer<Vec<TaskDependency>> {
        self.0
            .readers
            .read("reading dependents", move |conn| graph::dependents(conn, task, after, limit))
            .await
    }

    async fn task_groups(&self, cursor: Option<Cursor>, limit: u32) -> Answer<Page<TaskGroup>> {
        let read = move |conn: &_| groups::task_groups(conn, cursor.as_ref(), limit);
        self.0.readers.read("reading task groups", read).await
    }

    async fn attempts(&self, task: TaskId) -> Answer<Vec<AttemptRecord>> {
        let read = move |conn: &rusqlite::Connection| {
            let sql = "SELECT version, body FROM attempts WHERE task = ?1 ORDER BY number";
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query([of_task(task)])?;
            let mut attempts = Vec::new();
            while let Some(row) = rows.next()? {
                attempts.push(body(row.get_ref(1)?, "attempt", task)?);
            }
            Ok(attempts)
        };
        self.0.readers.read("reading attempts", read).await
    }

    async fn attempt(&self, id: AttemptId) -> Answer<Option<AttemptRecord>> {
        let sql = "SELECT version, body FROM attempts WHERE id = ?1";
        let read = move |conn: &_| find(conn, sql, [of_attempt(id)], "attempt", id);
        let found: Option<Stored<AttemptRecord>> = self.0.readers.read("reading an attempt", read).await?;
        Ok(found.map(|stored| stored.value))
    }

    async fn workers_of(&self, attempts: &[AttemptId]) -> Answer<BTreeMap<AttemptId, String>> {
        let mut workers = BTreeMap::new();
        for attempt in attempts {
            let worker = self.attempt(*attempt).await?.and_then(|record| record.attempt.worker);
            workers.extend(worker.map(|worker| (*attempt, worker)));
        }
        Ok(workers)
    }

    async fn question(&self, id: QuestionId) -> Answer<Option<Stored<QuestionRecord>>> {
        let sql = "SELECT version, body FROM questions WHERE id = ?1";
        let read = move |conn: &_| find(conn, sql, [i64::from(id.bits())], "question", id);
        self.0.readers.read("reading a question", read).await
    }

    async fn questions(
        &self,
        filter: &QuestionFilter,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> Answer<Page<Stored<QuestionRecord>>> {
        let filter = filter.clone();
        let read = move |conn: &_| lists::questions(conn, &filter, cursor.as_ref(), limit);
        self.0.readers.read("reading questions", read).await
    }

    async fn plan(&self, breakdown: TaskId) -> Answer<Option<Stored<PlanRecord>>> {
        let sql = "SELECT version, body FROM plans WHERE task = ?1";
        let read = move |conn: &_| find(conn, sql, [of_task(breakdown)], "plan", breakdown);
        self.0.readers.read("reading a plan", read).await
    }

    async fn run(&self, id: RunId) -> Answer<Option<Stored<Run>>> {
        let sql = "SELECT version, body FROM runs WHERE id = ?1";
        let read = move |conn: &_| find(conn, sql, [i64::from(id.bits())], "run", id);
        self.0.readers.read("reading a run", read).await
    }

    async fn open_runs(&self) -> Answer<Vec<Stored<Run>>> {
        let read = |conn: &rusqlite::Connection| {
            let mut statement =
                conn.prepare_cached("SELECT version, body FROM runs WHERE is_open = 1 ORDER BY id")?;
            let mut rows = statement.query([])?;
            let mut runs = Vec::new();
            while let Some(row) = rows.next()? {
                runs.push(stored(row, "run", "")?);
            }
            Ok(runs)
        };
        self.0.readers.read("reading runs", read).await
    }

    async fn phase_loop(&self, session: &SessionId) -> Answer<Option<Stored<PhaseLoop>>> {
        let id = session.to_string();
        let sql = "SELECT version, body FROM loops WHERE session = ?1";
        self.0.readers.read("reading a loop", move |conn| find(conn, sql, [&id], "loop", &id)).await
    }

    async fn holds(&self) -> Answer<Vec<Stored<Hold>>> {
        let read = |conn: &rusqlite::Connection| {
            let mut statement = conn.prepare_cached("SELECT version, body FROM holds ORDER BY agent")?;
            let mut rows = statement.query([])?;
            let mut holds = Vec::new();
            while let Some(row) = rows.next()? {
                holds.push(stored(row, "hold", "")?);
            }
            Ok(holds)
        };
        self.0.readers.read("reading holds", read).await
    }

    async fn spending(&self, account: Account) -> Answer<Option<Stored<Spending>>> {
        let key = account.key();
        let sql = "SELECT version, body FROM spendings WHERE account = ?1";
        let read = move |conn: &_| find(conn, sql, [&key], "spending", &key);
        self.0.readers.read("reading what was used", read).await
    }

    async fn access_token(&self, name: &PersonName) -> Answer<Option<Stored<AccessToken>>> {
        let name = name.to_string();
        let sql = "SELECT version, body FROM access_tokens WHERE name = ?1";
        let read = move |conn: &_| find(conn, sql, [&name], "access_token", &name);
        self.0.readers.read("reading a token", read).await
    }

    async fn access_tokens(&self) -> Answer<Vec<Stored<AccessToken>>> {
        let read = |conn: &rusqlite::Connection| {
            let mut statement =
                conn.prepare_cached("SELECT version, body FROM access_tokens ORDER BY name")?;
            let mut rows = statement.query([])?;
            let mut tokens = Vec::new();
            while let Some(row) = rows.next()? {
                tokens.push(stored(row, "access_token", "")?);
            }
            Ok(tokens)
        };
        self.0.readers.read("reading tokens", read).await
    }

    async fn receipt(&self, key: &ReceiptKey) -> Answer<Option<Receipt>> {
        let key = key.to_string();
        let sql = "SELECT version, body FROM receipts WHERE key = ?1";
        let read = move |conn: &_| find(conn, sql, [&key], "receipt", &key);
        let found: Option<Stored<Receipt>> = self.0.readers.read("reading a receipt", read).await?;
        Ok(found.map(|stored| stored.value))
    }

    async fn events_after(&self, seq: u64, limit: u32) -> Answer<Vec<Recorded>> {
        self.0.readers.read("reading events", move |conn| history::events_after(conn, seq, limit)).await
    }

    async fn task_events(&self, task: TaskId, after: u64, limit: u32) -> Answer<Vec<Recorded>> {
        let read = move |conn: &_| history::task_events(conn, of_task(task), after, limit);
        self.0.readers.read("reading events", read).await
    }

    fn log_line(&self) -> Option<LogLine> {
        None
    }

    fn subscribe(&self) -> watch::Receiver<u64> {
        self.0.newest.subscribe()
    }

    async fn pending_effects(&self, after: Option<EffectId>, limit: u32) -> Answer<Vec<PendingEffect>> {
        let reading = move |conn: &_| history::pending_effects(conn, after, limit);
        self.0.readers.read("reading the outbox", reading).await
    }

    async fn finish_effects(&self, ids: &[EffectId]) -> Answer<()> {
        let ids = ids.to_vec();
        let work =
            move |batch: &mut super::batch::Batch<'_>| history::finish_effects(batch, &ids).map(Done::Keep);
        self.0.writer.write("finishing effects", work).await
    }

    async fn prune(&self, retention: &Retention) -> Answer<Pruned> {
        let retention = *retention;
        let found =
            self.0.readers.read("looking for old events", move |conn| history::forgettable(conn, &retention));
        let found = found.await?;
        let is_more = found.len() >= retention.rows_max as usize;
        let work = move |batch: &mut super::batch::Batch<'_>| history::forget(batch, &found).map(Done::Keep);
        let events = self.0.writer.write("removing old events", work).await?;
        Ok(Pruned { events, is_more })
    }

    async fn backup(&self, to: &Path) -> Answer<()> {
        let (to, onlooker) = (to.to_owned(), self.0.onlooker.clone());
        self.0.readers.read("backing up", move |conn| backup::backup(conn, &to, &onlooker)).await
    }

    async fn close(&self) -> Answer<()> {
        self.0.let_go();
        self.0.alive.all_gone().await;
        Ok(())
    }
}
