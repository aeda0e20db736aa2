//! Applies a change inside the transaction: rows under their guards, then edges, events and effects.

use baton_core::ask::question_record::QuestionRecord;
use baton_core::records::change::{EdgeChange, Record, WriteGuard};
use baton_core::routine::Routine;
use baton_core::task::attempt_record::AttemptRecord;
use rusqlite::{OptionalExtension, Params, params};

use crate::columns::{self, is_pending};
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::rows::{attempt_key, task_key};
use crate::sqlite::transaction::Transaction;
use crate::sqlite::write::edges;
use crate::sqlite::write::leases;
use crate::sqlite::write::rendered::{RenderedChange, RenderedEvent, RenderedPut};
use crate::sqlite::write::shares;
use crate::sqlite::write::task::{self, TaskRow, WrittenTasks};
use crate::sqlite::write::unblock;

/// Returns the number of the last event. On an error the caller rolls back what was written so far.
pub(crate) fn apply(tx: &mut Transaction<'_>, change: &RenderedChange) -> Result<u64, SqliteFault> {
    write(tx, change, None)
}

/// Like `apply`, for a change of one task whose row the caller has just read.
pub(crate) fn apply_to(
    tx: &mut Transaction<'_>,
    task: TaskRow,
    change: &RenderedChange,
) -> Result<u64, SqliteFault> {
    write(tx, change, Some(task))
}

fn write(
    tx: &mut Transaction<'_>,
    change: &RenderedChange,
    mut known: Option<TaskRow>,
) -> Result<u64, SqliteFault> {
    let RenderedChange { puts, edges, events, effects } = change;
    let mut written = WrittenTasks::default();
    for put in puts {
        put_one(tx, put, known.take_if(|_| matches!(put.record, Record::Task(_))), edges, &mut written)?;
    }
    for edge in edges {
        edges::apply(tx, edge)?;
    }
    task::settle(tx, &written.held_back)?;
    for task in written.done {
        unblock::begin(tx, task)?;
    }
    for event in events {
        insert_event(tx, event)?;
    }
    for effect in effects {
        insert_effect(tx, effect)?;
    }
    Ok(tx.counters.last_seq.cast_unsigned())
}

