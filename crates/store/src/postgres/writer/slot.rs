//! A writer's connection and its slot among the writers of all processes. Reconnects when needed and retries
//! transactions the server rolled back because of another.
//!
//! Only a few processes write the same kind of transaction at a time. That is not needed for correctness, but without
//! it they meet at each other's row locks and at the event counter: sixteen workers achieved half as much as one.
//! Waiting for a slot also makes batches larger.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tracing::{debug, warn};

use crate::error::StoreError;
use crate::postgres::connect::connector::{Connector, PgConnection};
use crate::postgres::connect::fault::PostgresFault;
use crate::postgres::connect::pipeline::{Pipeline, params};
use crate::postgres::write::commit::CommitFailure;
use crate::postgres::write::lock::ADVISORY_LOCK;

/// Attempts before a transaction fails.
const TRIES_MAX: u32 = 10;
/// Before the second attempt; each further one waits as much longer.
const PAUSE: Duration = Duration::from_millis(2);

/// A process with a longer round trip takes no slot: all others would wait for its network.
const NEAR_MAX: Duration = Duration::from_millis(8);
/// The fastest of this many pings is the round-trip time.
const TIMES_MEASURED: u32 = 3;

pub(crate) struct WriterSlot {
    connector: Connector,
    doing: &'static str,
    /// The advisory lock that represents the slot.
    lock_name: String,
    conn: Option<PgConnection>,
    /// Whether the server is near enough to use slots, once measured on this connection.
    is_near: Option<bool>,
    /// The connection is in a transaction that holds the slot.
    holds_slot: bool,
    /// Attempts at the current transaction.
    tries: u32,
}

impl WriterSlot {
    /// `kind` names the transactions that share slots; `at_once` is the number of slots.
    pub(crate) fn new(connector: Connector, doing: &'static str, kind: &str, at_once: u64) -> Self {
        let number = RandomState::new().hash_one(kind) % at_once;
        let lock_name = format!("{}:{kind}:{number}", connector.schema());
        Self { connector, doing, lock_name, conn: None, is_near: None, holds_slot: false, tries: 0 }
    }

    pub(crate) fn schema(&self) -> &str {
        self.connector.schema()
    }

    pub(crate) fn lock_name(&self) -> &str {
        &self.lock_name
    }

    /// Begins a transaction that holds the slot, for the next `connection`. Goes on without it if the server is far
    /// away or the slot's holder does not finish.
    pub(crate) async fn acquire(&mut self) -> Result<(), StoreError> {
        let (conn, _) = self.connection().await?;
        let is_near = match self.is_near {
            Some(is_near) => Ok(is_near),
            None => self.is_near(&conn).await,
        };
        let taken = match is_near {
            Ok(true) => self.begin_with_lock(&conn).await.map(|()| true),
            other => other,
        };
        self.tries = 0;
        match taken {
            Ok(holds_slot) => {
                self.holds_slot = holds_slot;
                self.conn = Some(conn);
            }
            // The next attempt runs without the slot; if even ROLLBACK fails, on a new connection.
            Err(_) => {
                if conn.run(self.doing, "ROLLBACK").await.is_ok() {
                    self.conn = Some(conn);
                }
            }
        }
        Ok(())
    }

    async fn is_near(&mut self, conn: &PgConnection) -> Result<bool, PostgresFault> {
        let mut quickest = Duration::MAX;
        for _ in 0..TIMES_MEASURED {
            let begun = Instant::now();
            conn.run(self.doing, "").await?;
            quickest = quickest.min(begun.elapsed());
        }
        let is_near = quickest <= NEAR_MAX;
        self.is_near = Some(is_near);
        Ok(is_near)
    }

    async fn begin_with_lock(&self, conn: &PgConnection) -> Result<(), PostgresFault> {
        let mut pipeline = Pipeline::new(conn, self.doing);
        pipeline.run("BEGIN");
        pipeline.add(ADVISORY_LOCK, params![self.lock_name.clone()]).await?;
        pipeline.flush().await.map(|_| ())
    }

    /// The connection for one attempt, and whether it is in a transaction that holds the slot; `release` or
    /// `roll_back` takes it back.
    pub(crate) async fn connection(&mut self) -> Result<(PgConnection, bool), StoreError> {
        self.tries += 1;
        let holds_slot = std::mem::take(&mut self.holds_slot);
        let conn = match self.conn.take() {
            Some(conn) if !conn.is_closed() => return Ok((conn, holds_slot)),
            Some(_) | None => self.connector.open().await,
        };
        self.is_near = None;
        if conn.is_err() {
            self.tries = 0;
        }
        conn.map(|conn| (conn, false))
    }

    pub(crate) fn release(&mut self, conn: PgConnection) {
        self.tries = 0;
        self.conn = Some(conn);
    }

    /// Rolls back. Returns `Ok` if a retry makes sense; an error if not, or if the fate of the transaction is
    /// unknown.
    pub(crate) async fn roll_back(
        &mut self,
        conn: PgConnection,
        failed: CommitFailure,
    ) -> Result<(), StoreError> {
        // If even this fails, the connection is dropped and its transaction with it.
        if conn.run(self.doing, "ROLLBACK").await.is_ok() {
            self.conn = Some(conn);
        }
        let error = match failed {
            CommitFailure::Unsent(PostgresFault::Broken(detail)) if self.tries < TRIES_MAX => {
                warn!(doing = self.doing, detail, "the connection to PostgreSQL broke; reconnecting");
                sleep(PAUSE * self.tries).await;
                return Ok(());
            }
            CommitFailure::Unsent(PostgresFault::Retry(detail))
            | CommitFailure::Sent(PostgresFault::Retry(detail))
                if self.tries < TRIES_MAX =>
            {
                debug!(doing = self.doing, tries = self.tries, detail, "retrying a transaction");
                sleep(PAUSE * self.tries).await;
                return Ok(());
            }
            CommitFailure::Sent(PostgresFault::Broken(detail)) => StoreError::CommitUnknown { detail },
            CommitFailure::Unsent(fault) | CommitFailure::Sent(fault) => fault.into_error(self.doing),
        };
        self.tries = 0;
        Err(error)
    }
}
