//! The ceiling: the rows of a claim and of a settle, written by hand on one connection, many to a commit.
//!
//! No channel, no JSON, no guards, no rules: bodies are ready-made and of the same size.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};

/// Claims and settles `count` tasks, `batch` to a commit.
pub fn cycles(path: &Path, batch: i64, count: i64) -> Duration {
    let conn = Connection::open(path).unwrap();
    conn.execute_batch("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000").unwrap();
    let (task, record): (String, String) = ("t".repeat(520), "a".repeat(230));
    let (event, end): (String, String) = ("e".repeat(170), "e".repeat(560));
    let begun = Instant::now();
    let mut next = 0;
    let (mut seq, mut effect) = (1_000_000_i64, 1_000_000_i64);
    while next < count {
        let some: Vec<i64> = (next..(next + batch).min(count)).collect();
        conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        for id in &some {
            claim(&conn, *id, &task, &record);
            seq += 1;
            effect += 1;
            say(&conn, seq, *id, &event);
            post(&conn, effect);
        }
        conn.execute_batch("COMMIT; BEGIN IMMEDIATE").unwrap();
        for id in &some {
            settle(&conn, *id, &task, &end);
            say(&conn, seq + 1, *id, &end);
            say(&conn, seq + 2, *id, &event);
            seq += 2;
            effect += 1;
            post(&conn, effect);
        }
        conn.execute_batch("COMMIT").unwrap();
        next += batch;
    }
    begun.elapsed()
}

fn claim(conn: &Connection, id: i64, task: &str, record: &str) {
    let (rank, created_ms): (i64, i64) = conn
        .prepare_cached("SELECT rank, created_ms FROM ready WHERE role = 'implement' ORDER BY rank, created_ms, task LIMIT 1")
        .unwrap()
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    let mut read = conn.prepare_cached("SELECT version, body FROM tasks WHERE id = ?1").unwrap();
    read.query_row([id], |row| row.get::<_, String>(1)).unwrap();
    update(conn, id, 2, "claimed", "RUNNING", task);
    let mut gone = conn
        .prepare_cached(
            "DELETE FROM ready WHERE role = 'implement' AND rank = ?1 AND created_ms = ?2 AND task = ?3",
        )
        .unwrap();
    gone.execute((rank, created_ms, id)).unwrap();
    conn.prepare_cached("INSERT INTO attempts (id, version, task, number, body) VALUES (?1, 1, ?1, 1, ?2)")
        .unwrap()
        .execute((id, record))
        .unwrap();
    let sql = "INSERT INTO leases (attempt, task, expires_ms, worker, role, agent) VALUES (?1, ?1, 1, 'worker', 'implement', 'claude')";
    conn.prepare_cached(sql).unwrap().execute([id]).unwrap();
}

fn settle(conn: &Connection, id: i64, task: &str, end: &str) {
    update(conn, id, 3, "done", "COMPLETE", task);
    conn.prepare_cached("UPDATE attempts SET version = 2, body = ?2 WHERE id = ?1")
        .unwrap()
        .execute((id, end))
        .unwrap();
    conn.prepare_cached("DELETE FROM leases WHERE attempt = ?1").unwrap().execute([id]).unwrap();
}

fn update(conn: &Connection, id: i64, version: i64, queue: &str, status: &str, body: &str) {
    let sql = "UPDATE tasks SET version = ?2, is_claimable = 0, is_done = 0, updated_ms = 5, queue = ?3, status = ?4, body = ?5
        WHERE id = ?1";
    conn.prepare_cached(sql).unwrap().execute(params![id, version, queue, status, body]).unwrap();
}

fn say(conn: &Connection, seq: i64, task: i64, body: &str) {
    let sql = "INSERT INTO events (seq, task, at_ms, body) VALUES (?1, ?2, 5, ?3)";
    conn.prepare_cached(sql).unwrap().execute(params![seq, task, body]).unwrap();
}

fn post(conn: &Connection, id: i64) {
    let body = r#"{"effect":"start_agent","task":"TASK-00000001","attempt":"ATT-0000000000000001"}"#;
    conn.prepare_cached("INSERT INTO outbox (id, body) VALUES (?1, ?2)")
        .unwrap()
        .execute(params![id, body])
        .unwrap();
}
