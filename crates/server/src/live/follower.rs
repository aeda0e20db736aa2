//! Reads the durable event log: every event once, in order, then new ones as they are committed.
//!
//! It buffers at most one page. A slow client just delays the next read, so nothing piles up. While idle it waits on one
//! watch channel that all readers share, and they share what one of them reads after a commit.

use std::collections::VecDeque;
use std::sync::Arc;

use baton_engine::StoredEvent;
use baton_engine::error::EngineError;
use tokio::sync::watch;

use crate::state::App;

/// Events per query. Few, because an event can contain a whole message.
const PAGE: u32 = 16;

pub(crate) struct EventFollower {
    app: App,
    changes: watch::Receiver<u64>,
    ending: watch::Receiver<bool>,
    after: u64,
    page: VecDeque<Arc<StoredEvent>>,
}

impl EventFollower {
    /// Starts after the event with sequence number `after`.
    pub(crate) fn new(app: App, after: u64) -> Self {
        let (mut changes, ending) = (app.desk().changes(), app.ending.clone());
        // Read the log once before waiting.
        changes.mark_changed();
        Self { app, changes, ending, after, page: VecDeque::new() }
    }

    /// The next event; none when the server is shutting down and all events were delivered. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Result<Option<Arc<StoredEvent>>, EngineError> {
        loop {
            if let Some(event) = self.page.pop_front() {
                return Ok(Some(event));
            }
            // Reset before reading: commits after this point trigger another read.
            let is_ending = *self.ending.borrow();
            self.changes.mark_unchanged();
            let store = &self.app.desk().store;
            let read = async |after| store.events_after(after, PAGE).await;
            let page = self.app.events.events_after(self.after, read).await?;
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
