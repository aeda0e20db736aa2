//! Locking the rows a batch touches and reading what has to be known of them.

use std::collections::BTreeSet;

use baton_core::base::id::TaskId;
use baton_core::records::change::{Change, EdgeChange};
use tokio_postgres::Row;

use super::batch::{Known, TaskFacts};
use super::connect::Link;
use super::fault::Fault;
use super::pipeline::{Pipeline, params};
use super::row::RowKey;
use crate::columns::kind_and_key;
use crate::error::StoreError;

/// In the order of their ids, so that two batches never wait for one another.
const LOCK_TASKS: &str = "SELECT id, version, is_done, is_claimable, replaced_by FROM tasks
    WHERE id = ANY($1) ORDER BY id FOR UPDATE";
const LOCK_RECORDS: &str = "SELECT r.kind, r.key, r.version
    FROM unnest($1::text[], $2::text[]) AS u (kind, key) JOIN records r ON r.kind = u.kind AND r.key = u.key
    ORDER BY r.kind, r.key FOR UPDATE OF r";

/// Held until the transaction ends. Taken before any row, so that nobody waits for it with rows in hand.
pub(super) const TAKE_TURN: &str = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text";

const DOING: &str = "locking rows";

/// The rows a batch reads before it decides.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    tasks: BTreeSet<TaskId>,
    records: BTreeSet<RowKey>,
}

impl Wanted {
    pub(super) fn of<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Self {
        let mut wanted = Self::default();
        for change in changes {
            for put in &change.puts {
                match &put.record {
                    baton_core::records::change::Record::Task(task) => _ = wanted.tasks.insert(task.id()),
                    record => _ = wanted.records.insert(kind_and_key(record)),
                }
            }
            for edge in &change.edges {
                match edge {
                    EdgeChange::Add { task, on } => wanted.tasks.extend([task, on]),
                    EdgeChange::Rewire { from, to } => wanted.tasks.extend(to.iter().chain([from])),
                }
            }
        }
        wanted
    }

    /// Begins the transaction, unless it `has_begun`, and locks and reads all of it, behind the lock named `turn` where
    /// there is one.
    pub(super) async fn lock(
        &self,
        link: &Link,
        has_begun: bool,
        turn: Option<String>,
    ) -> Result<Known, Fault> {
        let mut pipeline = Pipeline::new(link, DOING);
        let (kinds, keys): (Vec<&'static str>, Vec<String>) = self.records.iter().cloned().unzip();
        let known_kinds: BTreeSet<&'static str> = kinds.iter().copied().collect();
        if !has_begun {
            pipeline.run("BEGIN");
        }
        if let Some(turn) = turn {
            pipeline.add(TAKE_TURN, params![turn]).await?;
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
        let mut known = Known::default();
        for row in records.and_then(|place| answers.get(place)).into_iter().flatten() {
            if let Some(kind) = known_kinds.get(row.get::<_, &str>(0)) {
                known.versions.insert((*kind, row.get(1)), version(row, 2));
            }
        }
        for row in tasks.and_then(|place| answers.get(place)).into_iter().flatten() {
            learn(&mut known, row)?;
        }
        self.follow_replaced(link, &mut known).await?;
        Ok(known)
    }

    /// Edges to a task that was replaced lead to others, which have to be locked as well.
    async fn follow_replaced(&self, link: &Link, known: &mut Known) -> Result<(), Fault> {
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
            let rows = link.query(DOING, LOCK_TASKS, &[&texts(&missing)]).await?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in &rows {
                learn(known, row)?;
            }
        }
    }
}

pub(super) fn texts<'a>(ids: impl IntoIterator<Item = &'a TaskId>) -> Vec<String> {
    ids.into_iter().map(ToString::to_string).collect()
}

fn learn(known: &mut Known, row: &Row) -> Result<(), Fault> {
    let text: String = row.get(0);
    let id = task_id(&text)?;
    let replaced_by: &str = row.get(4);
    let replaced_by = replaced_by.split_whitespace().map(task_id).collect::<Result<_, _>>()?;
    known.versions.insert(("task", text), version(row, 1));
    known.tasks.insert(id, TaskFacts { is_done: row.get(2), is_claimable: row.get(3), replaced_by });
    Ok(())
}

pub(super) fn version(row: &Row, column: usize) -> u64 {
    u64::try_from(row.get::<_, i64>(column)).unwrap_or(0)
}

pub(super) fn task_id(text: &str) -> Result<TaskId, Fault> {
    text.parse().map_err(|_| {
        let detail = "this is no task id".to_owned();
        Fault::Final(StoreError::BadRow { kind: "task", key: text.to_owned(), detail })
    })
}
