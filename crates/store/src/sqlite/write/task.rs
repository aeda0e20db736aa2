//! A task's row and what depends on it: `ready`, its group, the counters.

use baton_core::records::change::EdgeChange;
use baton_core::task::Task;
use rusqlite::{OptionalExtension, Statement, params};

use crate::columns::TaskColumns;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::rows::task_key;
use crate::sqlite::transaction::{ReadyKey, Transaction};
use crate::sqlite::write::rendered::RenderedPut;

/// What the rest of a change needs to know about the tasks it wrote.
#[derive(Default)]
pub(crate) struct WrittenTasks {
    /// Became done; their dependents must be unblocked.
    pub(crate) done: Vec<i64>,
    /// New, claimable and about to get edges; ready only if none of those block.
    pub(crate) held_back: Vec<ReadyKey>,
}

/// A task's row before the change.
pub(crate) struct TaskRow {
    version: u64,
    open_blockers: i64,
    is_claimable: bool,
    is_done: bool,
    is_provisional: bool,
    rank: i64,
}

impl TaskRow {
    /// The row of a task found in `ready`, which nothing blocks.
    pub(crate) const fn ready(version: u64, rank: i64) -> Self {
        Self { version, open_blockers: 0, is_claimable: true, is_done: false, is_provisional: false, rank }
    }
}

/// `known` is the row, if the caller has already read it in this transaction.
pub(crate) fn put(
    tx: &mut Transaction<'_>,
    put: &RenderedPut,
    task: &Task,
    known: Option<TaskRow>,
    edges: &[EdgeChange],
    written: &mut WrittenTasks,
) -> Result<(), SqliteFault> {
    let columns = TaskColumns::new(task);
    let before = if known.is_some() { known } else { read_row(tx, &columns)? };
    let next = put.next_version(before.as_ref().map(|before| before.version))?;
    let (was_done, was_provisional) =
        before.as_ref().map_or((false, false), |row| (row.is_done, row.is_provisional));
    tx.counters.unaccepted += i64::from(columns.is_provisional) - i64::from(was_provisional);
    if columns.is_done && !was_done {
        written.done.push(task_key(columns.id));
    }
    match before {
        None => insert(tx, next, &put.body, &columns, edges, written),
        Some(before) => update(tx, next, &put.body, &columns, &before),
    }
}

/// Called after the change's edges are written.
pub(crate) fn settle(tx: &mut Transaction<'_>, held_back: &[ReadyKey]) -> Result<(), SqliteFault> {
    for key in held_back {
        let open: i64 = tx
            .statement("SELECT open_blockers FROM tasks WHERE id = ?1")?
            .query_row([key.task], |row| row.get(0))?;
        if open == 0 {
            tx.set_ready(key, true)?;
        }
    }
    Ok(())
}

fn read_row(tx: &mut Transaction<'_>, columns: &TaskColumns<'_>) -> Result<Option<TaskRow>, SqliteFault> {
    let sql =
        "SELECT version, open_blockers, is_claimable, is_done, is_provisional, rank FROM tasks WHERE id = ?1";
    let row = tx.statement(sql)?.query_row([task_key(columns.id)], |row| {
        Ok(TaskRow {
            version: row.get::<_, i64>(0)?.cast_unsigned(),
            open_blockers: row.get(1)?,
            is_claimable: row.get(2)?,
            is_done: row.get(3)?,
            is_provisional: row.get(4)?,
            rank: row.get(5)?,
        })
    });
    Ok(row.optional()?)
}

