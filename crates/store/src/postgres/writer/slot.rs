//! A connection for one who writes transaction after transaction: kept between them, made anew when it is gone,
//! and given another try when the server undid a transaction because of somebody else's.
//!
//! Of all processes that write the same, few are served at a time. Nothing would be wrong without it, but each would find
//! rows in the hands of others and all would meet at the one counter of events: sixteen workers got half as much done as
//! one. Whoever waits for the turn also finds more to write together when it comes.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::error::StoreError;
use crate::postgres::connect::connector::{Connector, PgConnection};
use crate::postgres::connect::fault::PostgresFault;
use crate::postgres::connect::pipeline::{Pipeline, params};
use crate::postgres::write::commit::CommitFailure;
use crate::postgres::write::lock::ADVISORY_LOCK;

/// Times a transaction is tried before its writers hear that it cannot be written.
const TRIES_MAX: u32 = 10;
/// Before the second try; each further one waits as much longer.
const PAUSE: Duration = Duration::from_millis(2);

/// Who is further away than this, there and back, takes no turn: all the others would wait for its network.
const NEAR_MAX: Duration = Duration::from_millis(8);
/// The quickest of so many is what the way takes; the others waited for something else.
const TIMES_MEASURED: u32 = 3;

pub(crate) struct WriterSlot {
    connector: Connector,
    doing: &'static str,
    /// What the turn is called.
    lock_name: String,
    conn: Option<PgConnection>,
    /// Whether the turn is worth waiting for, once the way over this connection was measured.
    is_near: Option<bool>,
    /// The connection is in a transaction that has the turn.
    holds_slot: bool,
    /// Of the transaction that is being tried.
    tries: u32,
}

impl WriterSlot {
    /// `kind` is what its transactions do; those of one kind take turns, with `at_once` being served.
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

    /// Begins a transaction when it is this process's turn, for the next `link`. Without it where the server is far away,
    /// or where whoever has the turn does not come to an end.
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
            // The next try is made without it; when even this fails, on another connection.
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

    /// For one try, and whether it is in a transaction that has the turn; `written` or `failed` takes it back.
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

    /// Undoes the transaction. Returns when there is sense in another try; an error when its fate is unknown or
    /// there is none.
    pub(crate) async fn roll_back(
        &mut self,
        conn: PgConnection,
        failed: CommitFailure,
    ) -> Result<(), StoreError> {
        // When even this fails the connection is dropped, and the transaction with it.
        if conn.run(self.doing, "ROLLBACK").await.is_ok() {
            self.conn = Some(conn);
        }
        let error = match failed {
            CommitFailure::Unsent(PostgresFault::Broken(_) | PostgresFault::Retry(_))
            | CommitFailure::Sent(PostgresFault::Retry(_))
                if self.tries < TRIES_MAX =>
            {
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
