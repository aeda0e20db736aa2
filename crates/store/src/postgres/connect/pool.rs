//! A few connections for reading, and for single statements that may safely be said twice.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};
use tokio_postgres::Row;

use crate::error::StoreError;
use crate::postgres::connect::connector::{Connector, Params, PgConnection};
use crate::postgres::connect::fault::PostgresFault;

/// Reads at the same time; more wait for their turn. Small, because every process that uses the store has its own.
const LINKS_MAX: usize = 4;
/// A connection nobody needed for this long is given back: the server has only so many, and every process of a fleet wants
/// some. The one used last is used first, so that the others get the chance.
const KEPT_FOR: Duration = Duration::from_secs(30);
/// Between tries after the line was cut or the server asked for another.
const PAUSE: Duration = Duration::from_millis(20);

pub(crate) struct Pool {
    connector: Connector,
    /// With the moment each was last used.
    idle: Mutex<Vec<(Instant, PgConnection)>>,
    permits: Semaphore,
}

impl Pool {
    pub(crate) fn new(connector: Connector) -> Self {
        Self { connector, idle: Mutex::new(Vec::new()), permits: Semaphore::new(LINKS_MAX) }
    }

    /// Runs one statement. When the connection breaks it is run again on another, so it must be one that does
    /// no harm twice.
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
                PostgresFault::Broken(_) | PostgresFault::Retry(_)
                    if started.elapsed() < self.connector.patience() =>
                {
                    sleep(PAUSE).await;
                }
                fault @ (PostgresFault::Broken(_) | PostgresFault::Retry(_) | PostgresFault::Final(_)) => {
                    self.put_back(conn);
                    return Err(fault.into_error(doing));
                }
            }
        }
    }

    /// A statement that PostgreSQL runs only outside of transactions.
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
            // When one is cut the others mostly are too.
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
