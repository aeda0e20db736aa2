//! Reads the durable event log: every event once, in order, then new ones as they are committed.
//!
//! It buffers at most one page. A slow client just delays the next read, so nothing piles up. While idle it waits on one
//! watch channel that all readers share.

use std::collections::VecDeque;

use baton_engine::StoredEvent;
use baton_engine::desk::Desk;
use baton_engine::error::EngineError;
use tokio::sync::watch;

/// Events buffered per client. Few, because an event can contain a whole message.
const PAGE: u32 = 16;

pub struct EventFollower {
    desk: Desk,
    changes: watch::Receiver<u64>,
    ending: watch::Receiver<bool>,
    after: u64,
    page: VecDeque<StoredEvent>,
}

impl EventFollower {
    /// Starts after the event with sequence number `after`.
    pub fn new(desk: Desk, ending: watch::Receiver<bool>, after: u64) -> Self {
        let mut changes = desk.changes();
        // Read the log once before waiting.
        changes.mark_changed();
        Self { desk, changes, ending, after, page: VecDeque::new() }
    }

    /// The next event; none when the server is shutting down and all events were delivered. Cancel-safe.
    pub async fn next(&mut self) -> Result<Option<StoredEvent>, EngineError> {
        loop {
            if let Some(event) = self.page.pop_front() {
                return Ok(Some(event));
            }
            // Reset before reading: commits after this point trigger another read.
            let is_ending = *self.ending.borrow();
            self.changes.mark_unchanged();
            let page = self.desk.store.events_after(self.after, PAGE).await?;
            if let Some(last) = page.last() {
                self.after = last.seq;
                self.page = page.into();
                continue;
            }
            if is_ending || !self.wait().await {
                return Ok(None);
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
