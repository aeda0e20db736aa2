//! The writer's queue.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, TryRecvError};

use crate::sqlite::threads::job::WriteJob;

/// The most jobs in one transaction. More would delay the first for too long.
const BATCH_MAX: usize = 256;

pub(crate) enum WriterMessage {
    Write(Box<dyn WriteJob>),
    /// Runs after the other jobs of its batch: attempts that end there free capacity for the claim.
    Claim(Box<dyn WriteJob>),
    /// Another process left dependents to unblock.
    Unblock,
    Close,
}

pub(crate) struct WriteQueue {
    messages: Receiver<WriterMessage>,
    work: VecDeque<Box<dyn WriteJob>>,
    claims: VecDeque<Box<dyn WriteJob>>,
    /// There may be dependents left to unblock.
    pub(crate) is_unblocking: bool,
    is_closed: bool,
}

impl WriteQueue {
    pub(crate) fn new(messages: Receiver<WriterMessage>) -> Self {
        // A crash may have interrupted unblocking, so it is checked at the start.
        Self {
            messages,
            work: VecDeque::new(),
            claims: VecDeque::new(),
            is_unblocking: true,
            is_closed: false,
        }
    }

    /// Blocks until there is something to do.
    pub(crate) fn wait(&mut self) {
        if self.is_unblocking || self.is_closed || !self.work.is_empty() || !self.claims.is_empty() {
            return;
        }
        match self.messages.recv() {
            Ok(message) => self.accept(message),
            Err(_) => self.is_closed = true,
        }
    }

    /// The next job for a batch that already has `taken`; `None` if the queue is empty. Called after every job, so
    /// that jobs which arrive during a batch still share its commit.
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

    /// Nothing is queued and nothing will be.
    pub(crate) fn is_finished(&self) -> bool {
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
