//! A change inside the transaction: rows under their guards, then edges, events and effects.

use baton_core::ask::question_record::QuestionRecord;
use baton_core::recipe::run::RunState;
use baton_core::records::change::{EdgeChange, Record, WriteGuard};
use baton_core::task::attempt_record::AttemptRecord;
use rusqlite::{OptionalExtension, Params, params};

use super::batch::Batch;
use super::fault::Fault;
use super::put_task::{self, Before, Written};
use super::rendered::{Rendered, RenderedEvent, RenderedPut};
use super::rows::{of_attempt, of_task};
use super::unblock;
use super::{edges, leases, sharing};
use crate::columns::{is_pending, kind_and_key};
use crate::commit::Conflict;

/// Writes all of it, or fails half way: the caller undoes what a failed one has written. Returns the number of
/// the last event.
pub fn apply(batch: &mut Batch<'_>, change: &Rendered) -> Result<u64, Fault> {
    write(batch, change, None)
}

/// As `apply`, for a change of one task whose row the caller has just read.
pub fn apply_to(batch: &mut Batch<'_>, task: Before, change: &Rendered) -> Result<u64, Fault> {
    write(batch, change, Some(task))
}

fn write(batch: &mut Batch<'_>, change: &Rendered, mut known: Option<Before>) -> Result<u64, Fault> {
    let Rendered { puts, edges, events, effects } = change;
    let mut written = Written::default();
    for put in puts {
        put_one(batch, put, known.take_if(|_| matches!(put.record, Record::Task(_))), edges, &mut written)?;
    }
    for edge in edges {
        edges::apply(batch, edge)?;
    }
    put_task::settle(batch, &written.held_back)?;
    for task in written.done {
        unblock::begin(batch, task)?;
    }
    for event in events {
        record(batch, event)?;
    }
    for effect in effects {
        post(batch, effect)?;
    }
    Ok(batch.counters.last_seq.cast_unsigned())
}

fn put_one(
    batch: &mut Batch<'_>,
    put: &RenderedPut,
    known: Option<Before>,
    edges: &[EdgeChange],
    written: &mut Written,
) -> Result<(), Fault> {
    match &put.record {
        Record::Task(task) => put_task::put(batch, put, task, known, edges, written)?,
        Record::Attempt(attempt) => put_attempt(batch, put, attempt)?,
        Record::Question(question) => put_question(batch, put, question)?,
        Record::Project(project) => {
            let id = i64::from(project.id.bits());
            let next = guarded(batch, put, "SELECT version FROM projects WHERE id = ?1", [id])?;
            let sql = "INSERT INTO projects (id, version, created_ms, body) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (id) DO UPDATE SET version = ?2, created_ms = ?3, body = ?4";
            batch.run(sql, params![id, next, project.created_at.ms(), put.body])?;
            sharing::limit(batch, project.id, project.at_once_max)?;
        }
        Record::Session(session) => {
            let id = session.id.as_str();
            let next = guarded(batch, put, "SELECT version FROM sessions WHERE id = ?1", [id])?;
            let sql = "INSERT INTO sessions (id, version, body) VALUES (?1, ?2, ?3)
                ON CONFLICT (id) DO UPDATE SET version = ?2, body = ?3";
            batch.run(sql, params![id, next, put.body])?;
        }
        Record::Message(message) => {
            let (session, number) = (message.session_id.as_str(), message.number);
            let find = "SELECT version FROM messages WHERE session = ?1 AND number = ?2";
            let next = guarded(batch, put, find, (session, number))?;
            let sql = "INSERT INTO messages (session, number, version, body) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (session, number) DO UPDATE SET version = ?3, body = ?4";
            batch.run(sql, params![session, number, next, put.body])?;
        }
        Record::Plan(plan) => {
            let id = of_task(plan.task_id);
            let next = guarded(batch, put, "SELECT version FROM plans WHERE task = ?1", [id])?;
            let sql = "INSERT INTO plans (task, version, body) VALUES (?1, ?2, ?3)
                ON CONFLICT (task) DO UPDATE SET version = ?2, body = ?3";
            batch.run(sql, params![id, next, put.body])?;
        }
        Record::Run(recipe_run) => {
            let id = i64::from(recipe_run.id().bits());
            let next = guarded(batch, put, "SELECT version FROM runs WHERE id = ?1", [id])?;
            let is_open = match recipe_run.state() {
                RunState::Working | RunState::AtGate { .. } | RunState::Leaving { .. } => true,
                RunState::Exited { .. } => false,
            };
            let sql = "INSERT INTO runs (id, version, is_open, body) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (id) DO UPDATE SET version = ?2, is_open = ?3, body = ?4";
            batch.run(sql, params![id, next, is_open, put.body])?;
        }
        Record::Loop(phase_loop) => {
            let id = phase_loop.session().as_str();
            let next = guarded(batch, put, "SELECT version FROM loops WHERE session = ?1", [id])?;
            let sql = "INSERT INTO loops (session, version, body) VALUES (?1, ?2, ?3)
                ON CONFLICT (session) DO UPDATE SET version = ?2, body = ?3";
            batch.run(sql, params![id, next, put.body])?;
        }
        Record::Hold(hold) => {
            let agent = hold.agent.as_str();
            let next = guarded(batch, put, "SELECT version FROM holds WHERE agent = ?1", [agent])?;
            let sql = "INSERT INTO holds (agent, version, is_open, body) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (agent) DO UPDATE SET version = ?2, is_open = ?3, body = ?4";
            batch.run(sql, params![agent, next, hold.released.is_none(), put.body])?;
        }
        Record::Spending(spending) => {
            let key = spending.account.key();
            let next = guarded(batch, put, "SELECT version FROM spendings WHERE account = ?1", [&key])?;
            let sql = "INSERT INTO spendings (account, version, body) VALUES (?1, ?2, ?3)
                ON CONFLICT (account) DO UPDATE SET version = ?2, body = ?3";
            batch.run(sql, params![key, next, put.body])?;
        }
        Record::AccessToken(token) => {
            let name = token.name.as_str();
            let next = guarded(batch, put, "SELECT version FROM access_tokens WHERE name = ?1", [name])?;
            let sql = "INSERT INTO access_tokens (name, version, body) VALUES (?1, ?2, ?3)
                ON CONFLICT (name) DO UPDATE SET version = ?2, body = ?3";
            batch.run(sql, params![name, next, put.body])?;
        }
        Record::Receipt(receipt) => {
            let key = receipt.key.as_str();
            let next = guarded(batch, put, "SELECT version FROM receipts WHERE key = ?1", [key])?;
            let sql = "INSERT INTO receipts (key, version, body) VALUES (?1, ?2, ?3)
                ON CONFLICT (key) DO UPDATE SET version = ?2, body = ?3";
            batch.run(sql, params![key, next, put.body])?;
        }
    }
    Ok(())
}

