//! Cancels a run: on request, when a sibling failed, or at a deadline.

use std::io::{PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Cancels from any thread; a wait for a command ends at once.
#[derive(Debug, Clone)]
pub struct CancelToken {
    inner: Arc<CancelState>,
}

#[derive(Debug)]
struct CancelState {
    thrown: AtomicBool,
    /// Becomes readable when the writer is dropped, so that waiters can poll it.
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

/// The cancellation tokens and the nearest deadline that apply to a part of the run.
#[derive(Debug, Clone, Default)]
pub(crate) struct CancelScope {
    switches: Vec<CancelToken>,
    deadline: Option<Instant>,
}

/// Why a part of the run has to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CancelReason {
    Cancelled,
    DeadlinePassed,
}

impl CancelScope {
    pub(crate) fn with_token(mut self, cancel: CancelToken) -> CancelScope {
        self.switches.push(cancel);
        self
    }

    /// Adds a deadline, unless there is a nearer one.
    pub(crate) fn with_timeout(&self, limit: Duration) -> CancelScope {
        let own = Instant::now().checked_add(limit);
        let deadline = match (self.deadline, own) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        CancelScope { deadline, ..self.clone() }
    }

    pub(crate) fn cancel_reason(&self) -> Option<CancelReason> {
        if self.switches.iter().any(CancelToken::is_cancelled) {
            return Some(CancelReason::Cancelled);
        }
        self.deadline.filter(|d| *d <= Instant::now()).map(|_| CancelReason::DeadlinePassed)
    }

    pub(crate) fn is_unlimited(&self) -> bool {
        self.switches.is_empty() && self.deadline.is_none()
    }

    pub(crate) fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|d| d.saturating_duration_since(Instant::now()))
    }

    pub(super) fn signal_fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.switches.iter().map(|s| s.inner.signal.as_fd())
    }
}