fn insert(
    tx: &mut Transaction<'_>,
    version: i64,
    body: &str,
    columns: &TaskColumns<'_>,
    edges: &[EdgeChange],
    written: &mut WrittenTasks,
) -> Result<(), SqliteFault> {
    let sql = "INSERT INTO tasks (id, version, is_claimable, is_done, is_finished, is_provisional, is_replaced, rank,
            updated_ms, queue, status, body, open_blockers, created_ms, project, role, session, title, person)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 0, ?13, ?14, ?15, ?16, ?17, ?18)";
    let statement = tx.statement(sql)?;
    bind_state(statement, version, body, columns)?;
    statement.raw_bind_parameter(13, columns.created_ms)?;
    statement.raw_bind_parameter(14, columns.project.map(|project| i64::from(project.bits())))?;
    statement.raw_bind_parameter(15, columns.role)?;
    statement.raw_bind_parameter(16, columns.session)?;
    statement.raw_bind_parameter(17, columns.title)?;
    statement.raw_bind_parameter(18, columns.person)?;
    statement.raw_execute()?;
    join_group(tx, columns)?;
    if columns.is_claimable {
        let key = ready_key(columns, columns.rank);
        let has_edges = edges.iter().any(|edge| match edge {
            EdgeChange::Add { task, .. } => *task == columns.id,
            EdgeChange::Remove { .. } | EdgeChange::Rewire { .. } => false,
        });
        if has_edges {
            written.held_back.push(key);
        } else {
            tx.set_ready(&key, true)?;
        }
    }
    Ok(())
}

/// A revision changes a task's title and priority only; the other columns from its spec never change.
fn update(
    tx: &mut Transaction<'_>,
    version: i64,
    body: &str,
    columns: &TaskColumns<'_>,
    before: &TaskRow,
) -> Result<(), SqliteFault> {
    let sql = "UPDATE tasks SET version = ?2, is_claimable = ?3, is_done = ?4, is_finished = ?5, is_provisional = ?6,
            is_replaced = ?7, rank = ?8, updated_ms = ?9, queue = ?10, status = ?11, body = ?12, title = ?13
        WHERE id = ?1";
    let statement = tx.statement(sql)?;
    bind_state(statement, version, body, columns)?;
    statement.raw_bind_parameter(13, columns.title)?;
    statement.raw_execute()?;
    if before.open_blockers > 0
        || (before.is_claimable == columns.is_claimable && before.rank == columns.rank)
    {
        return Ok(());
    }
    if before.is_claimable {
        tx.set_ready(&ready_key(columns, before.rank), false)?;
    }
    if columns.is_claimable {
        tx.set_ready(&ready_key(columns, columns.rank), true)?;
    }
    Ok(())
}

/// The first twelve parameters of both statements: everything that may change.
fn bind_state(
    statement: &mut Statement<'_>,
    version: i64,
    body: &str,
    columns: &TaskColumns<'_>,
) -> rusqlite::Result<()> {
    statement.raw_bind_parameter(1, task_key(columns.id))?;
    statement.raw_bind_parameter(2, version)?;
    statement.raw_bind_parameter(3, columns.is_claimable)?;
    statement.raw_bind_parameter(4, columns.is_done)?;
    statement.raw_bind_parameter(5, columns.is_finished)?;
    statement.raw_bind_parameter(6, columns.is_provisional)?;
    statement.raw_bind_parameter(7, !columns.replaced_by.is_empty())?;
    statement.raw_bind_parameter(8, columns.rank)?;
    statement.raw_bind_parameter(9, columns.updated_ms)?;
    statement.raw_bind_parameter(10, columns.queue)?;
    statement.raw_bind_parameter(11, columns.status)?;
    statement.raw_bind_parameter(12, body)
}

fn ready_key(columns: &TaskColumns<'_>, rank: i64) -> ReadyKey {
    ReadyKey {
        role: columns.role.to_owned(),
        rank,
        created_ms: columns.created_ms,
        task: task_key(columns.id),
    }
}

/// A session's oldest task determines its group's position and first prompt.
fn join_group(tx: &mut Transaction<'_>, columns: &TaskColumns<'_>) -> Result<(), SqliteFault> {
    let sql = "INSERT INTO task_groups (session, created_ms, first_task) VALUES (?1, ?2, ?3)
        ON CONFLICT (session) DO UPDATE SET created_ms = ?2, first_task = ?3
        WHERE (?2, ?3) < (created_ms, first_task)";
    tx.run(sql, params![columns.session, columns.created_ms, task_key(columns.id)])?;
    Ok(())
}
