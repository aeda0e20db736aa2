//! The trait, statement by statement. Everything longer than a statement has a file of its own.

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
use serde::de::DeserializeOwned;
use tokio::sync::{oneshot, watch};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::connect::Params;
use super::lock::version;
use super::log_line::LogLine;
use super::pipeline::Param;
use super::read::{all_stored, bad_row, count, dependency, key, lease, moment, page, recorded, stored};
use super::{PostgresStore, candidates, claim, committer, filter, groups, retention};
use crate::backend::Backend;
use crate::claim::{ClaimRequest, Claimed};
use crate::columns;
use crate::commit::Commit;
use crate::error::StoreError;
use crate::lease::Lease;
use crate::outbox::PendingEffect;
use crate::query::{Cursor, Page, Pruned, QuestionFilter, Retention, TaskDependency, TaskFilter, TaskGroup};
use crate::recorded::Recorded;

type Answer<T> = Result<T, StoreError>;

const LEASE_COLUMNS: &str =
    "SELECT attempt, task, worker, role, agent, expires_ms, project, person FROM leases";
const RENEW: &str =
    "UPDATE leases SET expires_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $3
    WHERE attempt = ANY($2) AND worker = $1 RETURNING attempt";

const BEAT: &str = "INSERT INTO workers (name, seen_ms, body)
    VALUES ($1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, $2)
    ON CONFLICT (name) DO UPDATE SET seen_ms = excluded.seen_ms, body = excluded.body";
