//! A connection for one who writes transaction after transaction: kept between them, made anew when it is gone,
//! and given another try when the server undid a transaction because of somebody else's.

use std::time::Duration;

use tokio::time::sleep;

use super::connect::{Connector, Link};
use super::fault::Fault;
use super::write::Failed;
use crate::error::StoreError;

/// Times a transaction is tried before its writers hear that it cannot be written.
const TRIES_MAX: u32 = 10;
/// Before the second try; each further one waits as much longer.
const PAUSE: Duration = Duration::from_millis(2);

pub(super) struct Line {
    connector: Connector,
    doing: &'static str,
    link: Option<Link>,
    /// Of the transaction that is being tried.
    tries: u32,
}

impl Line {
    pub(super) const fn new(connector: Connector, doing: &'static str) -> Self {
        Self { connector, doing, link: None, tries: 0 }
    }

    pub(super) fn schema(&self) -> &str {
        self.connector.schema()
    }

    /// For one try; `written` or `failed` takes it back.
    pub(super) async fn link(&mut self) -> Result<Link, StoreError> {
        self.tries += 1;
        let link = match self.link.take() {
            Some(link) if !link.is_closed() => Ok(link),
            Some(_) | None => self.connector.link().await,
        };
        if link.is_err() {
            self.tries = 0;
        }
        link
    }

    pub(super) fn written(&mut self, link: Link) {
        self.tries = 0;
        self.link = Some(link);
    }

    /// Undoes the transaction. Returns when there is sense in another try; an error when its fate is unknown or
    /// there is none.
    pub(super) async fn failed(&mut self, link: Link, failed: Failed) -> Result<(), StoreError> {
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
