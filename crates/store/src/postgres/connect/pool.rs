//! A small pool of connections for reads and idempotent single statements.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};
use tokio_postgres::Row;
use tracing::{debug, warn};

use crate::error::StoreError;
use crate::postgres::connect::connector::{Connector, Params, PgConnection};
use crate::postgres::connect::fault::PostgresFault;

/// Concurrent queries; more wait. Small, because every process has its own pool.
const LINKS_MAX: usize = 4;
/// Idle connections are closed after this long, since every process of a fleet needs some. The most recently used is
/// reused first, so that the others can expire.
const KEPT_FOR: Duration = Duration::from_secs(30);
/// Between retries.
const PAUSE: Duration = Duration::from_millis(20);

pub(crate) struct Pool {
    connector: Connector,
    /// With the time each was last used.
    idle: Mutex<Vec<(Instant, PgConnection)>>,
    permits: Semaphore,
}

impl Pool {
    pub(crate) fn new(connector: Connector) -> Self {
        Self { connector, idle: Mutex::new(Vec::new()), permits: Semaphore::new(LINKS_MAX) }
    }

    /// Runs one statement. If the connection breaks it runs again on another, so it must be idempotent.
    pub(crate) async fn query(
        &self,
        doing: &'static str,
        sql: &str,
        params: Params<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        let started = Instant::now();
        let Ok(_permit) = self.permits.acquire().await else { return Err(StoreError::Closed) };
        loop {
            let conn = self.checkout().await?;
            let fault = match conn.query(doing, sql, params).await {
                Ok(rows) => {
                    self.put_back(conn);
                    return Ok(rows);
                }
                Err(fault) => fault,
            };
            match fault {
                PostgresFault::Broken(detail) if started.elapsed() < self.connector.patience() => {
                    warn!(doing, detail, "the connection to PostgreSQL broke; reconnecting");
                    sleep(PAUSE).await;
                }
                PostgresFault::Retry(detail) if started.elapsed() < self.connector.patience() => {
                    debug!(doing, detail, "retrying a statement");
                    sleep(PAUSE).await;
                }
                fault @ (PostgresFault::Broken(_) | PostgresFault::Retry(_) | PostgresFault::Final(_)) => {
                    self.put_back(conn);
                    return Err(fault.into_error(doing));
                }
            }
        }
    }

    /// Runs a statement that PostgreSQL allows only outside transactions.
    pub(crate) async fn run(&self, doing: &'static str, sql: &str) -> Result<(), StoreError> {
        let Ok(_permit) = self.permits.acquire().await else { return Err(StoreError::Closed) };
        let conn = self.checkout().await?;
        let answer = conn.run(doing, sql).await.map_err(|fault| fault.into_error(doing));
        self.put_back(conn);
        answer
    }

    pub(crate) fn close(&self) {
        self.permits.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    async fn checkout(&self) -> Result<PgConnection, StoreError> {
        let idle = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            // When one connection is broken, the others usually are too.
            idle.retain(|(used_at, conn)| !conn.is_closed() && used_at.elapsed() < KEPT_FOR);
            idle.pop()
        };
        match idle {
            Some((_, conn)) => Ok(conn),
            None => self.connector.open().await,
        }
    }

    fn put_back(&self, conn: PgConnection) {
        if !conn.is_closed() && !self.permits.is_closed() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push((Instant::now(), conn));
        }
    }
}
