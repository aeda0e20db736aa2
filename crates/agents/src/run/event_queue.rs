//! A bounded queue of events for a receiver that may be slow or gone.
//!
//! While the queue is full, Baton does not read from the agent, which blocks in its write. When the receiver takes nothing
//! for [`PATIENCE`], events are dropped and counted until it takes one again. So a receiver can slow an agent down, but
//! never stop it.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};

use crate::driver::AgentEvent;

/// Queued events, in addition to the channel's capacity.
const WAITING_MAX: usize = 64;
/// The same while an agent is being ended and its streams are read regardless.
const WAITING_MAX_AT_END: usize = 4096;
/// How long an agent waits for the receiver.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) struct EventQueue {
    receiver: mpsc::Sender<AgentEvent>,
    waiting: VecDeque<AgentEvent>,
    skipped: u64,
    patience_ends: Option<Instant>,
    /// The receiver took nothing for [`PATIENCE`].
    is_given_up: bool,
}

impl EventQueue {
    pub(crate) fn new(receiver: mpsc::Sender<AgentEvent>) -> Self {
        Self { receiver, waiting: VecDeque::new(), skipped: 0, patience_ends: None, is_given_up: false }
    }

    pub(crate) fn push(&mut self, event: AgentEvent) {
        if self.receiver.is_closed() {
            return;
        }
        let room = if self.is_given_up { WAITING_MAX } else { WAITING_MAX_AT_END };
        if self.waiting.len() >= room {
            self.skipped += 1;
            return;
        }
        if self.skipped > 0 {
            self.waiting.push_back(AgentEvent::Skipped(std::mem::take(&mut self.skipped)));
        }
        self.waiting.push_back(event);
        if self.waiting.len() >= WAITING_MAX && self.patience_ends.is_none() {
            self.patience_ends = Some(Instant::now() + PATIENCE);
        }
    }

    /// Whether reading should pause until an event is sent.
    pub(crate) fn is_full(&self) -> bool {
        !self.is_given_up && self.waiting.len() >= WAITING_MAX
    }

    /// Sends one event; pends while there is none. Cancel-safe.
    pub(crate) async fn send_next(&mut self) {
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

    /// Sends the remaining events, as far as the receiver takes them.
    pub(crate) async fn finish(mut self) {
        if self.skipped > 0 {
            self.waiting.push_back(AgentEvent::Skipped(self.skipped));
        }
        let patience = if self.is_given_up { Duration::ZERO } else { PATIENCE };
        let all = async {
            while !self.waiting.is_empty() {
                self.send_next().await;
            }
        };
        // The rest is in the log and in the result.
        let _ = timeout(patience, all).await;
    }
}
