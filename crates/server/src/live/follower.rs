//! A reader of the durable log: every event once, in order, for as long as somebody listens.
//!
//! It holds a page of events at most. A client that is slow makes it wait, and it reads on from the log when the
//! client is ready again; nothing piles up. Between events it sleeps on one watch that all readers share.

use std::collections::VecDeque;

use baton_engine::Recorded;
use baton_engine::desk::Desk;
use baton_engine::error::EngineError;
use tokio::sync::watch;

/// Events held for one client at once. An event can hold a whole message, so there are few.
const PAGE: u32 = 16;

pub struct EventFollower {
    desk: Desk,
    changes: watch::Receiver<u64>,
    ending: watch::Receiver<bool>,
    after: u64,
    page: VecDeque<Recorded>,
}

impl EventFollower {
    /// Begins behind the event of number `after`.
    pub fn new(desk: Desk, ending: watch::Receiver<bool>, after: u64) -> Self {
        let mut changes = desk.changes();
        // The log is looked at once before anything is waited for.
        changes.mark_changed();
        Self { desk, changes, ending, after, page: VecDeque::new() }
    }

    /// The next event; none when the server is ending and everything has been told. May be dropped and called
    /// again without losing an event.
    pub async fn next(&mut self) -> Result<Option<Recorded>, EngineError> {
        loop {
            if let Some(event) = self.page.pop_front() {
                return Ok(Some(event));
            }
            // Read before the log is: what is told after this is in the log by then.
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

    /// Until there may be news. False when nobody is left who could bring any.
    async fn wait(&mut self) -> bool {
        loop {
            tokio::select! {
                changed = self.changes.changed() => match changed {
                    // It also wakes when work became ready without an event.
                    Ok(()) if *self.changes.borrow() <= self.after => {}
                    Ok(()) => return true,
                    Err(_) => return false,
                },
                ended = self.ending.changed() => return ended.is_ok(),
            }
        }
    }
}
