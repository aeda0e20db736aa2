//! Ending a run early: by a person, by a sibling that failed, or by the clock.

use std::io::{PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A switch that can be thrown once, from any thread; whoever waits for a command sees it at once.
#[derive(Debug, Clone)]
pub struct CancelToken {
    inner: Arc<CancelState>,
}

#[derive(Debug)]
struct CancelState {
    thrown: AtomicBool,
    /// Readable (at its end) once the writer is dropped, so that waiting can be a poll.
    signal: PipeReader,
    writer: Mutex<Option<PipeWriter>>,
}

impl CancelToken {
    pub fn new() -> std::io::Result<CancelToken> {
        let (signal, writer) = std::io::pipe()?;
        Ok(CancelToken {
            inner: Arc::new(CancelState {
                thrown: AtomicBool::new(false),
                signal,
                writer: Mutex::new(Some(writer)),
            }),
        })
    }

    pub fn cancel(&self) {
        self.inner.thrown.store(true, Ordering::SeqCst);
        drop(self.inner.writer.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    pub fn is_cancelled(&self) -> bool {
        self.inner.thrown.load(Ordering::SeqCst)
    }
}

/// Under what a piece of the run stands: every switch above it, and the nearest deadline.
#[derive(Debug, Clone, Default)]
pub struct CancelScope {
    switches: Vec<CancelToken>,
    deadline: Option<Instant>,
}

/// Why a piece of the run has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelReason {
    Cancelled,
    DeadlinePassed,
}

impl CancelScope {
    pub fn with_token(mut self, cancel: CancelToken) -> CancelScope {
        self.switches.push(cancel);
        self
    }

    /// The same with a limit, unless there is a nearer one.
    pub fn with_timeout(&self, limit: Duration) -> CancelScope {
        let own = Instant::now().checked_add(limit);
        let deadline = match (self.deadline, own) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        CancelScope { deadline, ..self.clone() }
    }

    pub fn cancel_reason(&self) -> Option<CancelReason> {
        if self.switches.iter().any(CancelToken::is_cancelled) {
            return Some(CancelReason::Cancelled);
        }
        self.deadline.filter(|d| *d <= Instant::now()).map(|_| CancelReason::DeadlinePassed)
    }

    pub fn is_unlimited(&self) -> bool {
        self.switches.is_empty() && self.deadline.is_none()
    }

    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|d| d.saturating_duration_since(Instant::now()))
    }

    pub(super) fn signal_fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.switches.iter().map(|s| s.inner.signal.as_fd())
    }
}