fn put_one(
    tx: &mut Transaction<'_>,
    put: &RenderedPut,
    known: Option<TaskRow>,
    edges: &[EdgeChange],
    written: &mut WrittenTasks,
) -> Result<(), SqliteFault> {
    match &put.record {
        Record::Task(task) => task::put(tx, put, task, known, edges, written)?,
        Record::Attempt(attempt) => put_attempt(tx, put, attempt)?,
        Record::Question(question) => put_question(tx, put, question)?,
        Record::Project(project) => {
            let id = i64::from(project.id.bits());
            let next = guarded(tx, put, "SELECT version FROM projects WHERE id = ?1", [id])?;
            let sql = "INSERT INTO projects (id, version, created_ms, body) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (id) DO UPDATE SET version = ?2, created_ms = ?3, body = ?4";
            tx.run(sql, params![id, next, project.created_at.ms(), put.body])?;
            shares::set_limit(tx, project.id, project.at_once_max)?;
        }
        Record::Session(session) => {
            let id = session.id.as_str();
            let next = guarded(tx, put, "SELECT version FROM sessions WHERE id = ?1", [id])?;
            let sql = "INSERT INTO sessions (id, version, body) VALUES (?1, ?2, ?3)
                ON CONFLICT (id) DO UPDATE SET version = ?2, body = ?3";
            tx.run(sql, params![id, next, put.body])?;
        }
        Record::Message(message) => {
            let (session, number) = (message.session_id.as_str(), message.number);
            let find = "SELECT version FROM messages WHERE session = ?1 AND number = ?2";
            let next = guarded(tx, put, find, (session, number))?;
            let sql = "INSERT INTO messages (session, number, version, body) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (session, number) DO UPDATE SET version = ?3, body = ?4";
            tx.run(sql, params![session, number, next, put.body])?;
        }
        Record::Plan(plan) => {
            let id = task_key(plan.task_id);
            let next = guarded(tx, put, "SELECT version FROM plans WHERE task = ?1", [id])?;
            let sql = "INSERT INTO plans (task, version, body) VALUES (?1, ?2, ?3)
                ON CONFLICT (task) DO UPDATE SET version = ?2, body = ?3";
            tx.run(sql, params![id, next, put.body])?;
        }
        Record::Run(recipe_run) => {
            let id = i64::from(recipe_run.id().bits());
            let next = guarded(tx, put, "SELECT version FROM runs WHERE id = ?1", [id])?;
            let (session, started) = (recipe_run.session().as_str(), columns::run_started(recipe_run).ms());
            let sql =
                "INSERT INTO runs (id, version, is_open, session, started_ms, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                ON CONFLICT (id) DO UPDATE SET version = ?2, is_open = ?3, body = ?6";
            tx.run(sql, params![id, next, !recipe_run.has_exited(), session, started, put.body])?;
        }
        Record::Loop(phase_loop) => {
            let id = phase_loop.session().as_str();
            let next = guarded(tx, put, "SELECT version FROM loops WHERE session = ?1", [id])?;
            let sql = "INSERT INTO loops (session, version, body) VALUES (?1, ?2, ?3)
                ON CONFLICT (session) DO UPDATE SET version = ?2, body = ?3";
            tx.run(sql, params![id, next, put.body])?;
        }
        Record::Hold(hold) => {
            let agent = hold.agent.as_str();
            let next = guarded(tx, put, "SELECT version FROM holds WHERE agent = ?1", [agent])?;
            let sql = "INSERT INTO holds (agent, version, is_open, body) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (agent) DO UPDATE SET version = ?2, is_open = ?3, body = ?4";
            tx.run(sql, params![agent, next, hold.released.is_none(), put.body])?;
        }
        Record::Spending(spending) => {
            let key = spending.account.key();
            let next = guarded(tx, put, "SELECT version FROM spendings WHERE account = ?1", [&key])?;
            let sql = "INSERT INTO spendings (account, version, body) VALUES (?1, ?2, ?3)
                ON CONFLICT (account) DO UPDATE SET version = ?2, body = ?3";
            tx.run(sql, params![key, next, put.body])?;
        }
        Record::AccessToken(token) => {
            let name = token.name.as_str();
            let next = guarded(tx, put, "SELECT version FROM access_tokens WHERE name = ?1", [name])?;
            let sql = "INSERT INTO access_tokens (name, version, body) VALUES (?1, ?2, ?3)
                ON CONFLICT (name) DO UPDATE SET version = ?2, body = ?3";
            tx.run(sql, params![name, next, put.body])?;
        }
        Record::Verdict(verdict) => {
            let key = verdict.key.to_string();
            let next = guarded(tx, put, "SELECT version FROM verdicts WHERE key = ?1", [&key])?;
            let sql = "INSERT INTO verdicts (key, version, checked_ms, body) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (key) DO UPDATE SET version = ?2, checked_ms = ?3, body = ?4";
            tx.run(sql, params![key, next, columns::verdict_ms(verdict), put.body])?;
        }
        Record::Attachment(attachment) => {
            let id = attachment.id.to_string();
            let next = guarded(tx, put, "SELECT version FROM attachments WHERE id = ?1", [&id])?;
            let sql =
                "INSERT INTO attachments (id, version, session, at_ms, body) VALUES (?1, ?2, ?3, ?4, ?5)
                ON CONFLICT (id) DO UPDATE SET version = ?2, session = ?3, at_ms = ?4, body = ?5";
            let (session, at) = (attachment.session_id.as_str(), attachment.at.ms());
            tx.run(sql, params![id, next, session, at, put.body])?;
        }
        Record::Routine(routine) => put_routine(tx, put, routine)?,
        Record::Receipt(receipt) => {
            let key = receipt.key.as_str();
            let next = guarded(tx, put, "SELECT version FROM receipts WHERE key = ?1", [key])?;
            let sql = "INSERT INTO receipts (key, version, body) VALUES (?1, ?2, ?3)
                ON CONFLICT (key) DO UPDATE SET version = ?2, body = ?3";
            tx.run(sql, params![key, next, put.body])?;
        }
    }
    Ok(())
}

