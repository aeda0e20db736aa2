//! A reader of the durable log: every event once, in order, for as long as somebody listens.
//!
//! It holds a page of events at most. A client that is slow makes it wait, and it reads on from the log when the
//! client is ready again; nothing piles up. Between events it sleeps on one watch that all readers share.

use std::collections::VecDeque;
use std::time::Duration;

use baton_engine::StoredEvent;
use baton_engine::supervisor::{Monitor, Round, Service, ServiceError, ServiceName};
use baton_engine::tasks::service::TaskService;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::state::App;

/// Events held for one client at once. An event can hold a whole message, so there are few.
const PAGE: u32 = 16;
/// The pause after the log could not be read; it doubles with each failure, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

pub struct Follower {
    tasks: TaskService,
    changes: watch::Receiver<u64>,
    ending: watch::Receiver<bool>,
    after: u64,
    page: VecDeque<StoredEvent>,
    monitor: Monitor,
    /// How often in a row the log could not be read.
    failures: u32,
}

impl Follower {
    /// Begins behind the event of number `after`.
    pub fn new(app: &App, after: u64) -> Self {
        let (tasks, ending) = (app.tasks().clone(), app.ending.clone());
        let mut changes = tasks.changes();
        // The log is looked at once before anything is waited for.
        changes.mark_changed();
        let monitor = app.shop.services.monitor(ServiceName::Follower);
        Self { tasks, changes, ending, after, page: VecDeque::new(), monitor, failures: 0 }
    }

    /// The next event; none when the server is ending and everything has been told. While the log cannot be read, it is
    /// tried again. May be dropped and called again without losing an event.
    pub async fn next(&mut self) -> Option<StoredEvent> {
        loop {
            if let Some(event) = self.page.pop_front() {
                return Some(event);
            }
            // Read before the log is: what is told after this is in the log by then.
            let is_ending = *self.ending.borrow();
            self.changes.mark_unchanged();
            let Ok(page) = self.monitor.observe(self.tasks.store.events_after(self.after, PAGE)).await else {
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

fn pause_after(failures: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(LONGEST_PAUSE)
}

/// Reads the log now and then as followers do, so that it is known whether they could also while nobody listens.
pub struct LogProbe(pub TaskService);

impl LogProbe {
    pub const PERIOD: Duration = LONGEST_PAUSE;
}

impl Service for LogProbe {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        let last = *self.0.changes().borrow();
        self.0.store.events_after(last, 1).await?;
        Ok(Round::default())
    }
}
