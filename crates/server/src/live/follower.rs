//! Reads the durable event log: every event once, in order, then new ones as they are committed.
//!
//! It buffers at most one page. A slow client just delays the next read, so nothing piles up. While idle it waits on one
//! watch channel that all readers share, and they share what one of them reads after a commit.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use baton_engine::StoredEvent;
use baton_engine::base::supervisor::{Monitor, Round, Service, ServiceError, ServiceName};
use baton_engine::tasks::service::TaskService;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::state::App;

/// Events per query. Few, because an event can contain a whole message.
const PAGE: u32 = 16;
/// The pause after a failed read of the log; it doubles with each failure, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

pub(crate) struct EventFollower {
    app: App,
    changes: watch::Receiver<u64>,
    ending: watch::Receiver<bool>,
    after: u64,
    page: VecDeque<Arc<StoredEvent>>,
    monitor: Monitor,
    /// Failed reads in a row.
    failures: u32,
}

impl EventFollower {
    /// Starts after the event with sequence number `after`.
    pub(crate) fn new(app: App, after: u64) -> Self {
        let (mut changes, ending) = (app.tasks().changes(), app.ending.clone());
        // Read the log once before waiting.
        changes.mark_changed();
        let monitor = app.workspace.services.monitor(ServiceName::Follower);
        Self { app, changes, ending, after, page: VecDeque::new(), monitor, failures: 0 }
    }

    /// The next event; none when the server is shutting down and all events were delivered. Retries while the log
    /// cannot be read. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<Arc<StoredEvent>> {
        loop {
            if let Some(event) = self.page.pop_front() {
                return Some(event);
            }
            // Reset before reading: commits after this point trigger another read.
            let is_ending = *self.ending.borrow();
            self.changes.mark_unchanged();
            let store = &self.app.tasks().store;
            let read = async |after| store.events_after(after, PAGE).await;
            // Boxed, so that an idle client does not hold the memory of a read.
            let reading = Box::pin(self.monitor.observe(self.app.events.events_after(self.after, read)));
            let Ok(page) = reading.await else {
                if is_ending {
                    return None;
                }
                self.failures = self.failures.saturating_add(1);
                sleep(pause_after(self.failures)).await;
                continue;
            };
            self.failures = 0;
            if let Some(last) = page.last() {
                self.after = last.seq;
                self.page = page.into();
                continue;
            }
            if is_ending || !self.wait().await {
                return None;
            }
        }
    }

    /// Waits for a commit with new events. False when the store is closed.
    async fn wait(&mut self) -> bool {
        loop {
            tokio::select! {
                changed = self.changes.changed() => match changed {
                    // The channel also wakes when work became ready without an event.
                    Ok(()) if *self.changes.borrow() <= self.after => {}
                    Ok(()) => return true,
                    Err(_) => return false,
                },
                ended = self.ending.changed() => return ended.is_ok(),
            }
        }
    }
}

fn pause_after(failures: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(LONGEST_PAUSE)
}

/// Reads the log periodically, so that a log that cannot be read is reported even when no client is connected.
pub(crate) struct LogProbe(pub(crate) TaskService);

impl LogProbe {
    pub(crate) const PERIOD: Duration = LONGEST_PAUSE;
}

impl Service for LogProbe {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        let last = *self.0.changes().borrow();
        self.0.store.events_after(last, 1).await?;
        Ok(Round::default())
    }
}
