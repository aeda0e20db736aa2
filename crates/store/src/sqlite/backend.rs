//! The trait, in terms of the writer and the readers.

use std::collections::BTreeMap;
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

use crate::backend::Backend;
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
use crate::model::record_kind::RecordKind;
use crate::sqlite::SqliteStore;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::rows::{attempt_key, body, find, stored, task_key};
use crate::sqlite::threads::job::WriteOutcome;
use crate::sqlite::transaction::Transaction;
use crate::sqlite::write::apply::apply;
use crate::sqlite::write::rendered::RenderedChange;
use crate::sqlite::{file, read, rows, write};

type Result<T> = std::result::Result<T, StoreError>;

impl Backend for SqliteStore {
    async fn now(&self) -> Result<Timestamp> {
        Ok((self.0.clock)())
    }

    async fn commit(&self, change: Change) -> Result<Commit> {
        let change = RenderedChange::render(change)?;
        let work = move |tx: &mut Transaction<'_>| match apply(tx, &change) {
            Ok(last_seq) => Ok(WriteOutcome::Keep(Commit::Written { last_seq })),
            Err(SqliteFault::Conflict(conflict)) => Ok(WriteOutcome::RollBack(Commit::Conflict(conflict))),
            Err(fault) => Err(fault),
        };
        self.0.writer.write("writing a change", work).await
    }

    async fn claim(&self, request: ClaimRequest) -> Result<Vec<ClaimedTask>> {
        self.0
            .writer
            .claim("claiming work", move |tx| write::claim::claim(tx, &request).map(WriteOutcome::Keep))
            .await
    }

    async fn renew(&self, worker: &str, attempts: &[AttemptId], lease_ms: i64) -> Result<Vec<AttemptId>> {
        let (worker, attempts) = (worker.to_owned(), attempts.to_vec());
        let work = move |tx: &mut Transaction<'_>| {
            write::leases::renew(tx, &worker, &attempts, lease_ms).map(WriteOutcome::Keep)
        };
        self.0.writer.write("renewing leases", work).await
    }

    async fn leases(&self) -> Result<Vec<Lease>> {
        self.0.readers.read("reading leases", read::leases::all).await
    }

    async fn expired_leases(&self, limit: u32) -> Result<Vec<Lease>> {
        let now = (self.0.clock)();
        self.0.readers.read("reading leases", move |conn| read::leases::expired(conn, now, limit)).await
    }

    async fn beat(&self, worker: &Worker) -> Result<()> {
        let worker = worker.clone();
        let work = move |tx: &mut Transaction<'_>| write::workers::beat(tx, &worker).map(WriteOutcome::Keep);
        self.0.writer.write("recording a heartbeat", work).await
    }

    async fn workers(&self) -> Result<Vec<WorkerSighting>> {
        self.0.readers.read("reading workers", read::workers::all).await
    }

    async fn forget_worker(&self, name: &str) -> Result<()> {
        let name = name.to_owned();
        let work = move |tx: &mut Transaction<'_>| write::workers::forget(tx, &name).map(WriteOutcome::Keep);
        self.0.writer.write("forgetting a worker", work).await
    }

    async fn lock(&self, name: &str, holder: &str, lock_ms: i64) -> Result<bool> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        let work = move |tx: &mut Transaction<'_>| {
            write::workers::lock(tx, &name, &holder, lock_ms).map(WriteOutcome::Keep)
        };
        self.0.writer.write("taking a lock", work).await
    }

    async fn unlock(&self, name: &str, holder: &str) -> Result<()> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        let work = move |tx: &mut Transaction<'_>| {
            write::workers::unlock(tx, &name, &holder).map(WriteOutcome::Keep)
        };
        self.0.writer.write("releasing a lock", work).await
    }

    async fn project(&self, id: ProjectId) -> Result<Option<Versioned<Project>>> {
        let sql = "SELECT version, body FROM projects WHERE id = ?1";
        let read = move |conn: &_| find(conn, sql, [i64::from(id.bits())], RecordKind::Project, id);
        self.0.readers.read("reading a project", read).await
    }

    async fn projects(&self, cursor: Option<Cursor>, limit: u32) -> Result<Page<Project>> {
        let read = move |conn: &_| read::lists::projects(conn, cursor.as_ref(), limit);
        self.0.readers.read("reading projects", read).await
    }

    async fn session(&self, id: &SessionId) -> Result<Option<Versioned<Session>>> {
        let id = id.to_string();
        let sql = "SELECT version, body FROM sessions WHERE id = ?1";
        self.0
            .readers
            .read("reading a session", move |conn| find(conn, sql, [&id], RecordKind::Session, &id))
            .await
    }

    async fn messages(&self, session: &SessionId, after: u32, limit: u32) -> Result<Vec<Message>> {
        let session = session.to_string();
        let read = move |conn: &rusqlite::Connection| {
            let sql = "SELECT version, body FROM messages WHERE session = ?1 AND number > ?2 ORDER BY number LIMIT ?3";
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query((&session, after, limit))?;
            let mut messages = Vec::new();
            while let Some(row) = rows.next()? {
                messages.push(body(row.get_ref(1)?, RecordKind::Message, &session)?);
            }
            Ok(messages)
        };
        self.0.readers.read("reading messages", read).await
    }

    async fn last_messages(
        &self,
        session: &SessionId,
        before: Option<u32>,
        limit: u32,
    ) -> Result<Vec<Message>> {
        let session = session.clone();
        let read = move |conn: &_| read::bulk::last_messages(conn, &session, before, limit);
        self.0.readers.read("reading messages", read).await
    }

    async fn task(&self, id: TaskId) -> Result<Option<Versioned<Task>>> {
        self.0.readers.read("reading a task", move |conn| rows::task(conn, task_key(id))).await
    }

    async fn tasks(
        &self,
        filter: &TaskFilter,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> Result<Page<Versioned<Task>>> {
        let filter = filter.clone();
        let read = move |conn: &_| read::lists::tasks(conn, &filter, cursor.as_ref(), limit);
        self.0.readers.read("reading tasks", read).await
    }

    async fn ready(&self, limit: u32) -> Result<Vec<Versioned<Task>>> {
        self.0.readers.read("reading ready tasks", move |conn| read::graph::ready(conn, limit)).await
    }

    async fn ready_count(&self) -> Result<u64> {
        self.0.readers.read("reading ready tasks", read::graph::ready_count).await
    }

    async fn tasks_by_ids(&self, ids: &[TaskId]) -> Result<Vec<Versioned<Task>>> {
        let ids = ids.to_vec();
        self.0.readers.read("reading tasks", move |conn| read::bulk::tasks_by_ids(conn, &ids)).await
    }

    async fn count_tasks(&self, filter: &TaskFilter, max: u32) -> Result<u64> {
        let filter = filter.clone();
        let read = move |conn: &_| read::lists::count_tasks(conn, &filter, max);
        self.0.readers.read("counting tasks", read).await
    }

    async fn queue_depths(&self) -> Result<BTreeMap<QueueName, u64>> {
        self.0.readers.read("counting tasks", read::lists::queue_depths).await
    }

    async fn tasks_by_prefix(&self, prefix: &str, limit: u32) -> Result<Vec<TaskId>> {
        let prefix = prefix.to_owned();
        self.0
            .readers
            .read("reading tasks", move |conn| read::graph::tasks_by_prefix(conn, &prefix, limit))
            .await
    }

    async fn dependencies(&self, task: TaskId) -> Result<Vec<TaskDependency>> {
        self.0.readers.read("reading dependencies", move |conn| read::graph::dependencies(conn, task)).await
    }

    async fn dependents(
        &self,
        task: TaskId,
        after: Option<TaskId>,
        limit: u32,
    ) -> Result<Vec<TaskDependency>> {
        self.0
            .readers
            .read("reading dependents", move |conn| read::graph::dependents(conn, task, after, limit))
            .await
    }

    async fn dependencies_of_many(&self, tasks: &[TaskId]) -> Result<Vec<TaskDependency>> {
        let tasks = tasks.to_vec();
        let read = move |conn: &_| read::bulk::dependencies_of_many(conn, &tasks);
        self.0.readers.read("reading dependencies", read).await
    }

    async fn dependents_of_many(&self, tasks: &[TaskId], limit_each: u32) -> Result<Vec<TaskDependency>> {
        let tasks = tasks.to_vec();
        let read = move |conn: &_| read::bulk::dependents_of_many(conn, &tasks, limit_each);
        self.0.readers.read("reading dependents", read).await
    }

    async fn task_groups(&self, cursor: Option<Cursor>, limit: u32) -> Result<Page<TaskGroup>> {
        let read = move |conn: &_| read::groups::task_groups(conn, cursor.as_ref(), limit);
        self.0.readers.read("reading task groups", read).await
    }

    async fn recent_task_groups(&self, limit: u32) -> Result<Vec<TaskGroup>> {
        let read = move |conn: &_| read::groups::recent_task_groups(conn, limit);
        self.0.readers.read("reading task groups", read).await
    }

    async fn attempts(&self, task: TaskId) -> Result<Vec<AttemptRecord>> {
        let read = move |conn: &rusqlite::Connection| {
            let sql = "SELECT version, body FROM attempts WHERE task = ?1 ORDER BY number";
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query([task_key(task)])?;
            let mut attempts = Vec::new();
            while let Some(row) = rows.next()? {
                attempts.push(body(row.get_ref(1)?, RecordKind::Attempt, task)?);
            }
            Ok(attempts)
        };
        self.0.readers.read("reading attempts", read).await
    }

    async fn attempts_of_many(&self, tasks: &[TaskId]) -> Result<Vec<AttemptRecord>> {
        let tasks = tasks.to_vec();
        let read = move |conn: &_| read::bulk::attempts_of_many(conn, &tasks);
        self.0.readers.read("reading attempts", read).await
    }

    async fn last_attempts(&self, tasks: &[TaskId]) -> Result<Vec<AttemptRecord>> {
        let tasks = tasks.to_vec();
        let read = move |conn: &_| read::bulk::last_attempts(conn, &tasks);
        self.0.readers.read("reading attempts", read).await
    }

    async fn attempt(&self, id: AttemptId) -> Result<Option<AttemptRecord>> {
        let sql = "SELECT version, body FROM attempts WHERE id = ?1";
        let read = move |conn: &_| find(conn, sql, [attempt_key(id)], RecordKind::Attempt, id);
        let found: Option<Versioned<AttemptRecord>> = self.0.readers.read("reading an attempt", read).await?;
        Ok(found.map(|stored| stored.value))
    }

    async fn workers_of(&self, attempts: &[AttemptId]) -> Result<BTreeMap<AttemptId, String>> {
        let ids = attempts.to_vec();
        let read = move |conn: &_| read::bulk::attempts_by_ids(conn, &ids);
        let records = self.0.readers.read("reading attempts", read).await?;
        let attempts = records.into_iter().map(|record| record.attempt);
        Ok(attempts.filter_map(|attempt| Some((attempt.id, attempt.worker?))).collect())
    }

    async fn question(&self, id: QuestionId) -> Result<Option<Versioned<QuestionRecord>>> {
        let sql = "SELECT version, body FROM questions WHERE id = ?1";
        let read = move |conn: &_| find(conn, sql, [i64::from(id.bits())], RecordKind::Question, id);
        self.0.readers.read("reading a question", read).await
    }

    async fn questions(
        &self,
        filter: &QuestionFilter,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> Result<Page<Versioned<QuestionRecord>>> {
        let filter = filter.clone();
        let read = move |conn: &_| read::lists::questions(conn, &filter, cursor.as_ref(), limit);
        self.0.readers.read("reading questions", read).await
    }

    async fn questions_by_ids(&self, ids: &[QuestionId]) -> Result<Vec<Versioned<QuestionRecord>>> {
        let ids = ids.to_vec();
        let read = move |conn: &_| read::bulk::questions_by_ids(conn, &ids);
        self.0.readers.read("reading questions", read).await
    }

    async fn questions_of_many(
        &self,
        tasks: &[TaskId],
        is_pending: Option<bool>,
    ) -> Result<Vec<Versioned<QuestionRecord>>> {
        let tasks = tasks.to_vec();
        let read = move |conn: &_| read::bulk::questions_of_many(conn, &tasks, is_pending);
        self.0.readers.read("reading questions", read).await
    }

    async fn count_questions(&self, filter: &QuestionFilter, max: u32) -> Result<u64> {
        let filter = filter.clone();
        let read = move |conn: &_| read::lists::count_questions(conn, &filter, max);
        self.0.readers.read("counting questions", read).await
    }

    async fn plan(&self, breakdown: TaskId) -> Result<Option<Versioned<PlanRecord>>> {
        let sql = "SELECT version, body FROM plans WHERE task = ?1";
        let read = move |conn: &_| find(conn, sql, [task_key(breakdown)], RecordKind::Plan, breakdown);
        self.0.readers.read("reading a plan", read).await
    }

    async fn run(&self, id: RunId) -> Result<Option<Versioned<Run>>> {
        let sql = "SELECT version, body FROM runs WHERE id = ?1";
        let read = move |conn: &_| find(conn, sql, [i64::from(id.bits())], RecordKind::Run, id);
        self.0.readers.read("reading a run", read).await
    }

    async fn open_runs(&self) -> Result<Vec<Versioned<Run>>> {
        let read = |conn: &rusqlite::Connection| {
            let mut statement =
                conn.prepare_cached("SELECT version, body FROM runs WHERE is_open = 1 ORDER BY id")?;
            let mut rows = statement.query([])?;
            let mut runs = Vec::new();
            while let Some(row) = rows.next()? {
                runs.push(stored(row, RecordKind::Run, "")?);
            }
            Ok(runs)
        };
        self.0.readers.read("reading runs", read).await
    }

    async fn runs(
        &self,
        filter: &RunFilter,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> Result<Page<Versioned<Run>>> {
        let filter = filter.clone();
        let read = move |conn: &_| read::lists::runs(conn, &filter, cursor.as_ref(), limit);
        self.0.readers.read("listing runs", read).await
    }

    async fn phase_loop(&self, session: &SessionId) -> Result<Option<Versioned<PhaseLoop>>> {
        let id = session.to_string();
        let sql = "SELECT version, body FROM loops WHERE session = ?1";
        self.0.readers.read("reading a loop", move |conn| find(conn, sql, [&id], RecordKind::Loop, &id)).await
    }

    async fn holds(&self) -> Result<Vec<Versioned<Hold>>> {
        let read = |conn: &rusqlite::Connection| {
            let mut statement = conn.prepare_cached("SELECT version, body FROM holds ORDER BY agent")?;
            let mut rows = statement.query([])?;
            let mut holds = Vec::new();
            while let Some(row) = rows.next()? {
                holds.push(stored(row, RecordKind::Hold, "")?);
            }
            Ok(holds)
        };
        self.0.readers.read("reading holds", read).await
    }

    async fn spending(&self, account: SpendingAccount) -> Result<Option<Versioned<Spending>>> {
        let key = account.key();
        let sql = "SELECT version, body FROM spendings WHERE account = ?1";
        let read = move |conn: &_| find(conn, sql, [&key], RecordKind::Spending, &key);
        self.0.readers.read("reading spending", read).await
    }

    async fn access_token(&self, name: &PersonName) -> Result<Option<Versioned<AccessToken>>> {
        let name = name.to_string();
        let sql = "SELECT version, body FROM access_tokens WHERE name = ?1";
        let read = move |conn: &_| find(conn, sql, [&name], RecordKind::AccessToken, &name);
        self.0.readers.read("reading a token", read).await
    }

    async fn access_tokens(&self) -> Result<Vec<Versioned<AccessToken>>> {
        let read = |conn: &rusqlite::Connection| {
            let mut statement =
                conn.prepare_cached("SELECT version, body FROM access_tokens ORDER BY name")?;
            let mut rows = statement.query([])?;
            let mut tokens = Vec::new();
            while let Some(row) = rows.next()? {
                tokens.push(stored(row, RecordKind::AccessToken, "")?);
            }
            Ok(tokens)
        };
        self.0.readers.read("reading tokens", read).await
    }

    async fn verdict(&self, key: &VerdictKey) -> Result<Option<Versioned<Verdict>>> {
        let key = key.to_string();
        let sql = "SELECT version, body FROM verdicts WHERE key = ?1";
        let read = move |conn: &_| find(conn, sql, [&key], RecordKind::Verdict, &key);
        self.0.readers.read("reading a verdict", read).await
    }

    async fn last_verdicts(&self, limit: u32) -> Result<Vec<Versioned<Verdict>>> {
        let read = move |conn: &rusqlite::Connection| {
            let sql = "SELECT version, body FROM verdicts ORDER BY checked_ms DESC, key LIMIT ?1";
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query([limit])?;
            let mut verdicts = Vec::new();
            while let Some(row) = rows.next()? {
                verdicts.push(stored(row, RecordKind::Verdict, "")?);
            }
            Ok(verdicts)
        };
        self.0.readers.read("listing verdicts", read).await
    }

    async fn attachments(&self, session: &SessionId, limit: u32) -> Result<Vec<Versioned<Attachment>>> {
        let session = session.to_string();
        let read = move |conn: &rusqlite::Connection| {
            let sql =
                "SELECT version, body FROM attachments WHERE session = ?1 ORDER BY at_ms DESC, id LIMIT ?2";
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query(rusqlite::params![session, limit])?;
            let mut files = Vec::new();
            while let Some(row) = rows.next()? {
                files.push(stored(row, RecordKind::Attachment, "")?);
            }
            Ok(files)
        };
        self.0.readers.read("listing files", read).await
    }

    async fn routine(&self, id: RoutineId) -> Result<Option<Versioned<Routine>>> {
        let id = id.to_string();
        let sql = "SELECT version, body FROM routines WHERE id = ?1";
        let read = move |conn: &_| find(conn, sql, [&id], RecordKind::Routine, &id);
        self.0.readers.read("reading a routine", read).await
    }

    async fn routines(&self) -> Result<Vec<Versioned<Routine>>> {
        let read = |conn: &rusqlite::Connection| {
            let sql = "SELECT version, body FROM routines WHERE is_open ORDER BY created_ms, id";
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            let mut routines = Vec::new();
            while let Some(row) = rows.next()? {
                routines.push(stored(row, RecordKind::Routine, "")?);
            }
            Ok(routines)
        };
        self.0.readers.read("listing routines", read).await
    }

    async fn receipt(&self, key: &ReceiptKey) -> Result<Option<Receipt>> {
        let key = key.to_string();
        let sql = "SELECT version, body FROM receipts WHERE key = ?1";
        let read = move |conn: &_| find(conn, sql, [&key], RecordKind::Receipt, &key);
        let found: Option<Versioned<Receipt>> = self.0.readers.read("reading a receipt", read).await?;
        Ok(found.map(|stored| stored.value))
    }

    async fn events_after(&self, seq: u64, limit: u32) -> Result<Vec<StoredEvent>> {
        self.0.readers.read("reading events", move |conn| read::history::events_after(conn, seq, limit)).await
    }

    async fn task_events(&self, task: TaskId, after: u64, limit: u32) -> Result<Vec<StoredEvent>> {
        let read = move |conn: &_| read::history::task_events(conn, task_key(task), after, limit);
        self.0.readers.read("reading events", read).await
    }

    fn subscribe(&self) -> watch::Receiver<u64> {
        self.0.newest.subscribe()
    }

    async fn pending_effects(&self, after: Option<EffectId>, limit: u32) -> Result<Vec<PendingEffect>> {
        let reading = move |conn: &_| read::history::pending_effects(conn, after, limit);
        self.0.readers.read("reading the outbox", reading).await
    }

    async fn finish_effects(&self, ids: &[EffectId]) -> Result<()> {
        let ids = ids.to_vec();
        let work =
            move |tx: &mut Transaction<'_>| write::history::finish_effects(tx, &ids).map(WriteOutcome::Keep);
        self.0.writer.write("finishing effects", work).await
    }

    async fn prune(&self, retention: &EventRetention) -> Result<PruneResult> {
        let retention = *retention;
        let found = self
            .0
            .readers
            .read("looking for old events", move |conn| read::history::prunable_events(conn, &retention));
        let found = found.await?;
        let rows_max = u64::from(retention.rows_max);
        let work = move |tx: &mut Transaction<'_>| {
            let events = write::history::delete_events(tx, &found)?;
            let verdicts = write::history::delete_verdicts(tx, &retention)?;
            let is_more = found.len() as u64 >= rows_max || verdicts >= rows_max;
            Ok(WriteOutcome::Keep(PruneResult { events, verdicts, is_more }))
        };
        self.0.writer.write("deleting old events", work).await
    }

    async fn backup(&self, to: &Path) -> Result<()> {
        let (to, progress) = (to.to_owned(), self.0.progress.clone());
        self.0.readers.read("backing up", move |conn| file::backup::backup(conn, &to, &progress)).await
    }

    async fn close(&self) -> Result<()> {
        self.0.shut_down();
        self.0.threads.wait_for_none().await;
        Ok(())
    }
}
