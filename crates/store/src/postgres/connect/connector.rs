//! Connections: their settings, connecting with retries, and prepared statements.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Connection, Row, Socket, Statement};
use tracing::warn;

use crate::error::StoreError;
use crate::model::progress::{ProgressListener, ProgressStage};
use crate::postgres::connect::fault::{PostgresFault, describe};
use crate::postgres::connect::password;
use crate::postgres::connect::tls::{Tls, TlsOptions, TlsSocket};

/// No statement of ours takes this long.
const STATEMENT_TIMEOUT_MS: u32 = 30_000;
/// Longer than any transaction of ours holds a row.
const LOCK_TIMEOUT_MS: u32 = 10_000;
/// A client that stopped in the middle of a transaction must not hold its rows or its slot for long. One that was
/// only slow retries.
const IDLE_IN_TRANSACTION_MS: u32 = 3_000;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Data not acknowledged for this long means the connection is cut. By default the system waits for a quarter of an
/// hour.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// TCP keepalive interval.
const PROBE_EVERY: Duration = Duration::from_secs(10);
const BACKOFF_FIRST: Duration = Duration::from_millis(20);
const BACKOFF_MAX: Duration = Duration::from_secs(1);
/// Schema names hold 63 bytes; this leaves room for the prefix.
const NAMESPACE_LEN_MAX: usize = 40;

/// Where the store is, and how long to wait for the server.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// `postgres://user@host/database`, or the `key=value` form; with `sslmode`, `sslrootcert`, `sslcert`, `sslkey`
    /// and `passfile` as in libpq. A missing password is looked up as libpq does.
    pub url: String,
    /// Several stores can share a database; each has its own schema, `baton_<namespace>`.
    pub namespace: String,
    /// How long a call waits for an unreachable server before it fails.
    pub patience: Duration,
    /// Called while the server is unreachable and while migrating takes long.
    pub progress: ProgressListener,
}

impl PostgresOptions {
    /// Long enough for a server to restart, short enough for a person at a terminal.
    const PATIENCE: Duration = Duration::from_secs(10);

    pub fn new(url: impl Into<String>, namespace: impl Into<String>) -> Self {
        let (url, namespace) = (url.into(), namespace.into());
        Self { url, namespace, patience: Self::PATIENCE, progress: ProgressListener::default() }
    }
}

/// Opens connections that all have the same settings.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    config: Config,
    tls: Tls,
    schema: String,
    patience: Duration,
}

impl Connector {
    pub(crate) fn new(options: &PostgresOptions) -> Result<Self, StoreError> {
        let schema = schema_name(&options.namespace)?;
        let unreachable = |detail| StoreError::Unreachable { detail };
        let (words, address) = TlsOptions::take(&options.url).map_err(unreachable)?;
        let tls = Tls::new(&words).map_err(unreachable)?;
        let mut config = Config::from_str(&address).map_err(|error| StoreError::Unreachable {
            detail: format!("invalid PostgreSQL address: {}", describe(&error)),
        })?;
        password::find(&mut config, words.passfile, |name| std::env::var(name).ok()).map_err(unreachable)?;
        // PostgreSQL does not encrypt Unix sockets.
        let is_local = !config.get_hosts().is_empty()
            && config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
        config.ssl_mode(if is_local { SslMode::Disable } else { tls.mode });
        let own = config.get_options().unwrap_or_default().to_owned();
        // Every statement is written for one index, so the plans are forced. Otherwise the server plans for the table
        // sizes it last measured, which are zero after a quick start, and it started a parallel worker for twenty
        // rows out of eight thousand.
        config
            .options(format!(
                "{own} -c search_path=\"{schema}\" -c statement_timeout={STATEMENT_TIMEOUT_MS} \
                 -c lock_timeout={LOCK_TIMEOUT_MS} -c idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION_MS} \
                 -c jit=off -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off \
                 -c enable_hashjoin=off -c enable_mergejoin=off -c max_parallel_workers_per_gather=0"
            ))
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_user_timeout(SILENCE_MAX)
            .keepalives_idle(PROBE_EVERY)
            .keepalives_interval(PROBE_EVERY / 4);
        if config.get_application_name().is_none() {
            config.application_name("baton");
        }
        Ok(Self { config, tls, schema, patience: options.patience })
    }

    pub(crate) fn schema(&self) -> &str {
        &self.schema
    }

    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    /// The server and database without the password, for messages.
    pub(crate) fn place(&self) -> String {
        let database = self.config.get_dbname().or(self.config.get_user()).unwrap_or("postgres");
        format!("schema {} of database {database} at {}", self.schema, self.host())
    }

