//! Files of earlier schemas.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use baton_store::{Backend, SqliteStore};
use rusqlite::Connection;

use super::story::{check, fill};
use super::{Shape, folder, numbered, rows_of};
use crate::sqlite::Sqlite;
use crate::suite::{Fixture, run};

/// As in every store.
const APPLICATION_ID: u32 = 0x4261_746e;

fn text_of(conn: &Connection, sql: &str) -> Vec<String> {
    let mut statement = conn.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// The tables and their columns.
fn shape(conn: &Connection) -> Shape {
    let tables =
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let columns =
        |table: &str| text_of(conn, &format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid"));
    text_of(conn, tables).into_iter().map(|table| (table.clone(), columns(&table))).collect()
}

/// Every row of these tables as INSERT statements.
fn dump(conn: &Connection, shape: &Shape) -> String {
    let mut rows = String::new();
    for (table, columns) in shape {
        let names = columns.join(", ");
        let values: Vec<String> = columns.iter().map(|column| format!("quote({column})")).collect();
        let values = values.join(" || ', ' || ");
        for row in text_of(conn, &format!("SELECT {values} FROM {table} ORDER BY 1")) {
            writeln!(rows, "INSERT INTO {table} ({names}) VALUES ({row});").unwrap();
        }
    }
    rows
}

/// The rows the current program writes.
fn made_now() -> String {
    let place = Sqlite::new();
    run(async {
        let store = place.open().await;
        fill(&store).await;
        store.close().await.unwrap();
    });
    let conn = Connection::open(place.path()).unwrap();
    dump(&conn, &shape(&conn))
}

/// A file as an earlier version left it.
fn make(path: &Path, steps: &[std::path::PathBuf], rows: &str) {
    let conn = Connection::open(path).unwrap();
    conn.pragma_update(None, "journal_mode", "wal").unwrap();
    for step in steps {
        conn.execute_batch(&fs::read_to_string(step).unwrap()).unwrap();
    }
    // The migrations insert the first counters themselves.
    conn.execute_batch("DELETE FROM counters").unwrap();
    conn.execute_batch(rows).unwrap();
    conn.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    conn.pragma_update(None, "user_version", u32::try_from(steps.len()).unwrap()).unwrap();
}

#[test]
fn every_earlier_schema_migrates_with_its_rows() {
    let steps = numbered(&folder("src/sqlite/file/schema"));
    for schema in 1..=steps.len() {
        let rows = rows_of("sqlite", schema, made_now);
        let place = Sqlite::new();
        make(&place.path(), &steps[..schema], &rows);
        // A later schema may add columns and tables; only the earlier ones are compared.
        let old = Connection::open(place.path()).unwrap();
        let shape = shape(&old);
        let before = dump(&old, &shape);
        drop(old);
        run(async {
            let store = SqliteStore::open(&place.path(), place.options()).unwrap();
            store.close().await.unwrap();
            let after = dump(&Connection::open(place.path()).unwrap(), &shape);
            for row in before.lines() {
                assert!(after.contains(row), "schema {schema} lost or changed a row: {row}");
            }
            let store = SqliteStore::open(&place.path(), place.options()).unwrap();
            check(&store).await;
            store.close().await.unwrap();
        });
    }
}
