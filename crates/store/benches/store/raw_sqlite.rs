//! The ceiling: the very rows of a claim and of a settle, written by hand on one connection, for as many clients
//! at once as wait at the store, who therefore share its commits.
//!
//! The same tables with the same indexes, the same statements that write, and the bodies that a cycle through the
//! store has left, so that every row is as long as ours. What is left out is what is not writing: no channel, no
//! JSON made or read, no rule, no limit, no search for dependents, no guard but the version in the WHERE. As
//! beside the store's writer, the log is put away from a second connection, so that no commit waits for it.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Params, params};

use crate::bodies::{Bodies, Step};

/// What the store gives out by counting.
struct Numbers {
    seq: i64,
    effect: i64,
    ready: i64,
}

/// Claims and settles `count` tasks, `clients` of them to a commit.
pub(crate) fn cycles(path: &Path, bodies: &Bodies, clients: i64, count: i64) -> Duration {
    let conn = Connection::open(path).unwrap();
    conn.set_prepared_statement_cache_capacity(64);
    conn.execute_batch("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000").unwrap();
    let sql = "SELECT last_seq, last_effect, ready FROM counters";
    let read =
        |row: &rusqlite::Row<'_>| Ok(Numbers { seq: row.get(0)?, effect: row.get(1)?, ready: row.get(2)? });
    let mut numbers = conn.query_row(sql, [], read).unwrap();
    run(&conn, "INSERT OR IGNORE INTO running (role, agent, leases) VALUES ('implement', 'claude', 0)", []);
    let (ended, is_ended) = mpsc::channel();
    let keeper = thread::spawn({
        let conn = Connection::open(path).unwrap();
        move || keep(&conn, &is_ended)
    });
    let begun = Instant::now();
    let mut left = count;
    while left > 0 {
        let some = clients.min(left);
        left -= some;
        run(&conn, "BEGIN IMMEDIATE", []);
        let claimed: Vec<(i64, i64)> =
            (0..some).map(|_| claim(&conn, &mut numbers, &bodies.claimed)).collect();
        commit(&conn, &numbers, some);
        run(&conn, "BEGIN IMMEDIATE", []);
        for (task, attempt) in claimed {
            settle(&conn, &mut numbers, task, attempt, &bodies.settled);
        }
        commit(&conn, &numbers, -some);
    }
    let took = begun.elapsed();
    drop::<Sender<()>>(ended);
    keeper.join().unwrap();
    took
}

/// As often as the store's keeper looks.
fn keep(conn: &Connection, is_ended: &Receiver<()>) {
    while is_ended.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
        conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
    }
}

/// Returns the task and its attempt.
fn claim(conn: &Connection, numbers: &mut Numbers, step: &Step) -> (i64, i64) {
    let (rank, created_ms, task): (i64, i64, i64) = conn
        .prepare_cached("SELECT rank, created_ms, task FROM ready WHERE role = 'implement' ORDER BY rank, created_ms, task LIMIT 1")
        .unwrap()
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    let version: i64 = conn
        .prepare_cached("SELECT version, body FROM tasks WHERE id = ?1")
        .unwrap()
        .query_row([task], |row| row.get::<_, String>(1).and(row.get(0)))
        .unwrap();
    update(conn, task, version, false, ["claimed", "RUNNING"], &step.task);
    let gone = "DELETE FROM ready WHERE role = 'implement' AND rank = ?1 AND created_ms = ?2 AND task = ?3";
    run(conn, gone, (rank, created_ms, task));
    numbers.ready -= 1;
    let attempt = task + 1;
    let made = "INSERT INTO attempts (id, version, task, number, body) VALUES (?1, 1, ?2, 1, ?3)";
    run(conn, made, (attempt, task, &step.attempt));
    let lease = "INSERT INTO leases (attempt, task, expires_ms, worker, role, agent, project, person)
        VALUES (?1, ?2, ?3, 'worker', 'implement', 'claude', NULL, NULL)";
    run(conn, lease, (attempt, task, created_ms));
    tell(conn, numbers, task, step);
    (task, attempt)
}

fn settle(conn: &Connection, numbers: &mut Numbers, task: i64, attempt: i64, step: &Step) {
    update(conn, task, 2, true, ["done", "COMPLETE"], &step.task);
    run(conn, "UPDATE attempts SET version = version + 1, body = ?2 WHERE id = ?1", (attempt, &step.attempt));
    run(conn, "DELETE FROM leases WHERE attempt = ?1", [attempt]);
    tell(conn, numbers, task, step);
}

fn update(conn: &Connection, id: i64, version: i64, is_done: bool, [queue, status]: [&str; 2], body: &str) {
    let sql =
        "UPDATE tasks SET version = ?3, is_claimable = 0, is_done = ?4, is_finished = ?4, is_provisional = 0,
            is_replaced = 0, rank = 6, updated_ms = ?5, queue = ?6, status = ?7, body = ?8, title = title
        WHERE id = ?1 AND version = ?2";
    let now_ms = 1_800_000_000_000_i64;
    run(conn, sql, params![id, version, version + 1, is_done, now_ms, queue, status, body]);
}

fn tell(conn: &Connection, numbers: &mut Numbers, task: i64, step: &Step) {
    for event in &step.events {
        numbers.seq += 1;
        let sql = "INSERT INTO events (seq, task, at_ms, body) VALUES (?1, ?2, 1800000000000, ?3)";
        run(conn, sql, (numbers.seq, task, event));
    }
    for effect in &step.effects {
        numbers.effect += 1;
        run(conn, "INSERT INTO outbox (id, body) VALUES (?1, ?2)", (numbers.effect, effect));
    }
}

fn commit(conn: &Connection, numbers: &Numbers, leases: i64) {
    let sql = "UPDATE running SET leases = leases + ?1 WHERE role = 'implement' AND agent = 'claude'";
    run(conn, sql, [leases]);
    let sql = "UPDATE counters SET last_seq = ?1, last_effect = ?2, ready = ?3";
    run(conn, sql, (numbers.seq, numbers.effect, numbers.ready));
    run(conn, "COMMIT", []);
}

fn run(conn: &Connection, sql: &str, values: impl Params) {
    conn.prepare_cached(sql).unwrap().execute(values).unwrap();
}