fn put_attempt(batch: &mut Batch<'_>, put: &RenderedPut, record: &AttemptRecord) -> Result<(), Fault> {
    let id = of_attempt(record.attempt.id);
    let next = guarded_unless_owned(batch, put, "SELECT version FROM attempts WHERE id = ?1", [id])?;
    let sql =
        "INSERT INTO attempts (id, version, task, number, body) VALUES (?1, coalesce(?2, 1), ?3, ?4, ?5)
        ON CONFLICT (id) DO UPDATE SET version = coalesce(?2, version + 1), body = ?5";
    let values = params![id, next, of_task(record.task_id), record.attempt.number, put.body];
    batch.run(sql, values)?;
    if record.closing.is_some() { leases::end(batch, id) } else { Ok(()) }
}

fn put_question(batch: &mut Batch<'_>, put: &RenderedPut, record: &QuestionRecord) -> Result<(), Fault> {
    let id = i64::from(record.question.id.bits());
    let next = guarded_unless_owned(batch, put, "SELECT version FROM questions WHERE id = ?1", [id])?;
    let sql = "INSERT INTO questions (id, version, is_pending, asked_ms, task, session, body)
        VALUES (?1, coalesce(?2, 1), ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT (id) DO UPDATE SET version = coalesce(?2, version + 1), is_pending = ?3, body = ?7";
    let values = params![
        id,
        next,
        is_pending(&record.state),
        record.asked_at.ms(),
        record.task_id.map(of_task),
        record.session_id.as_str(),
        put.body,
    ];
    batch.run(sql, values)?;
    Ok(())
}

fn record(batch: &mut Batch<'_>, event: &RenderedEvent) -> Result<(), Fault> {
    batch.counters.last_seq += 1;
    let sql = "INSERT INTO events (seq, task, at_ms, body) VALUES (?1, ?2, ?3, ?4)";
    let seq = batch.counters.last_seq;
    batch.run(sql, params![seq, event.task, event.at_ms, event.body])?;
    Ok(())
}

fn post(batch: &mut Batch<'_>, effect: &str) -> Result<(), Fault> {
    batch.counters.last_effect += 1;
    let sql = "INSERT INTO outbox (id, body) VALUES (?1, ?2)";
    let id = batch.counters.last_effect;
    batch.run(sql, (id, effect))?;
    Ok(())
}

/// Looks the row up and holds its guard against it. Returns the version it gets.
fn guarded(
    batch: &mut Batch<'_>,
    put: &RenderedPut,
    find: &'static str,
    key: impl Params,
) -> Result<i64, Fault> {
    let found: Option<i64> = batch.statement(find)?.query_row(key, |row| row.get(0)).optional()?;
    next_version(put, found.map(i64::cast_unsigned))
}

/// None for a row that another one guards: whatever is there, the statement itself counts on from it.
fn guarded_unless_owned(
    batch: &mut Batch<'_>,
    put: &RenderedPut,
    find: &'static str,
    key: impl Params,
) -> Result<Option<i64>, Fault> {
    match put.guard {
        WriteGuard::Owned => Ok(None),
        WriteGuard::New | WriteGuard::Version(_) => guarded(batch, put, find, key).map(Some),
    }
}

pub fn next_version(put: &RenderedPut, found: Option<u64>) -> Result<i64, Fault> {
    let is_as_expected = match put.guard {
        WriteGuard::New => found.is_none(),
        WriteGuard::Version(expected) => found == Some(expected),
        WriteGuard::Owned => true,
    };
    if is_as_expected {
        return Ok(found.map_or(1, |version| version.cast_signed() + 1));
    }
    let (kind, key) = kind_and_key(&put.record);
    Err(Conflict::Moved { kind, key, expected: put.guard, found }.into())
}
