//! Schema migrations. The first process to connect runs them.

use crate::error::StoreError;
use crate::model::progress::{ProgressListener, ProgressStage};
use crate::postgres::connect::connector::{Connector, PgConnection};
use crate::postgres::connect::fault::PostgresFault;

/// Each file migrates the schema to its own number. A released file is never edited.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/001.sql"),
    include_str!("migrations/002.sql"),
    include_str!("migrations/003.sql"),
    include_str!("migrations/004.sql"),
    include_str!("migrations/005.sql"),
    include_str!("migrations/006.sql"),
    include_str!("migrations/007.sql"),
    include_str!("migrations/008.sql"),
];

/// The SQLSTATE for insufficient privileges, as it ends a message.
const MAY_NOT: &str = "(42501)";

const DOING: &str = "migrating the schema";

/// Creates or migrates the schema. Processes that start at the same time wait here.
pub(crate) async fn migrate(connector: &Connector, progress: &ProgressListener) -> Result<(), StoreError> {
    let conn = connector.open_reporting(progress).await?;
    run(connector, &conn, progress).await.map_err(|fault| match fault.into_error(DOING) {
        StoreError::Backend { doing, detail } if detail.ends_with(MAY_NOT) => {
            let detail = format!(
                "{detail}; this role does not own the tables. Run this as their owner: \
                 baton store init --store postgres://OWNER@HOST/{}",
                connector.database()
            );
            StoreError::Backend { doing, detail }
        }
        error => error,
    })
}

async fn run(
    connector: &Connector,
    conn: &PgConnection,
    progress: &ProgressListener,
) -> Result<(), PostgresFault> {
    let schema = connector.schema();
    conn.run(DOING, "BEGIN").await?;
    // Checked first, so that a role without CREATE on the database can use an existing schema.
    conn.query(
        DOING,
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
        &[&format!("{schema}:migrate")],
    )
    .await?;
    let is_there =
        async |sql: &str| Ok::<_, PostgresFault>(!conn.query(DOING, sql, &[&schema]).await?.is_empty());
    if !is_there("SELECT FROM pg_namespace WHERE nspname = $1").await? {
        conn.run(DOING, &format!("CREATE SCHEMA \"{schema}\"")).await?;
    }
    if !is_there("SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'schema_version'").await? {
        conn.run(DOING, "CREATE TABLE schema_version (version bigint PRIMARY KEY)").await?;
    }
    let rows = conn.query(DOING, "SELECT coalesce(max(version), 0) FROM schema_version", &[]).await?;
    let found: i64 = rows.first().map_or(0, |row| row.get(0));
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if found > known {
        return Err(PostgresFault::Final(StoreError::Newer { place: connector.place(), found, known }));
    }
    if found < known {
        progress.report(ProgressStage::Upgrading { from: found, to: known });
    }
    for (version, sql) in (1_i64..).zip(MIGRATIONS) {
        if version > found {
            conn.run(DOING, sql).await?;
            conn.query(DOING, "INSERT INTO schema_version (version) VALUES ($1)", &[&version]).await?;
        }
    }
    conn.run(DOING, "COMMIT").await
}
