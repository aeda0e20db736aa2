//! The backend interface, statement by statement. Anything longer has its own file.

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
use serde::de::DeserializeOwned;
use tokio::sync::{oneshot, watch};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::backend::Backend;
use crate::columns::{self, WHITESPACE, parse_queue};
use crate::error::StoreError;
use crate::model::claim::{ClaimRequest, ClaimedTask};
use crate::model::commit::Commit;
use crate::model::event::StoredEvent;
use crate::model::lease::Lease;
use crate::model::outbox::PendingEffect;
use crate::model::query::{
    Cursor, EventRetention, FIRST_PROMPT_CHARS_MAX, Page, PruneResult, QuestionFilter, RunFilter,
    TaskDependency, TaskFilter, TaskGroup,
};
use crate::model::record_kind::RecordKind;
use crate::postgres::PostgresStore;
use crate::postgres::claim::{candidates, claimer};
use crate::postgres::connect::connector::Params;
use crate::postgres::connect::pipeline::Param;
use crate::postgres::decode::{
    all_stored, bad_row, count, dependency, key, lease, page, recorded, stored, texts, timestamp, version,
};
use crate::postgres::read::{bulk, filter, groups};
use crate::postgres::retention;
use crate::postgres::writer::committer;

type Result<T> = std::result::Result<T, StoreError>;

const LEASE_COLUMNS: &str =
    "SELECT attempt, task, worker, role, agent, expires_ms, project, person FROM leases";
const RENEW: &str =
    "UPDATE leases SET expires_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $3
    WHERE attempt = ANY($2) AND worker = $1 RETURNING attempt";

const BEAT: &str = "INSERT INTO workers (name, seen_ms, body)
    VALUES ($1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, $2)
    ON CONFLICT (name) DO UPDATE SET seen_ms = excluded.seen_ms, body = excluded.body";