/// Free when its holder let it go or may not be waited for any longer.
const LOCK: &str = "INSERT INTO locks (name, holder, expires_ms)
    VALUES ($1, $2, (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $3)
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_ms = excluded.expires_ms
    WHERE locks.holder = excluded.holder OR locks.expires_ms <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint
    RETURNING name";

impl PostgresStore {
    async fn query(&self, doing: &'static str, sql: &str, params: Params<'_>) -> Answer<Vec<Row>> {
        self.inner.pool.query(doing, sql, params).await
    }

    /// A statement from [`filter`].
    async fn select(&self, doing: &'static str, (sql, params): (String, Vec<Param>)) -> Answer<Vec<Row>> {
        let params: Vec<&(dyn ToSql + Sync)> =
            params.iter().map(|param| &**param as &(dyn ToSql + Sync)).collect();
        self.query(doing, &sql, &params).await
    }

    async fn record<T: DeserializeOwned>(&self, kind: &'static str, key: &str) -> Answer<Option<Stored<T>>> {
        let sql = "SELECT key, version, body FROM records WHERE kind = $1 AND key = $2";
        let rows = self.query("reading a row", sql, &[&kind, &key]).await?;
        rows.first().map(|row| stored(kind, row)).transpose()
    }

    async fn lease_rows(&self, sql: &str, params: Params<'_>) -> Answer<Vec<Lease>> {
        self.query("reading leases", sql, params).await?.iter().map(lease).collect()
    }
}

impl Backend for PostgresStore {
    async fn now(&self) -> Answer<Timestamp> {
        let rows = self.query("asking for the time", candidates::NOW, &[]).await?;
        Ok(rows.first().map_or(Timestamp::from_ms(0), |row| moment(row, 0)))
    }

    async fn commit(&self, change: Change) -> Answer<Commit> {
        let (answer, answered) = oneshot::channel();
        let lane = self.lanes()?.commits;
        lane.send(committer::Job { change, answer }).await.map_err(|_| StoreError::Closed)?;
        drop(lane);
        answered.await.map_err(|_| StoreError::Closed)?
    }

    async fn claim(&self, request: ClaimRequest) -> Answer<Vec<Claimed>> {
        let (answer, answered) = oneshot::channel();
        let lane = self.lanes()?.claims;
        lane.send(claim::Job { request, answer }).await.map_err(|_| StoreError::Closed)?;
        drop(lane);
        answered.await.map_err(|_| StoreError::Closed)?
    }

    async fn renew(&self, worker: &str, attempts: &[AttemptId], lease_ms: i64) -> Answer<Vec<AttemptId>> {
        let ids: Vec<String> = attempts.iter().map(ToString::to_string).collect();
        let rows = self.query("renewing leases", RENEW, &[&worker, &ids, &lease_ms]).await?;
        let held = rows.iter().map(|row| key("lease", row.get(0))).collect::<Answer<Vec<AttemptId>>>()?;
        Ok(attempts.iter().filter(|attempt| !held.contains(attempt)).copied().collect())
    }

    async fn leases(&self) -> Answer<Vec<Lease>> {
        self.lease_rows(&format!("{LEASE_COLUMNS} ORDER BY attempt"), &[]).await
    }

    async fn expired_leases(&self, limit: u32) -> Answer<Vec<Lease>> {
        let sql = format!(
            "{LEASE_COLUMNS} WHERE expires_ms <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint
             ORDER BY expires_ms, attempt LIMIT $1"
        );
        self.lease_rows(&sql, &[&i64::from(limit)]).await
    }

    async fn beat(&self, worker: &Worker) -> Answer<()> {
        let body = columns::body("worker", worker)?;
        self.query("noting a worker", BEAT, &[&worker.name, &body]).await.map(drop)
    }

    async fn workers(&self) -> Answer<Vec<Sighting>> {
        let sql = "SELECT name, seen_ms, body FROM workers ORDER BY name";
        let sighting = |row: &Row| {
            let worker: Worker =
                serde_json::from_str(row.get(2)).map_err(|error| bad_row("worker", row.get(0), &error))?;
            Ok(Sighting { worker, seen_at: moment(row, 1) })
        };
        self.query("reading workers", sql, &[]).await?.iter().map(sighting).collect()
    }

    async fn forget_worker(&self, name: &str) -> Answer<()> {
        self.query("forgetting a worker", "DELETE FROM workers WHERE name = $1", &[&name]).await.map(drop)
    }

    async fn lock(&self, name: &str, holder: &str, lock_ms: i64) -> Answer<bool> {
        Ok(!self.query("taking a lock", LOCK, &[&name, &holder, &lock_ms]).await?.is_empty())
    }

    async fn unlock(&self, name: &str, holder: &str) -> Answer<()> {
        let sql = "DELETE FROM locks WHERE name = $1 AND holder = $2";
        self.query("letting a lock go", sql, &[&name, &holder]).await.map(drop)
    }

    async fn project(&self, id: ProjectId) -> Answer<Option<Stored<Project>>> {
        self.record("project", &id.to_string()).await
    }

    async fn projects(&self, cursor: Option<Cursor>, limit: u32) -> Answer<Page<Project>> {
        let rows = self.select("listing projects", filter::projects(cursor, limit)).await?;
        let Page { items, next } = page("project", &rows, limit)?;
        Ok(Page { items: items.into_iter().map(|stored| stored.value).collect(), next })
    }

    async fn session(&self, id: &SessionId) -> Answer<Option<Stored<Session>>> {
        self.record("session", id.as_str()).await
    }

    async fn messages(&self, session: &SessionId, after: u32, limit: u32) -> Answer<Vec<Message>> {
        let sql = "SELECT key, version, body FROM records
            WHERE kind = 'message' AND session = $1 AND place > $2 ORDER BY place LIMIT $3";
        let params: Params<'_> = &[&session.as_str(), &i64::from(after), &i64::from(limit)];
        let rows = self.query("reading messages", sql, params).await?;
        Ok(all_stored("message", &rows)?.into_iter().map(|stored| stored.value).collect())
    }

    async fn task(&self, id: TaskId) -> Answer<Option<Stored<Task>>> {
        let sql = "SELECT id, version, body FROM tasks WHERE id = $1";
        let rows = self.query("reading a task", sql, &[&id.to_string()]).await?;
        rows.first().map(|row| stored("task", row)).transpose()
    }

    async fn tasks(
        &self,
        filter: &TaskFilter,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> Answer<Page<Stored<Task>>> {
        let rows = self.select("listing tasks", filter::tasks(filter, cursor, limit)).await?;
        page("task", &rows, limit)
    }

    async fn ready(&self, limit: u32) -> Answer<Vec<Stored<Task>>> {
        let sql = "SELECT t.id, t.version, t.body FROM
            (SELECT id, rank, created_ms FROM ready ORDER BY rank + 0, created_ms, id LIMIT $1) r
            JOIN tasks t ON t.id = r.id ORDER BY r.rank, r.created_ms, r.id";
        all_stored("task", &self.query("listing ready tasks", sql, &[&i64::from(limit)]).await?)
    }

    async fn ready_count(&self) -> Answer<u64> {
        Ok(count(self.query("counting ready tasks", "SELECT count(*) FROM ready", &[]).await?.first()))
    }

    async fn queue_counts(&self) -> Answer<BTreeMap<Queue, u64>> {
        let sql = "SELECT queue, count(*) FROM tasks WHERE queue <> 'done' GROUP BY queue";
        let rows = self.query("counting tasks", sql, &[]).await?;
        let counted = rows.iter().filter_map(|row| {
            let queue = Queue::ALL.into_iter().find(|queue| queue.as_str() == row.get::<_, &str>(0))?;
            Some((queue, u64::try_from(row.get::<_, i64>(1)).unwrap_or(0)))
        });
        Ok(counted.collect())
    }

    async fn tasks_by_prefix(&self, prefix: &str, limit: u32) -> Answer<Vec<TaskId>> {
        // Compared as a range, so that no character of the prefix can mean anything else; ids end long before `~`.
        let sql = "SELECT id FROM tasks WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3";
        if prefix.contains('\0') {
            return Ok(Vec::new());
        }
        let params: Params<'_> = &[&prefix, &format!("{prefix}~"), &i64::from(limit)];
        let rows = self.query("looking for a task", sql, params).await?;
        rows.iter().map(|row| key("task", row.get(0))).collect()
    }

    async fn dependencies(&self, task: TaskId) -> Answer<Vec<TaskDependency>> {
        let sql = "SELECT task, blocker, is_met FROM edges WHERE task = $1 ORDER BY blocker";
        let rows = self.query("reading dependencies", sql, &[&task.to_string()]).await?;
        rows.iter().map(dependency).collect()
    }

    async fn dependents(
        &self,
        task: TaskId,
        after: Option<TaskId>,
        limit: u32,
    ) -> Answer<Vec<TaskDependency>> {
        let sql =
            "SELECT task, blocker, is_met FROM edges WHERE blocker = $1 AND task > $2 ORDER BY task LIMIT $3";
        let after = after.map(|after| after.to_string()).unwrap_or_default();
        let rows =
            self.query("reading dependents", sql, &[&task.to_string(), &after, &i64::from(limit)]).await?;
        rows.iter().map(dependency).collect()
    }

    async fn task_groups(&self, cursor: Option<Cursor>, limit: u32) -> Answer<Page<TaskGroup>> {
        let listed = self.select("listing task groups", filter::groups(cursor, limit)).await?;
        let sessions: Vec<&str> = listed.iter().take(limit as usize).map(|row| row.get(0)).collect();
        let counts = self.query("counting tasks", groups::COUNTS, &[&sessions]).await?;
        let ends = self.query("reading task groups", groups::ENDS, &[&sessions]).await?;
        groups::page(&listed, limit, &counts, &ends)
    }

    async fn attempts(&self, task: TaskId) -> Answer<Vec<AttemptRecord>> {
        let sql =
            "SELECT key, version, body FROM records WHERE kind = 'attempt' AND task = $1 ORDER BY place";
        let rows = self.query("reading attempts", sql, &[&task.to_string()]).await?;
        Ok(all_stored("attempt", &rows)?.into_iter().map(|stored| stored.value).collect())
    }

    async fn attempt(&self, id: AttemptId) -> Answer<Option<AttemptRecord>> {
        Ok(self.record("attempt", &id.to_string()).await?.map(|stored| stored.value))
    }

    async fn workers_of(&self, attempts: &[AttemptId]) -> Answer<BTreeMap<AttemptId, String>> {
        let ids: Vec<String> = attempts.iter().map(ToString::to_string).collect();
        let sql = "SELECT key, version, body FROM records WHERE kind = 'attempt' AND key = ANY($1)";
        let rows = self.query("reading attempts", sql, &[&ids]).await?;
        let records: Vec<Stored<AttemptRecord>> = all_stored("attempt", &rows)?;
        let named = records.into_iter().map(|stored| stored.value.attempt);
        Ok(named.filter_map(|attempt| Some((attempt.id, attempt.worker?))).collect())
    }

    async fn question(&self, id: QuestionId) -> Answer<Option<Stored<QuestionRecord>>> {
        self.record("question", &id.to_string()).await
    }

    async fn questions(
        &self,
        filter: &QuestionFilter,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> Answer<Page<Stored<QuestionRecord>>> {
        let rows = self.select("listing questions", filter::questions(filter, cursor, limit)).await?;
        page("question", &rows, limit)
    }

    async fn plan(&self, breakdown: TaskId) -> Answer<Option<Stored<PlanRecord>>> {
        self.record("plan", &breakdown.to_string()).await
    }

    async fn run(&self, id: RunId) -> Answer<Option<Stored<Run>>> {
        self.record("run", &id.to_string()).await
    }

    async fn open_runs(&self) -> Answer<Vec<Stored<Run>>> {
        let sql = "SELECT key, version, body FROM records WHERE kind = 'run' AND is_open ORDER BY key";
        all_stored("run", &self.query("listing runs", sql, &[]).await?)
    }

    async fn phase_loop(&self, session: &SessionId) -> Answer<Option<Stored<PhaseLoop>>> {
        self.record("loop", session.as_str()).await
    }

    async fn holds(&self) -> Answer<Vec<Stored<Hold>>> {
        let sql = "SELECT key, version, body FROM records WHERE kind = 'hold' ORDER BY key";
        all_stored("hold", &self.query("listing holds", sql, &[]).await?)
    }

    async fn spending(&self, account: Account) -> Answer<Option<Stored<Spending>>> {
        self.record("spending", &account.key()).await
    }

    async fn access_token(&self, name: &PersonName) -> Answer<Option<Stored<AccessToken>>> {
        self.record("access_token", name.as_str()).await
    }

    async fn access_tokens(&self) -> Answer<Vec<Stored<AccessToken>>> {
        let sql = "SELECT key, version, body FROM records WHERE kind = 'access_token' ORDER BY key";
        all_stored("access_token", &self.query("listing tokens", sql, &[]).await?)
    }

    async fn receipt(&self, key: &ReceiptKey) -> Answer<Option<Receipt>> {
        Ok(self.record("receipt", key.as_str()).await?.map(|stored| stored.value))
    }

    async fn events_after(&self, seq: u64, limit: u32) -> Answer<Vec<Recorded>> {
        let sql = "SELECT seq, body FROM events WHERE seq > $1 ORDER BY seq LIMIT $2";
        let rows = self.query("reading events", sql, &[&signed(seq), &i64::from(limit)]).await?;
        rows.iter().map(recorded).collect()
    }

    async fn task_events(&self, task: TaskId, after: u64, limit: u32) -> Answer<Vec<Recorded>> {
        let sql = "SELECT seq, body FROM events WHERE task = $1 AND seq > $2 ORDER BY seq LIMIT $3";
        let params: Params<'_> = &[&task.to_string(), &signed(after), &i64::from(limit)];
        self.query("reading events", sql, params).await?.iter().map(recorded).collect()
    }

    fn log_line(&self) -> Option<LogLine> {
        let (pool, news) = (self.inner.pool.clone(), self.inner.logs.clone());
        Some(LogLine { pool, news, channel: self.inner.connector.schema().to_owned() })
    }

    fn subscribe(&self) -> watch::Receiver<u64> {
        self.inner.news.subscribe()
    }

    async fn pending_effects(&self, after: Option<EffectId>, limit: u32) -> Answer<Vec<PendingEffect>> {
        let sql = "SELECT id, body FROM outbox WHERE id > $1 ORDER BY id LIMIT $2";
        let after = after.map_or(0, |id| signed(id.bits()));
        let rows = self.query("reading effects", sql, &[&after, &i64::from(limit)]).await?;
        rows.iter()
            .map(|row| {
                let id = EffectId::from_bits(version(row, 0));
                let effect = serde_json::from_str(row.get(1))
                    .map_err(|error| bad_row("effect", &id.to_string(), &error))?;
                Ok(PendingEffect { id, effect })
            })
            .collect()
    }

    async fn finish_effects(&self, ids: &[EffectId]) -> Answer<()> {
        let ids: Vec<i64> = ids.iter().map(|id| signed(id.bits())).collect();
        self.query("finishing effects", "DELETE FROM outbox WHERE id = ANY($1)", &[&ids]).await?;
        Ok(())
    }

    async fn prune(&self, retention: &Retention) -> Answer<Pruned> {
        retention::prune(&self.inner.pool, retention).await
    }

    async fn backup(&self, to: &Path) -> Answer<()> {
        let connector = &self.inner.connector;
        let (schema, database) = (connector.schema(), connector.database());
        let detail = format!(
            "PostgreSQL makes its own copies; run: pg_dump --format=custom --schema={schema} --file={} {database}",
            to.display()
        );
        Err(StoreError::Backend { doing: "backing up", detail })
    }

    async fn close(&self) -> Answer<()> {
        self.shut().await;
        Ok(())
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
