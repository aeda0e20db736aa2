//! Receives notifications of commits by other processes. Polls the counter slowly as a fallback.

use std::future::poll_fn;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Client};
use tracing::warn;

use crate::postgres::connect::connector::Connector;
use crate::postgres::notify::feed::CommitFeed;
use crate::postgres::notify::feed::FREED;
use crate::postgres::notify::logs::{LOGS, LogSignals, PIECE};

/// A notification can be lost with its connection, which can go unnoticed this long, or with a process that dies
/// before it announces its commit.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
const BACKOFF_FIRST: Duration = Duration::from_millis(20);
const BACKOFF_MAX: Duration = Duration::from_secs(2);

/// Listens until the store is closed, reconnecting as needed.
pub(crate) async fn listen(
    connector: Connector,
    feed: CommitFeed,
    logs: LogSignals,
    mut closing: watch::Receiver<bool>,
) {
    let mut backoff = BACKOFF_FIRST;
    loop {
        tokio::select! {
            _ = closing.changed() => return,
            was_up = listen_once(&connector, &feed, &logs) => {
                if was_up {
                    warn!("the connection for notifications broke; reconnecting");
                    backoff = BACKOFF_FIRST;
                }
            }
        }
        tokio::select! {
            _ = closing.changed() => return,
            () = sleep(backoff) => backoff = (backoff * 2).min(BACKOFF_MAX),
        }
    }
}

/// Listens until the connection breaks. False if there was no connection.
async fn listen_once(connector: &Connector, feed: &CommitFeed, logs: &LogSignals) -> bool {
    let Ok((client, mut connection)) = connector.connect().await else { return false };
    let (heard, mut hearing) = mpsc::unbounded_channel();
    let driver = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notification) = message
                && heard.send(notification.payload().to_owned()).is_err()
            {
                return;
            }
        }
    });
    if client.batch_execute(&format!("LISTEN \"{}\"", connector.schema())).await.is_err() {
        driver.abort();
        return false;
    }
    // Anything before LISTEN was missed: `poll_counter` finds the commits, and subscribers are woken to check the
    // rest.
    feed.wake();
    logs.watch_changed();
    logs.piece_written();
    while poll_counter(&client, feed).await {
        // Until it has been quiet for long enough to doubt the connection.
        while let Ok(heard) = timeout(POLL_INTERVAL, hearing.recv()).await {
            let Some(payload) = heard else {
                driver.abort();
                return true;
            };
            match payload.parse() {
                Ok(seq) => feed.note_announced(seq),
                Err(_) if payload == FREED => feed.wake(),
                Err(_) if payload == LOGS => logs.watch_changed(),
                Err(_) if payload == PIECE => logs.piece_written(),
                Err(_) => {}
            }
        }
    }
    driver.abort();
    true
}

async fn poll_counter(client: &Client, feed: &CommitFeed) -> bool {
    let Ok(Ok(row)) = timeout(POLL_INTERVAL, client.query_one("SELECT seq FROM counter", &[])).await else {
        return false;
    };
    feed.advance(u64::try_from(row.get::<_, i64>(0)).unwrap_or(0));
    true
}
