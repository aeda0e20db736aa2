//! Events on their way to a receiver that may be slow, may have gone away, or may never look.
//!
//! While the outbox is full the agent is not read from: it waits in its own write, and nothing grows. A
//! receiver that takes nothing for [`PATIENCE`] is no longer waited for: events are dropped and counted until
//! it takes one again. So an agent is slowed down, but never stopped, by whoever watches it.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};

use crate::driver::Event;

/// Events that wait here. The channel behind has its own length.
const WAITING_MAX: usize = 64;
/// The same while an agent is being ended, when its streams are read whoever watches.
const WAITING_MAX_AT_END: usize = 4096;
/// How long an agent waits for whoever watches it.
const PATIENCE: Duration = Duration::from_secs(2);

pub struct Outbox {
    receiver: mpsc::Sender<Event>,
    waiting: VecDeque<Event>,
    skipped: u64,
    patience_ends: Option<Instant>,
    /// The receiver was waited for in vain.
    is_given_up: bool,
}

impl Outbox {
    pub fn new(receiver: mpsc::Sender<Event>) -> Self {
        Self { receiver, waiting: VecDeque::new(), skipped: 0, patience_ends: None, is_given_up: false }
    }

    pub fn push(&mut self, event: Event) {
        if self.receiver.is_closed() {
            return;
        }
        let room = if self.is_given_up { WAITING_MAX } else { WAITING_MAX_AT_END };
        if self.waiting.len() >= room {
            self.skipped += 1;
            return;
        }
        if self.skipped > 0 {
            self.waiting.push_back(Event::Skipped(std::mem::take(&mut self.skipped)));
        }
        self.waiting.push_back(event);
        if self.waiting.len() >= WAITING_MAX && self.patience_ends.is_none() {
            self.patience_ends = Some(Instant::now() + PATIENCE);
        }
    }

    /// Whether reading should stop until something was passed on.
    pub fn is_full(&self) -> bool {
        !self.is_given_up && self.waiting.len() >= WAITING_MAX
    }

    /// Passes one event on; never returns while there is none. Safe to drop half-way.
    pub async fn pass_on(&mut self) {
        if self.waiting.is_empty() {
            return std::future::pending().await;
        }
        let room = match self.patience_ends.filter(|_| !self.is_given_up) {
            Some(end) => timeout_at(end, self.receiver.reserve()).await,
            None => Ok(self.receiver.reserve().await),
        };
        match room {
            Ok(Ok(permit)) => {
                if let Some(event) = self.waiting.pop_front() {
                    permit.send(event);
                }
                self.is_given_up = false;
                self.patience_ends = self.is_full().then(|| Instant::now() + PATIENCE);
            }
            Ok(Err(_)) => self.waiting.clear(),
            Err(_) => self.is_given_up = true,
        }
    }

    /// Passes on what waits, as far as the receiver takes it.
    pub async fn finish(mut self) {
        if self.skipped > 0 {
            self.waiting.push_back(Event::Skipped(self.skipped));
        }
        let patience = if self.is_given_up { Duration::ZERO } else { PATIENCE };
        let all = async {
            while !self.waiting.is_empty() {
                self.pass_on().await;
            }
        };
        // What is not taken by now is in the log and in the end that follows.
        let _ = timeout(patience, all).await;
    }
}