fn put_routine(tx: &mut Transaction<'_>, put: &RenderedPut, routine: &Routine) -> Result<(), SqliteFault> {
    let id = routine.id.to_string();
    let next = guarded(tx, put, "SELECT version FROM routines WHERE id = ?1", [&id])?;
    let sql = "INSERT INTO routines (id, version, is_open, created_ms, body) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (id) DO UPDATE SET version = ?2, is_open = ?3, body = ?5";
    tx.run(sql, params![id, next, !routine.is_removed(), routine.created_at.ms(), put.body])?;
    Ok(())
}

fn put_attempt(
    tx: &mut Transaction<'_>,
    put: &RenderedPut,
    record: &AttemptRecord,
) -> Result<(), SqliteFault> {
    let id = attempt_key(record.attempt.id);
    let next = guarded_unless_owned(tx, put, "SELECT version FROM attempts WHERE id = ?1", [id])?;
    let sql =
        "INSERT INTO attempts (id, version, task, number, body) VALUES (?1, coalesce(?2, 1), ?3, ?4, ?5)
        ON CONFLICT (id) DO UPDATE SET version = coalesce(?2, version + 1), body = ?5";
    let values = params![id, next, task_key(record.task_id), record.attempt.number, put.body];
    tx.run(sql, values)?;
    if record.closing.is_some() { leases::end(tx, id) } else { Ok(()) }
}

fn put_question(
    tx: &mut Transaction<'_>,
    put: &RenderedPut,
    record: &QuestionRecord,
) -> Result<(), SqliteFault> {
    let id = i64::from(record.question.id.bits());
    let next = guarded_unless_owned(tx, put, "SELECT version FROM questions WHERE id = ?1", [id])?;
    let sql = "INSERT INTO questions (id, version, is_pending, asked_ms, task, session, body)
        VALUES (?1, coalesce(?2, 1), ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT (id) DO UPDATE SET version = coalesce(?2, version + 1), is_pending = ?3, body = ?7";
    let values = params![
        id,
        next,
        is_pending(&record.state),
        record.asked_at.ms(),
        record.task_id.map(task_key),
        record.session_id.as_str(),
        put.body,
    ];
    tx.run(sql, values)?;
    Ok(())
}

fn insert_event(tx: &mut Transaction<'_>, event: &RenderedEvent) -> Result<(), SqliteFault> {
    tx.counters.last_seq += 1;
    let sql = "INSERT INTO events (seq, task, at_ms, body) VALUES (?1, ?2, ?3, ?4)";
    let seq = tx.counters.last_seq;
    tx.run(sql, params![seq, event.task, event.at_ms, event.body])?;
    Ok(())
}

fn insert_effect(tx: &mut Transaction<'_>, effect: &str) -> Result<(), SqliteFault> {
    tx.counters.last_effect += 1;
    let sql = "INSERT INTO outbox (id, body) VALUES (?1, ?2)";
    let id = tx.counters.last_effect;
    tx.run(sql, (id, effect))?;
    Ok(())
}

/// Reads the row's version, checks the guard and returns the next version.
fn guarded(
    tx: &mut Transaction<'_>,
    put: &RenderedPut,
    find: &'static str,
    key: impl Params,
) -> Result<i64, SqliteFault> {
    let found: Option<i64> = tx.statement(find)?.query_row(key, |row| row.get(0)).optional()?;
    Ok(put.next_version(found.map(i64::cast_unsigned))?)
}

/// `None` for a row guarded by another one: the statement itself increments whatever version is there.
fn guarded_unless_owned(
    tx: &mut Transaction<'_>,
    put: &RenderedPut,
    find: &'static str,
    key: impl Params,
) -> Result<Option<i64>, SqliteFault> {
    match put.guard {
        WriteGuard::Owned => Ok(None),
        WriteGuard::New | WriteGuard::Version(_) => guarded(tx, put, find, key).map(Some),
    }
}