    fn host(&self) -> String {
        match self.config.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            Some(Host::Unix(path)) => path.display().to_string(),
            None => "localhost".to_owned(),
        }
    }

    pub(crate) fn database(&self) -> String {
        self.config.get_dbname().or(self.config.get_user()).unwrap_or("postgres").to_owned()
    }

    /// Connects, retrying until `patience` runs out. Errors that waiting cannot fix are returned immediately.
    pub(crate) async fn open(&self) -> Result<PgConnection, StoreError> {
        self.open_reporting(&ProgressListener::default()).await
    }

    /// The same, reporting progress.
    pub(crate) async fn open_reporting(
        &self,
        progress: &ProgressListener,
    ) -> Result<PgConnection, StoreError> {
        let started = Instant::now();
        let mut backoff = BACKOFF_FIRST;
        loop {
            let error = match self.connect().await {
                Ok((client, connection)) => {
                    // Ends when the client is dropped or the server goes away.
                    tokio::spawn(connection);
                    return Ok(PgConnection { client, statements: Mutex::new(HashMap::new()) });
                }
                Err(error) => error,
            };
            let is_hopeless = error.code().is_some_and(|state| {
                ![
                    &SqlState::CANNOT_CONNECT_NOW,
                    &SqlState::TOO_MANY_CONNECTIONS,
                    &SqlState::ADMIN_SHUTDOWN,
                    &SqlState::CRASH_SHUTDOWN,
                ]
                .contains(&state)
            });
            if let Some(detail) = self.tls.fault(&error, &self.host()) {
                return Err(StoreError::Unreachable { detail });
            }
            if is_hopeless || started.elapsed() + backoff > self.patience {
                return Err(StoreError::Unreachable { detail: describe(&error) });
            }
            if backoff == BACKOFF_FIRST {
                warn!(error = describe(&error), "cannot connect to PostgreSQL; retrying");
            }
            progress.report(ProgressStage::Reaching);
            sleep(backoff).await;
            backoff = (backoff * 2).min(BACKOFF_MAX);
        }
    }

    pub(crate) async fn connect(
        &self,
    ) -> Result<(Client, Connection<Socket, TlsSocket>), tokio_postgres::Error> {
        self.config.connect(self.tls.clone()).await
    }
}

/// A namespace is a plain name, so that its schema can be named in a shell and in SQL.
pub(crate) fn schema_name(namespace: &str) -> Result<String, StoreError> {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    if !namespace.is_empty() && namespace.len() <= NAMESPACE_LEN_MAX && namespace.bytes().all(is_plain) {
        Ok(format!("baton_{namespace}"))
    } else {
        Err(StoreError::Backend {
            doing: "choosing the namespace",
            detail: format!(
                "{namespace:?} is not a valid namespace; use lower-case letters, digits and _, at most {NAMESPACE_LEN_MAX}"
            ),
        })
    }
}

pub(crate) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// One connection and its prepared statements.
pub(crate) struct PgConnection {
    client: Client,
    statements: Mutex<HashMap<String, Statement>>,
}

impl PgConnection {
    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// The statement for `sql`, prepared once per connection. All statements of a pipeline are prepared before the
    /// first is sent.
    pub(crate) async fn statement(&self, sql: &str) -> Result<Statement, PostgresFault> {
        let known = self.statements.lock().unwrap_or_else(PoisonError::into_inner).get(sql).cloned();
        if let Some(statement) = known {
            return Ok(statement);
        }
        let statement = self
            .client
            .prepare(sql)
            .await
            .map_err(|error| PostgresFault::classify("preparing a statement", &error))?;
        self.statements
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    pub(crate) async fn query(
        &self,
        doing: &'static str,
        sql: &str,
        params: Params<'_>,
    ) -> Result<Vec<Row>, PostgresFault> {
        let statement = self.statement(sql).await?;
        self.send(doing, &statement, params).await
    }

    /// Sends at the first poll: futures polled in order are pipelined in that order.
    pub(crate) async fn send(
        &self,
        doing: &'static str,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<Vec<Row>, PostgresFault> {
        self.client.query(statement, params).await.map_err(|error| PostgresFault::classify(doing, &error))
    }

    /// Runs statements without parameters or results.
    pub(crate) async fn run(&self, doing: &'static str, sql: &str) -> Result<(), PostgresFault> {
        self.client.batch_execute(sql).await.map_err(|error| PostgresFault::classify(doing, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_a_plain_name() {
        assert_eq!(schema_name("team_7").unwrap(), "baton_team_7");
        for bad in ["", "Team", "a-b", "a\"b", "a b", "ä", &"x".repeat(41)] {
            assert!(schema_name(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_place_contains_no_password() {
        let options = PostgresOptions::new("postgres://mia:secret@db.example/work", "main");
        assert_eq!(
            Connector::new(&options).unwrap().place(),
            "schema baton_main of database work at db.example"
        );
    }
}
