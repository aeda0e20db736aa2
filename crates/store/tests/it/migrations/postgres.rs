//! PostgreSQL schemas as earlier versions left them.

use std::fmt::Write;
use std::fs;

use baton_store::Backend;
use tokio_postgres::{Client, NoTls};

use super::story::{check, fill};
use super::{Shape, folder, numbered, rows_of};
use crate::postgres::{Postgres, run};
use crate::suite::{self, Fixture};

/// A separate connection to a namespace's schema.
async fn client(place: &Postgres) -> Client {
    let (client, connection) = tokio_postgres::connect(&place.options.url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let schema = format!("baton_{}", place.options.namespace);
    client.batch_execute(&format!("SET search_path = \"{schema}\"")).await.unwrap();
    client
}

async fn text_of(client: &Client, sql: &str) -> Vec<String> {
    client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

/// The tables and their columns.
async fn shape(client: &Client) -> Shape {
    let mut shape = Shape::new();
    let tables = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema() \
                  AND table_name <> 'schema_version' ORDER BY 1";
    for table in text_of(client, tables).await {
        let columns = format!(
            "SELECT column_name::text FROM information_schema.columns WHERE table_schema = current_schema() \
             AND table_name = '{table}' ORDER BY ordinal_position"
        );
        let columns = text_of(client, &columns).await;
        shape.push((table, columns));
    }
    shape
}

/// Every row of these tables as INSERT statements.
async fn dump(client: &Client, shape: &Shape) -> String {
    let mut rows = String::new();
    for (table, columns) in shape {
        let names = columns.join(", ");
        let values: Vec<String> = columns.iter().map(|column| format!("quote_nullable({column})")).collect();
        let values = values.join(" || ', ' || ");
        for row in text_of(client, &format!("SELECT {values} FROM {table} ORDER BY 1")).await {
            writeln!(rows, "INSERT INTO {table} ({names}) VALUES ({row});").unwrap();
        }
    }
    rows
}

const WATCH: &str =
    "INSERT INTO log_watches (id, attempt, wanted_from, expires_ms, machine, piece_from, log_len, piece)
    VALUES ('watch', 'ATT-000000000000000e', 0, 9, 'build-7', 0, 5, 'hello')";

/// The rows the current program writes.
fn made_now() -> String {
    let place = Postgres::new();
    let mut rows = String::new();
    suite::run(async {
        let store = place.open().await;
        fill(&store).await;
        store.close().await.unwrap();
        let client = client(&place).await;
        // Rows of this table do not stay long enough to be in a fixture.
        client.batch_execute(WATCH).await.unwrap();
        rows = dump(&client, &shape(&client).await).await;
    });
    rows
}

/// A schema as an earlier version left it.
async fn make(place: &Postgres, steps: &[std::path::PathBuf], rows: &str) -> Client {
    let client = client(place).await;
    let mut sql = format!(
        "CREATE SCHEMA \"baton_{}\"; CREATE TABLE schema_version (version bigint PRIMARY KEY);",
        place.options.namespace
    );
    for (version, step) in (1..).zip(steps) {
        sql += &fs::read_to_string(step).unwrap();
        write!(sql, "INSERT INTO schema_version (version) VALUES ({version});").unwrap();
    }
    // The migrations insert the first counter themselves.
    sql += "DELETE FROM counter;";
    sql += rows;
    client.batch_execute(&sql).await.unwrap();
    client
}

#[test]
fn every_earlier_schema_migrates_with_its_rows() {
    let steps = numbered(&folder("src/postgres/schema/migrations"));
    if Postgres::missing().is_some() {
        // The run below reports it; there is nothing to write either.
        return run(async {});
    }
    for schema in 1..=steps.len() {
        let rows = rows_of("postgres", schema, made_now);
        run(async {
            let place = Postgres::new();
            let client = make(&place, &steps[..schema], &rows).await;
            // A later schema may add columns and tables; only the earlier ones are compared.
            let shape = shape(&client).await;
            let before = dump(&client, &shape).await;
            place.open().await.close().await.unwrap();
            let after = dump(&client, &shape).await;
            for row in before.lines() {
                assert!(after.contains(row), "schema {schema} lost or changed a row: {row}");
            }
            let store = place.open().await;
            check(&store).await;
            store.close().await.unwrap();
        });
    }
}
