//! What waits for the writer, in the order it is taken.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, TryRecvError};

use crate::sqlite::threads::job::WriteJob;

/// The most changes that share a commit. More would make the first of them wait for the last.
const BATCH_MAX: usize = 256;

pub(crate) enum WriterMessage {
    Write(Box<dyn WriteJob>),
    /// As work, but after what else is in the batch: what ends there makes room for what is claimed.
    Claim(Box<dyn WriteJob>),
    /// Another process left something to work off.
    Unblock,
    Close,
}

pub(crate) struct WriteQueue {
    messages: Receiver<WriterMessage>,
    work: VecDeque<Box<dyn WriteJob>>,
    claims: VecDeque<Box<dyn WriteJob>>,
    /// There may be dependents to tell of their blocker.
    pub(crate) is_unblocking: bool,
    is_closed: bool,
}

impl WriteQueue {
    pub(crate) fn new(messages: Receiver<WriterMessage>) -> Self {
        // A stop in the middle of telling a blocker's dependents is made up for at the start.
        Self {
            messages,
            work: VecDeque::new(),
            claims: VecDeque::new(),
            is_unblocking: true,
            is_closed: false,
        }
    }

    /// Returns once there is something to do.
    pub(crate) fn wait(&mut self) {
        if self.is_unblocking || self.is_closed || !self.work.is_empty() || !self.claims.is_empty() {
            return;
        }
        match self.messages.recv() {
            Ok(message) => self.accept(message),
            Err(_) => self.is_closed = true,
        }
    }

    /// The next job for a batch that has `taken` already; none when nothing else waits at this moment. Asked after
    /// every job, so that who comes while others are being written still shares their commit.
    pub(crate) fn next(&mut self, taken: usize) -> Option<Box<dyn WriteJob>> {
        while !self.is_closed && self.work.is_empty() && taken + self.claims.len() < BATCH_MAX {
            match self.messages.try_recv() {
                Ok(message) => self.accept(message),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => self.is_closed = true,
            }
        }
        self.work.pop_front().or_else(|| self.claims.pop_front())
    }

    /// Nothing waits and nothing will come.
    pub(crate) fn is_over(&self) -> bool {
        self.is_closed && self.work.is_empty() && self.claims.is_empty()
    }

    fn accept(&mut self, message: WriterMessage) {
        match message {
            WriterMessage::Write(job) => self.work.push_back(job),
            WriterMessage::Claim(job) => self.claims.push_back(job),
            WriterMessage::Unblock => self.is_unblocking = true,
            WriterMessage::Close => self.is_closed = true,
        }
    }
}
