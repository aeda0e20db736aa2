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
use crate::postgres::connect::connector::{Connector, Link};
use crate::postgres::connect::fault::Fault;
use crate::postgres::connect::pipeline::{Pipeline, params};
use crate::postgres::write::commit::Failed;
use crate::postgres::write::lock::TAKE_TURN;

/// Times a transaction is tried before its writers hear that it cannot be written.
const TRIES_MAX: u32 = 10;
/// Before the second try; each further one waits as much longer.
const PAUSE: Duration = Duration::from_millis(2);

/// Who is further away than this, there and back, takes no turn: all the others would wait for its network.
const NEAR_MAX: Duration = Duration::from_millis(8);
/// The quickest of so many is what the way takes; the others waited for something else.
const TIMES_MEASURED: u32 = 3;

pub(crate) struct Line {
    connector: Connector,
    doing: &'static str,
    /// What the turn is called.
    turn: String,
    link: Option<Link>,
    /// Whether the turn is worth waiting for, once the way over this connection was measured.
    is_near: Option<bool>,
    /// The connection is in a transaction that has the turn.
    has_turn: bool,
    /// Of the transaction that is being tried.
    tries: u32,
}

impl Line {
    /// `kind` is what its transactions do; those of one kind take turns, with `at_once` being served.
    pub(crate) fn new(connector: Connector, doing: &'static str, kind: &str, at_once: u64) -> Self {
        let place = RandomState::new().hash_one(kind) % at_once;
        let turn = format!("{}:{kind}:{place}", connector.schema());
        Self { connector, doing, turn, link: None, is_near: None, has_turn: false, tries: 0 }
    }

    pub(crate) fn schema(&self) -> &str {
        self.connector.schema()
    }

    pub(crate) fn turn(&self) -> &str {
        &self.turn
    }

    /// Begins a transaction when it is this process's turn, for the next `link`. Without it where the server is far away,
    /// or where whoever has the turn does not come to an end.
    pub(crate) async fn take_turn(&mut self) -> Result<(), StoreError> {
        let (link, _) = self.link().await?;
        let is_near = match self.is_near {
            Some(is_near) => Ok(is_near),
            None => self.is_near(&link).await,
        };
        let taken = match is_near {
            Ok(true) => self.begin_in_turn(&link).await.map(|()| true),
            other => other,
        };
        self.tries = 0;
        match taken {
            Ok(has_turn) => {
                self.has_turn = has_turn;
                self.link = Some(link);
            }
            // The next try is made without it; when even this fails, on another connection.
            Err(_) => {
                if link.run(self.doing, "ROLLBACK").await.is_ok() {
                    self.link = Some(link);
                }
            }
        }
        Ok(())
    }

    async fn is_near(&mut self, link: &Link) -> Result<bool, Fault> {
        let mut quickest = Duration::MAX;
        for _ in 0..TIMES_MEASURED {
            let begun = Instant::now();
            link.run(self.doing, "").await?;
            quickest = quickest.min(begun.elapsed());
        }
        let is_near = quickest <= NEAR_MAX;
        self.is_near = Some(is_near);
        Ok(is_near)
    }

    async fn begin_in_turn(&self, link: &Link) -> Result<(), Fault> {
        let mut pipeline = Pipeline::new(link, self.doing);
        pipeline.run("BEGIN");
        pipeline.add(TAKE_TURN, params![self.turn.clone()]).await?;
        pipeline.flush().await.map(|_| ())
    }

    /// For one try, and whether it is in a transaction that has the turn; `written` or `failed` takes it back.
    pub(crate) async fn link(&mut self) -> Result<(Link, bool), StoreError> {
        self.tries += 1;
        let has_turn = std::mem::take(&mut self.has_turn);
        let link = match self.link.take() {
            Some(link) if !link.is_closed() => return Ok((link, has_turn)),
            Some(_) | None => self.connector.link().await,
        };
        self.is_near = None;
        if link.is_err() {
            self.tries = 0;
        }
        link.map(|link| (link, false))
    }

    pub(crate) fn written(&mut self, link: Link) {
        self.tries = 0;
        self.link = Some(link);
    }

    /// Undoes the transaction. Returns when there is sense in another try; an error when its fate is unknown or
    /// there is none.
    pub(crate) async fn failed(&mut self, link: Link, failed: Failed) -> Result<(), StoreError> {
        // When even this fails the connection is dropped, and the transaction with it.
        if link.run(self.doing, "ROLLBACK").await.is_ok() {
            self.link = Some(link);
        }
        let error = match failed {
            Failed::Unsent(Fault::Broken(_) | Fault::Again(_)) | Failed::Sent(Fault::Again(_))
                if self.tries < TRIES_MAX =>
            {
                sleep(PAUSE * self.tries).await;
                return Ok(());
            }
            Failed::Sent(Fault::Broken(detail)) => StoreError::Unknown { detail },
            Failed::Unsent(fault) | Failed::Sent(fault) => fault.unwritten(self.doing),
        };
        self.tries = 0;
        Err(error)
    }
}
