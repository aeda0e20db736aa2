//! The output of a running command, for people who watch it: its end, in bounded space and without secrets.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_core::base::redact::Redactor;
use tokio::sync::watch;

use crate::output::lines::{LineSplitter, OutputLine};

/// Bytes kept: several screens.
const BYTES_MAX: usize = 16 * 1024;

/// Cheap to clone; clones share the text.
#[derive(Clone)]
pub struct LiveOutput {
    text: Arc<Mutex<LiveText>>,
    /// Incremented when something was printed.
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct LiveText {
    tail: String,
    bytes_before: u64,
    redactor: Redactor,
    lines: LineSplitter,
}

/// The end of what was printed so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputTail {
    /// Bytes that were printed before it and are not kept.
    pub bytes_before: u64,
    pub text: String,
}

impl LiveOutput {
    pub fn new(changes: watch::Sender<u64>) -> Self {
        Self { text: Arc::default(), changes }
    }

    /// A line of Baton's own, about what is printed next.
    pub fn note(&self, line: &str) {
        self.line(&OutputLine { text: line.to_owned(), is_piece: false });
    }

    pub(crate) fn line(&self, line: &OutputLine) {
        self.text().push(line);
        self.changes.send_modify(|count| *count += 1);
    }

    /// Bytes as they come. A line is shown when it is complete.
    pub fn write(&self, bytes: &[u8]) {
        {
            let mut text = self.text();
            let mut lines = std::mem::take(&mut text.lines);
            lines.push(bytes, |line| text.push(&line));
            text.lines = lines;
        }
        self.changes.send_modify(|count| *count += 1);
    }

    /// Shows what was written after the last line end.
    pub fn end_line(&self) {
        let mut text = self.text();
        let mut lines = std::mem::take(&mut text.lines);
        lines.finish(|line| text.push(&line));
    }

    pub fn tail(&self) -> OutputTail {
        let text = self.text();
        OutputTail { bytes_before: text.bytes_before, text: text.tail.clone() }
    }

    fn text(&self) -> MutexGuard<'_, LiveText> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LiveText {
    fn push(&mut self, line: &OutputLine) {
        let text = self.redactor.line(&line.text);
        self.tail.push_str(&text);
        if !line.is_piece {
            self.tail.push('\n');
        }
        let excess = self.tail.len().saturating_sub(BYTES_MAX);
        if excess > 0 {
            let cut = self.tail.ceil_char_boundary(excess);
            // People read whole lines, unless the last one alone is too long.
            let cut = self.tail[cut..].find('\n').map_or(cut, |end| cut + end + 1);
            let cut = if cut == self.tail.len() { self.tail.ceil_char_boundary(excess) } else { cut };
            self.tail.drain(..cut);
            self.bytes_before += cut as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live() -> LiveOutput {
        LiveOutput::new(watch::Sender::new(0))
    }

    #[test]
    fn lines_are_shown_when_they_are_complete() {
        let live = live();
        live.note("== test ==");
        live.write(b"one\ntw");
        assert_eq!(live.tail().text, "== test ==\none\n");
        live.write(b"o\nthree");
        live.end_line();
        assert_eq!(
            live.tail(),
            OutputTail { bytes_before: 0, text: "== test ==\none\ntwo\nthree\n".to_owned() }
        );
    }

    #[test]
    fn the_end_is_kept_in_whole_lines_and_what_is_gone_is_counted() {
        let live = live();
        let mut printed = String::new();
        for number in 0..10_000 {
            let text = format!("line ä {number}\n");
            live.write(text.as_bytes());
            printed.push_str(&text);
            let tail = live.tail();
            assert!(tail.text.len() <= BYTES_MAX && tail.text.starts_with("line"), "{}", tail.text);
            let before = usize::try_from(tail.bytes_before).unwrap();
            assert_eq!(tail.text, printed[before..], "{number}");
        }
        live.write("ö".repeat(BYTES_MAX).as_bytes());
        live.end_line();
        assert!(live.tail().text.len() <= BYTES_MAX && live.tail().text.contains('ö'));
    }

    #[test]
    fn secrets_are_not_shown() {
        let live = live();
        live.write(
            b"-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\nAPI_KEY=0123456789abcdef\n",
        );
        let text = live.tail().text;
        assert!(!text.contains("abc") && text.contains("[redacted]"), "{text}");
    }
}
