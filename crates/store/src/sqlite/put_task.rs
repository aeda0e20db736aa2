//! A task's row and what hangs on it: its place among the ready ones, its group, the counters.

use baton_core::records::change::EdgeChange;
use baton_core::task::Task;
use rusqlite::{OptionalExtension, Statement, params};

use super::apply::next_version;
use super::batch::{Batch, ReadyKey};
use super::fault::Fault;
use super::rendered::RenderedPut;
use super::rows::of_task;
use crate::columns::TaskColumns;

/// What the rest of a change has to know about the tasks it wrote.
#[derive(Default)]
pub struct Written {
    /// Became done with this change; their dependents are to be told.
    pub done: Vec<i64>,
    /// New and claimable, but about to get edges: whether they are ready is known after those.
    pub held_back: Vec<ReadyKey>,
}

/// A task's row as it is before the change.
pub struct Before {
    version: u64,
    open_blockers: i64,
    is_claimable: bool,
    is_done: bool,
    is_provisional: bool,
    rank: i64,
}

impl Before {
    /// Of a task that was found among the ready ones, where only those are that nothing blocks.
    pub const fn ready(version: u64, rank: i64) -> Self {
        Self { version, open_blockers: 0, is_claimable: true, is_done: false, is_provisional: false, rank }
    }
}

/// `known` is the row for whoever has read it in this transaction already.
pub fn put(
    batch: &mut Batch<'_>,
    put: &RenderedPut,
    task: &Task,
    known: Option<Before>,
    edges: &[EdgeChange],
    written: &mut Written,
) -> Result<(), Fault> {
    let columns = TaskColumns::of(task);
    let before = if known.is_some() { known } else { before(batch, &columns)? };
    let next = next_version(put, before.as_ref().map(|before| before.version))?;
    let (was_done, was_provisional) =
        before.as_ref().map_or((false, false), |row| (row.is_done, row.is_provisional));
    batch.counters.unaccepted += i64::from(columns.is_provisional) - i64::from(was_provisional);
    if columns.is_done && !was_done {
        written.done.push(of_task(columns.id));
    }
    match before {
        None => insert(batch, next, &put.body, &columns, edges, written),
        Some(before) => update(batch, next, &put.body, &columns, &before),
    }
}

/// Once a change's edges are in place: what was held back is ready if nothing blocks it.
pub fn settle(batch: &mut Batch<'_>, held_back: &[ReadyKey]) -> Result<(), Fault> {
    for key in held_back {
        let open: i64 = batch
            .statement("SELECT open_blockers FROM tasks WHERE id = ?1")?
            .query_row([key.task], |row| row.get(0))?;
        if open == 0 {
            batch.set_ready(key, true)?;
        }
    }
    Ok(())
}

fn before(batch: &mut Batch<'_>, columns: &TaskColumns<'_>) -> Result<Option<Before>, Fault> {
    let sql =
        "SELECT version, open_blockers, is_claimable, is_done, is_provisional, rank FROM tasks WHERE id = ?1";
    let row = batch.statement(sql)?.query_row([of_task(columns.id)], |row| {
        Ok(Before {
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
    batch: &mut Batch<'_>,
    version: i64,
    body: &str,
    columns: &TaskColumns<'_>,
    edges: &[EdgeChange],
    written: &mut Written,
) -> Result<(), Fault> {
    let sql = "INSERT INTO tasks (id, version, is_claimable, is_done, is_finished, is_provisional, is_replaced, rank,
            updated_ms, queue, status, body, open_blockers, created_ms, project, role, session, title, person)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 0, ?13, ?14, ?15, ?16, ?17, ?18)";
    let statement = batch.statement(sql)?;
    bind_state(statement, version, body, columns)?;
    statement.raw_bind_parameter(13, columns.created_ms)?;
    statement.raw_bind_parameter(14, columns.project.map(|project| i64::from(project.bits())))?;
    statement.raw_bind_parameter(15, columns.role)?;
    statement.raw_bind_parameter(16, columns.session)?;
    statement.raw_bind_parameter(17, columns.title)?;
    statement.raw_bind_parameter(18, columns.person)?;
    statement.raw_execute()?;
    join_group(batch, columns)?;
    if columns.is_claimable {
        let key = key_of(columns, columns.rank);
        let has_edges = edges.iter().any(|edge| match edge {
            EdgeChange::Add { task, .. } => *task == columns.id,
            EdgeChange::Rewire { .. } => false,
        });
        if has_edges {
            written.held_back.push(key);
        } else {
            batch.set_ready(&key, true)?;
        }
    }
    Ok(())
}

/// Of a task's specification a revision changes the title and the priority; the other columns made of it never change.
fn update(
    batch: &mut Batch<'_>,
    version: i64,
    body: &str,
    columns: &TaskColumns<'_>,
    before: &Before,
) -> Result<(), Fault> {
    let sql = "UPDATE tasks SET version = ?2, is_claimable = ?3, is_done = ?4, is_finished = ?5, is_provisional = ?6,
            is_replaced = ?7, rank = ?8, updated_ms = ?9, queue = ?10, status = ?11, body = ?12, title = ?13
        WHERE id = ?1";
    let statement = batch.statement(sql)?;
    bind_state(statement, version, body, columns)?;
    statement.raw_bind_parameter(13, columns.title)?;
    statement.raw_execute()?;
    if before.open_blockers > 0
        || (before.is_claimable == columns.is_claimable && before.rank == columns.rank)
    {
        return Ok(());
    }
    if before.is_claimable {
        batch.set_ready(&key_of(columns, before.rank), false)?;
    }
    if columns.is_claimable {
        batch.set_ready(&key_of(columns, columns.rank), true)?;
    }
    Ok(())
}

/// The first twelve values of both statements: all of a row that may change.
fn bind_state(
    statement: &mut Statement<'_>,
    version: i64,
    body: &str,
    columns: &TaskColumns<'_>,
) -> rusqlite::Result<()> {
    statement.raw_bind_parameter(1, of_task(columns.id))?;
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

fn key_of(columns: &TaskColumns<'_>, rank: i64) -> ReadyKey {
    ReadyKey {
        role: columns.role.to_owned(),
        rank,
        created_ms: columns.created_ms,
        task: of_task(columns.id),
    }
}

/// The oldest task of a session gives its group a place in the list and its first words.
fn join_group(batch: &mut Batch<'_>, columns: &TaskColumns<'_>) -> Result<(), Fault> {
    let sql = "INSERT INTO task_groups (session, created_ms, first_task) VALUES (?1, ?2, ?3)
        ON CONFLICT (session) DO UPDATE SET created_ms = ?2, first_task = ?3
        WHERE (?2, ?3) < (created_ms, first_task)";
    batch.run(sql, params![columns.session, columns.created_ms, of_task(columns.id)])?;
    Ok(())
}
