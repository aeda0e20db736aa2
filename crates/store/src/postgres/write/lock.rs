//! Locks and reads the rows a batch touches.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::TaskId;
use baton_core::records::change::{Change, EdgeChange};
use tokio_postgres::Row;

use crate::columns::record_key;
use crate::model::record_kind::RecordKind;
use crate::postgres::connect::connector::PgConnection;
use crate::postgres::connect::fault::PostgresFault;
use crate::postgres::connect::pipeline::{Pipeline, params};
use crate::postgres::decode::{task_id, texts, version};
use crate::postgres::write::facts::{LockedRows, TaskFacts};
use crate::postgres::write::row::RowKey;

/// In id order, so that two batches never deadlock.
const LOCK_TASKS: &str = "SELECT id, version, is_done, is_claimable, replaced_by FROM tasks
    WHERE id = ANY($1) ORDER BY id FOR UPDATE";
const LOCK_RECORDS: &str = "SELECT r.kind, r.key, r.version
    FROM unnest($1::text[], $2::text[]) AS u (kind, key) JOIN records r ON r.kind = u.kind AND r.key = u.key
    ORDER BY r.kind, r.key FOR UPDATE OF r";

/// Held until the transaction ends. Taken before any row lock, so that nobody waits for it while holding rows.
pub(crate) const ADVISORY_LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text";

const DOING: &str = "locking rows";

/// The rows a batch reads before it decides.
#[derive(Debug, Default)]
pub(crate) struct LockSet {
    tasks: BTreeSet<TaskId>,
    records: BTreeSet<RowKey>,
}

impl LockSet {
    pub(crate) fn new<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Self {
        let mut wanted = Self::default();
        for change in changes {
            for put in &change.puts {
                match &put.record {
                    baton_core::records::change::Record::Task(task) => _ = wanted.tasks.insert(task.id()),
                    record => _ = wanted.records.insert(record_key(record)),
                }
            }
            for edge in &change.edges {
                match edge {
                    EdgeChange::Add { task, on } | EdgeChange::Remove { task, on } => {
                        wanted.tasks.extend([task, on]);
                    }
                    EdgeChange::Rewire { from, to } => wanted.tasks.extend(to.iter().chain([from])),
                }
            }
        }
        wanted
    }

    /// Begins the transaction unless it `has_begun`, takes `advisory_lock` if given, and locks and reads the rows.
    pub(crate) async fn lock(
        &self,
        conn: &PgConnection,
        has_begun: bool,
        advisory_lock: Option<String>,
    ) -> Result<LockedRows, PostgresFault> {
        let mut pipeline = Pipeline::new(conn, DOING);
        let (kinds, keys): (Vec<&'static str>, Vec<String>) =
            self.records.iter().map(|(kind, key)| (kind.as_str(), key.clone())).unzip();
        let known_kinds: BTreeMap<&'static str, RecordKind> =
            self.records.iter().map(|(kind, _)| (kind.as_str(), *kind)).collect();
        if !has_begun {
            pipeline.run("BEGIN");
        }
        if let Some(advisory_lock) = advisory_lock {
            pipeline.add(ADVISORY_LOCK, params![advisory_lock]).await?;
        }
        let tasks = if self.tasks.is_empty() {
            None
        } else {
            Some(pipeline.add(LOCK_TASKS, params![texts(&self.tasks)]).await?)
        };
        let records = if keys.is_empty() {
            None
        } else {
            Some(pipeline.add(LOCK_RECORDS, params![kinds, keys]).await?)
        };
        let answers = pipeline.flush().await?;
        let mut known = LockedRows::default();
        for row in records.and_then(|place| answers.get(place)).into_iter().flatten() {
            if let Some(kind) = known_kinds.get(row.get::<_, &str>(0)) {
                known.versions.insert((*kind, row.get(1)), version(row, 2));
            }
        }
        for row in tasks.and_then(|place| answers.get(place)).into_iter().flatten() {
            insert_task(&mut known, row)?;
        }
        self.follow_replaced(conn, &mut known).await?;
        Ok(known)
    }

    /// Edges to a replaced task resolve to others, which have to be locked as well.
    async fn follow_replaced(
        &self,
        conn: &PgConnection,
        known: &mut LockedRows,
    ) -> Result<(), PostgresFault> {
        loop {
            let missing: BTreeSet<TaskId> = known
                .tasks
                .values()
                .flat_map(|facts| &facts.replaced_by)
                .filter(|task| !known.tasks.contains_key(task) && !self.tasks.contains(task))
                .copied()
                .collect();
            if missing.is_empty() {
                return Ok(());
            }
            let rows = conn.query(DOING, LOCK_TASKS, &[&texts(&missing)]).await?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in &rows {
                insert_task(known, row)?;
            }
        }
    }
}

fn insert_task(known: &mut LockedRows, row: &Row) -> Result<(), PostgresFault> {
    let text: String = row.get(0);
    let id = task_id(&text)?;
    let replaced_by: &str = row.get(4);
    let replaced_by = replaced_by.split_whitespace().map(task_id).collect::<Result<_, _>>()?;
    known.versions.insert((RecordKind::Task, text), version(row, 1));
    known.tasks.insert(id, TaskFacts { is_done: row.get(2), is_claimable: row.get(3), replaced_by });
    Ok(())
}