/// Free if it was released or has expired.
const LOCK: &str = "INSERT INTO locks (name, holder, expires_ms)
    VALUES ($1, $2, (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $3)
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_ms = excluded.expires_ms
    WHERE locks.holder = excluded.holder OR locks.expires_ms <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint
    RETURNING name";

impl PostgresStore {
    async fn query(&self, doing: &'static str, sql: &str, params: Params<'_>) -> Result<Vec<Row>> {
        self.inner.pool.query(doing, sql, params).await
    }

    /// Runs a statement built by [`filter`].
    async fn select(&self, doing: &'static str, (sql, params): (String, Vec<Param>)) -> Result<Vec<Row>> {
        let params: Vec<&(dyn ToSql + Sync)> =
            params.iter().map(|param| &**param as &(dyn ToSql + Sync)).collect();
        self.query(doing, &sql, &params).await
    }

    async fn record<T: DeserializeOwned>(&self, kind: RecordKind, key: &str) -> Result<Option<Versioned<T>>> {
        let sql = "SELECT key, version, body FROM records WHERE kind = $1 AND key = $2";
        let rows = self.query("reading a row", sql, &[&kind.as_str(), &key]).await?;
        rows.first().map(|row| stored(kind, row)).transpose()
    }

    async fn lease_rows(&self, sql: &str, params: Params<'_>) -> Result<Vec<Lease>> {
        self.query("reading leases", sql, params).await?.iter().map(lease).collect()
    }
}

impl Backend for PostgresStore {
    async fn now(&self) -> Result<Timestamp> {
        let rows = self.query("reading the time", candidates::NOW, &[]).await?;
        Ok(rows.first().map_or(Timestamp::from_ms(0), |row| timestamp(row, 0)))
    }

    async fn commit(&self, change: Change) -> Result<Commit> {
        let (answer, answered) = oneshot::channel();
        let sender = self.senders()?.commits;
        sender.send(committer::CommitJob { change, answer }).await.map_err(|_| StoreError::Closed)?;
        drop(sender);
        answered.await.map_err(|_| StoreError::Closed)?
    }

    async fn claim(&self, request: ClaimRequest) -> Result<Vec<ClaimedTask>> {
        let (answer, answered) = oneshot::channel();
        let sender = self.senders()?.claims;
        sender.send(claimer::ClaimJob { request, answer }).await.map_err(|_| StoreError::Closed)?;
        drop(sender);
        answered.await.map_err(|_| StoreError::Closed)?
    }

    async fn renew(&self, worker: &str, attempts: &[AttemptId], lease_ms: i64) -> Result<Vec<AttemptId>> {
        let ids: Vec<String> = attempts.iter().map(ToString::to_string).collect();
        let rows = self.query("renewing leases", RENEW, &[&worker, &ids, &lease_ms]).await?;
        let held =
            rows.iter().map(|row| key(RecordKind::Lease, row.get(0))).collect::<Result<Vec<AttemptId>>>()?;
        Ok(attempts.iter().filter(|attempt| !held.contains(attempt)).copied().collect())
    }

    async fn leases(&self) -> Result<Vec<Lease>> {
        self.lease_rows(&format!("{LEASE_COLUMNS} ORDER BY attempt"), &[]).await
    }

    async fn expired_leases(&self, limit: u32) -> Result<Vec<Lease>> {
        let sql = format!(
            "{LEASE_COLUMNS} WHERE expires_ms <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint
             ORDER BY expires_ms, attempt LIMIT $1"
        );
        self.lease_rows(&sql, &[&i64::from(limit)]).await
    }

    async fn beat(&self, worker: &Worker) -> Result<()> {
        let body = columns::body(RecordKind::Worker, worker)?;
        self.query("recording a heartbeat", BEAT, &[&worker.name, &body]).await.map(drop)
    }

    async fn workers(&self) -> Result<Vec<WorkerSighting>> {
        let sql = "SELECT name, seen_ms, body FROM workers ORDER BY name";
        let sighting = |row: &Row| {
            let worker: Worker = serde_json::from_str(row.get(2))
                .map_err(|error| bad_row(RecordKind::Worker, row.get(0), &error))?;
            Ok(WorkerSighting { worker, seen_at: timestamp(row, 1) })
        };
        self.query("reading workers", sql, &[]).await?.iter().map(sighting).collect()
    }

    async fn forget_worker(&self, name: &str) -> Result<()> {
        self.query("forgetting a worker", "DELETE FROM workers WHERE name = $1", &[&name]).await.map(drop)
    }

    async fn lock(&self, name: &str, holder: &str, lock_ms: i64) -> Result<bool> {
        Ok(!self.query("taking a lock", LOCK, &[&name, &holder, &lock_ms]).await?.is_empty())
    }

    async fn unlock(&self, name: &str, holder: &str) -> Result<()> {
        let sql = "DELETE FROM locks WHERE name = $1 AND holder = $2";
        self.query("releasing a lock", sql, &[&name, &holder]).await.map(drop)
    }

    async fn project(&self, id: ProjectId) -> Result<Option<Versioned<Project>>> {
        self.record(RecordKind::Project, &id.to_string()).await
    }

    async fn projects(&self, cursor: Option<Cursor>, limit: u32) -> Result<Page<Project>> {
        let rows = self.select("listing projects", filter::projects(cursor, limit)).await?;
        let Page { items, next } = page(RecordKind::Project, &rows, limit)?;
        Ok(Page { items: items.into_iter().map(|stored| stored.value).collect(), next })
    }

    async fn session(&self, id: &SessionId) -> Result<Option<Versioned<Session>>> {
        self.record(RecordKind::Session, id.as_str()).await
    }

    async fn messages(&self, session: &SessionId, after: u32, limit: u32) -> Result<Vec<Message>> {
        let sql = "SELECT key, version, body FROM records
            WHERE kind = 'message' AND session = $1 AND place > $2 ORDER BY place LIMIT $3";
        let params: Params<'_> = &[&session.as_str(), &i64::from(after), &i64::from(limit)];
        let rows = self.query("reading messages", sql, params).await?;
        Ok(values(all_stored(RecordKind::Message, &rows)?).collect())
    }

    async fn last_messages(
        &self,
        session: &SessionId,
        before: Option<u32>,
        limit: u32,
    ) -> Result<Vec<Message>> {
        let before = before.map_or(i64::MAX, i64::from);
        let params: Params<'_> = &[&session.as_str(), &before, &i64::from(limit)];
        let rows = self.query("reading messages", bulk::LAST_MESSAGES, params).await?;
        Ok(values(all_stored(RecordKind::Message, &rows)?).rev().collect())
    }

    async fn task(&self, id: TaskId) -> Result<Option<Versioned<Task>>> {
        let sql = "SELECT id, version, body FROM tasks WHERE id = $1";
        let rows = self.query("reading a task", sql, &[&id.to_string()]).await?;
        rows.first().map(|row| stored(RecordKind::Task, row)).transpose()
    }

    async fn tasks(
        &self,
        filter: &TaskFilter,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> Result<Page<Versioned<Task>>> {
        let rows = self.select("listing tasks", filter::tasks(filter, cursor, limit)).await?;
        page(RecordKind::Task, &rows, limit)
    }

    async fn ready(&self, limit: u32) -> Result<Vec<Versioned<Task>>> {
        let sql = "SELECT t.id, t.version, t.body FROM
            (SELECT id, rank, created_ms FROM ready ORDER BY rank + 0, created_ms, id LIMIT $1) r
            JOIN tasks t ON t.id = r.id ORDER BY r.rank, r.created_ms, r.id";
        all_stored(RecordKind::Task, &self.query("listing ready tasks", sql, &[&i64::from(limit)]).await?)
    }

    async fn ready_count(&self) -> Result<u64> {
        Ok(count(self.query("counting ready tasks", "SELECT count(*) FROM ready", &[]).await?.first()))
    }

    async fn tasks_by_ids(&self, ids: &[TaskId]) -> Result<Vec<Versioned<Task>>> {
        all_stored(RecordKind::Task, &self.query("reading tasks", bulk::TASKS_BY_IDS, &[&texts(ids)]).await?)
    }

    async fn count_tasks(&self, filter: &TaskFilter, max: u32) -> Result<u64> {
        Ok(count(self.select("counting tasks", filter::count_tasks(filter, max)).await?.first()))
    }

    async fn queue_depths(&self) -> Result<BTreeMap<QueueName, u64>> {
        let rows = self.query("counting tasks", bulk::QUEUE_DEPTHS, &[]).await?;
        let depth = |row: &Row| {
            let name: &str = row.get(0);
            let queue = parse_queue(name).ok_or_else(|| bad_row(RecordKind::Task, name, &"unknown queue"))?;
            Ok((queue, version(row, 1)))
        };
        rows.iter().map(depth).collect()
    }

    async fn tasks_by_prefix(&self, prefix: &str, limit: u32) -> Result<Vec<TaskId>> {
        // A range, so that no character of the prefix is special; every id sorts before `~`.
        let sql = "SELECT id FROM tasks WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3";
        if prefix.contains('\0') {
            return Ok(Vec::new());
        }
        let params: Params<'_> = &[&prefix, &format!("{prefix}~"), &i64::from(limit)];
        let rows = self.query("looking for a task", sql, params).await?;
        rows.iter().map(|row| key(RecordKind::Task, row.get(0))).collect()
    }

    async fn dependencies(&self, task: TaskId) -> Result<Vec<TaskDependency>> {
        let sql = "SELECT task, blocker, is_met FROM edges WHERE task = $1 ORDER BY blocker";
        let rows = self.query("reading dependencies", sql, &[&task.to_string()]).await?;
        rows.iter().map(dependency).collect()
    }

    async fn dependents(
        &self,
        task: TaskId,
        after: Option<TaskId>,
        limit: u32,
    ) -> Result<Vec<TaskDependency>> {
        let sql =
            "SELECT task, blocker, is_met FROM edges WHERE blocker = $1 AND task > $2 ORDER BY task LIMIT $3";
        let after = after.map(|after| after.to_string()).unwrap_or_default();
        let rows =
            self.query("reading dependents", sql, &[&task.to_string(), &after, &i64::from(limit)]).await?;
        rows.iter().map(dependency).collect()
    }

    async fn dependencies_of_many(&self, tasks: &[TaskId]) -> Result<Vec<TaskDependency>> {
        let rows = self.query("reading dependencies", bulk::DEPENDENCIES, &[&texts(tasks)]).await?;
        rows.iter().map(dependency).collect()
    }

    async fn dependents_of_many(&self, tasks: &[TaskId], limit_each: u32) -> Result<Vec<TaskDependency>> {
        let params: Params<'_> = &[&texts(tasks), &i64::from(limit_each)];
        let rows = self.query("reading dependents", bulk::DEPENDENTS, params).await?;
        rows.iter().map(dependency).collect()
    }

    async fn task_groups(&self, cursor: Option<Cursor>, limit: u32) -> Result<Page<TaskGroup>> {
        let (after_ms, after) = cursor.map_or((-1, String::new()), |cursor| (cursor.at.ms(), cursor.key));
        let params: Params<'_> =
            &[&FIRST_PROMPT_CHARS_MAX, &WHITESPACE, &after_ms, &after, &(i64::from(limit) + 1)];
        groups::page(&self.query("listing task groups", &groups::page_statement(), params).await?, limit)
    }

    async fn recent_task_groups(&self, limit: u32) -> Result<Vec<TaskGroup>> {
        let params: Params<'_> =
            &[&FIRST_PROMPT_CHARS_MAX, &WHITESPACE, &i64::from(limit), &groups::EVENTS_LOOKED_AT];
        let rows = self.query("listing task groups", &groups::recent_statement(), params).await?;
        let mut groups = groups::groups(&rows)?;
        groups.sort_by_key(|group| std::cmp::Reverse(group.latest_updated_at));
        Ok(groups)
    }

    async fn attempts(&self, task: TaskId) -> Result<Vec<AttemptRecord>> {
        let sql =
            "SELECT key, version, body FROM records WHERE kind = 'attempt' AND task = $1 ORDER BY place";
        let rows = self.query("reading attempts", sql, &[&task.to_string()]).await?;
        Ok(values(all_stored(RecordKind::Attempt, &rows)?).collect())
    }

    async fn attempts_of_many(&self, tasks: &[TaskId]) -> Result<Vec<AttemptRecord>> {
        let rows = self.query("reading attempts", bulk::ATTEMPTS, &[&texts(tasks)]).await?;
        Ok(values(all_stored(RecordKind::Attempt, &rows)?).collect())
    }

    async fn last_attempts(&self, tasks: &[TaskId]) -> Result<Vec<AttemptRecord>> {
        let rows = self.query("reading attempts", bulk::LAST_ATTEMPTS, &[&texts(tasks)]).await?;
        Ok(values(all_stored(RecordKind::Attempt, &rows)?).collect())
    }

    async fn attempt(&self, id: AttemptId) -> Result<Option<AttemptRecord>> {
        Ok(self.record(RecordKind::Attempt, &id.to_string()).await?.map(|stored| stored.value))
    }

    async fn workers_of(&self, attempts: &[AttemptId]) -> Result<BTreeMap<AttemptId, String>> {
        let ids: Vec<String> = attempts.iter().map(ToString::to_string).collect();
        let rows = self.query("reading attempts", bulk::ATTEMPTS_BY_IDS, &[&ids]).await?;
        let records: Vec<Versioned<AttemptRecord>> = all_stored(RecordKind::Attempt, &rows)?;
        let named = records.into_iter().map(|stored| stored.value.attempt);
        Ok(named.filter_map(|attempt| Some((attempt.id, attempt.worker?))).collect())
    }

    async fn question(&self, id: QuestionId) -> Result<Option<Versioned<QuestionRecord>>> {
        self.record(RecordKind::Question, &id.to_string()).await
    }

    async fn questions(
        &self,
        filter: &QuestionFilter,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> Result<Page<Versioned<QuestionRecord>>> {
        let rows = self.select("listing questions", filter::questions(filter, cursor, limit)).await?;
        page(RecordKind::Question, &rows, limit)
    }

    async fn questions_by_ids(&self, ids: &[QuestionId]) -> Result<Vec<Versioned<QuestionRecord>>> {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        all_stored(
            RecordKind::Question,
            &self.query("reading questions", bulk::QUESTIONS_BY_IDS, &[&ids]).await?,
        )
    }

    async fn questions_of_many(
        &self,
        tasks: &[TaskId],
        is_pending: Option<bool>,
    ) -> Result<Vec<Versioned<QuestionRecord>>> {
        let rows = self.query("reading questions", bulk::QUESTIONS, &[&texts(tasks), &is_pending]).await?;
        all_stored(RecordKind::Question, &rows)
    }

    async fn count_questions(&self, filter: &QuestionFilter, max: u32) -> Result<u64> {
        Ok(count(self.select("counting questions", filter::count_questions(filter, max)).await?.first()))
    }

    async fn plan(&self, breakdown: TaskId) -> Result<Option<Versioned<PlanRecord>>> {
        self.record(RecordKind::Plan, &breakdown.to_string()).await
    }

    async fn run(&self, id: RunId) -> Result<Option<Versioned<Run>>> {
        self.record(RecordKind::Run, &id.to_string()).await
    }

    async fn open_runs(&self) -> Result<Vec<Versioned<Run>>> {
        let sql = "SELECT key, version, body FROM records WHERE kind = 'run' AND is_open ORDER BY key";
        all_stored(RecordKind::Run, &self.query("listing runs", sql, &[]).await?)
    }

    async fn runs(
        &self,
        filter: &RunFilter,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> Result<Page<Versioned<Run>>> {
        let rows = self.select("listing runs", filter::runs(filter, cursor, limit)).await?;
        page(RecordKind::Run, &rows, limit)
    }

    async fn phase_loop(&self, session: &SessionId) -> Result<Option<Versioned<PhaseLoop>>> {
        self.record(RecordKind::Loop, session.as_str()).await
    }

    async fn holds(&self) -> Result<Vec<Versioned<Hold>>> {
        let sql = "SELECT key, version, body FROM records WHERE kind = 'hold' ORDER BY key";
        all_stored(RecordKind::Hold, &self.query("listing holds", sql, &[]).await?)
    }

    async fn spending(&self, account: SpendingAccount) -> Result<Option<Versioned<Spending>>> {
        self.record(RecordKind::Spending, &account.key()).await
    }

    async fn access_token(&self, name: &PersonName) -> Result<Option<Versioned<AccessToken>>> {
        self.record(RecordKind::AccessToken, name.as_str()).await
    }

    async fn access_tokens(&self) -> Result<Vec<Versioned<AccessToken>>> {
        let sql = "SELECT key, version, body FROM records WHERE kind = 'access_token' ORDER BY key";
        all_stored(RecordKind::AccessToken, &self.query("listing tokens", sql, &[]).await?)
    }

    async fn verdict(&self, key: &VerdictKey) -> Result<Option<Versioned<Verdict>>> {
        self.record(RecordKind::Verdict, &key.to_string()).await
    }

    async fn last_verdicts(&self, limit: u32) -> Result<Vec<Versioned<Verdict>>> {
        let sql =
            "SELECT key, version, body FROM records WHERE kind = 'verdict' ORDER BY place DESC, key LIMIT $1";
        let rows = self.query("listing verdicts", sql, &[&i64::from(limit)]).await?;
        all_stored(RecordKind::Verdict, &rows)
    }

    async fn attachments(&self, session: &SessionId, limit: u32) -> Result<Vec<Versioned<Attachment>>> {
        let sql = "SELECT key, version, body FROM records WHERE kind = 'attachment' AND session = $1
            ORDER BY place DESC, key LIMIT $2";
        let rows = self.query("listing files", sql, &[&session.to_string(), &i64::from(limit)]).await?;
        all_stored(RecordKind::Attachment, &rows)
    }

    async fn routine(&self, id: RoutineId) -> Result<Option<Versioned<Routine>>> {
        self.record(RecordKind::Routine, &id.to_string()).await
    }

    async fn routines(&self) -> Result<Vec<Versioned<Routine>>> {
        let sql =
            "SELECT key, version, body FROM records WHERE kind = 'routine' AND is_open ORDER BY place, key";
        all_stored(RecordKind::Routine, &self.query("listing routines", sql, &[]).await?)
    }

    async fn receipt(&self, key: &ReceiptKey) -> Result<Option<Receipt>> {
        Ok(self.record(RecordKind::Receipt, key.as_str()).await?.map(|stored| stored.value))
    }

    async fn events_after(&self, seq: u64, limit: u32) -> Result<Vec<StoredEvent>> {
        let sql = "SELECT seq, body FROM events WHERE seq > $1 ORDER BY seq LIMIT $2";
        let rows = self.query("reading events", sql, &[&signed(seq), &i64::from(limit)]).await?;
        rows.iter().map(recorded).collect()
    }

    async fn task_events(&self, task: TaskId, after: u64, limit: u32) -> Result<Vec<StoredEvent>> {
        let sql = "SELECT seq, body FROM events WHERE task = $1 AND seq > $2 ORDER BY seq LIMIT $3";
        let params: Params<'_> = &[&task.to_string(), &signed(after), &i64::from(limit)];
        self.query("reading events", sql, params).await?.iter().map(recorded).collect()
    }

    fn subscribe(&self) -> watch::Receiver<u64> {
        self.inner.feed.subscribe()
    }

    async fn pending_effects(&self, after: Option<EffectId>, limit: u32) -> Result<Vec<PendingEffect>> {
        let sql = "SELECT id, body FROM outbox WHERE id > $1 ORDER BY id LIMIT $2";
        let after = after.map_or(0, |id| signed(id.bits()));
        let rows = self.query("reading effects", sql, &[&after, &i64::from(limit)]).await?;
        rows.iter()
            .map(|row| {
                let id = EffectId::from_bits(version(row, 0));
                let effect = serde_json::from_str(row.get(1))
                    .map_err(|error| bad_row(RecordKind::Effect, &id.to_string(), &error))?;
                Ok(PendingEffect { id, effect })
            })
            .collect()
    }

    async fn finish_effects(&self, ids: &[EffectId]) -> Result<()> {
        let ids: Vec<i64> = ids.iter().map(|id| signed(id.bits())).collect();
        self.query("finishing effects", "DELETE FROM outbox WHERE id = ANY($1)", &[&ids]).await?;
        Ok(())
    }

    async fn prune(&self, retention: &EventRetention) -> Result<PruneResult> {
        retention::prune(&self.inner.pool, retention).await
    }

    async fn backup(&self, to: &Path) -> Result<()> {
        let connector = &self.inner.connector;
        let (schema, database) = (connector.schema(), connector.database());
        let detail = format!(
            "PostgreSQL makes its own copies; run: pg_dump --format=custom --schema={schema} --file={} {database}",
            to.display()
        );
        Err(StoreError::Backend { doing: "backing up", detail })
    }

    async fn close(&self) -> Result<()> {
        self.shut_down().await;
        Ok(())
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn values<T>(stored: Vec<Versioned<T>>) -> impl DoubleEndedIterator<Item = T> {
    stored.into_iter().map(|stored| stored.value)
}
