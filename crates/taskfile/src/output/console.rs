//! Consoles: where output goes.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
}

/// Receives the output of a run. Several commands may write concurrently.
pub trait Console: Send + Sync {
    fn write(&self, stream: Stream, bytes: &[u8]);

    /// The process's own streams; commands then inherit them.
    fn is_terminal(&self) -> bool {
        false
    }

    /// Both streams are combined; commands then get one pipe, which preserves the order.
    fn is_combined(&self) -> bool {
        false
    }
}

/// The process's own streams.
#[derive(Debug, Default)]
pub(crate) struct ProcessConsole;

impl Console for ProcessConsole {
    fn write(&self, stream: Stream, bytes: &[u8]) {
        // If our output is closed, nobody wants it.
        let _ = match stream {
            Stream::Out => std::io::stdout().write_all(bytes).and_then(|()| std::io::stdout().flush()),
            Stream::Err => std::io::stderr().write_all(bytes),
        };
    }

    fn is_terminal(&self) -> bool {
        true
    }
}

/// Captures output in memory, with the streams separate or combined.
#[derive(Debug, Default)]
pub struct Capture {
    combined: bool,
    kept: Mutex<(CaptureBuffer, CaptureBuffer)>,
}

#[derive(Debug, Default)]
struct CaptureBuffer {
    bytes: Vec<u8>,
    dropped: u64,
}

/// How much of each stream is kept; the rest is dropped.
pub(super) const MAX_CAPTURED_BYTES: usize = 32 * 1024 * 1024;

impl Capture {
    pub fn separate() -> Capture {
        Capture::default()
    }

    pub fn combined() -> Capture {
        Capture { combined: true, ..Capture::default() }
    }

    /// Returns stdout and stderr; when combined, everything is in the first.
    pub fn take(&self) -> (String, String) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        (text(&mut kept.0), text(&mut kept.1))
    }
}

fn text(kept: &mut CaptureBuffer) -> String {
    let kept = std::mem::take(kept);
    let mut text =
        String::from_utf8(kept.bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
    if kept.dropped > 0 {
        text = format!("{text}\n[{} more bytes were dropped]\n", kept.dropped);
    }
    text
}

impl Console for Capture {
    fn write(&self, stream: Stream, bytes: &[u8]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let into = if stream == Stream::Out || self.combined { &mut kept.0 } else { &mut kept.1 };
        let room = MAX_CAPTURED_BYTES.saturating_sub(into.bytes.len()).min(bytes.len());
        into.bytes.extend_from_slice(&bytes[..room]);
        into.dropped += (bytes.len() - room) as u64;
    }

    fn is_combined(&self) -> bool {
        self.combined
    }
}
