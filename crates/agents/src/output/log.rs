//! The log of one attempt: everything its agent wrote and reported, in order, in one bounded file.
//!
//! A file is never overwritten; a taken name gets the next free number. When the log is full, the file keeps its
//! beginning, and the tail is held in memory and appended at the end. A write error does not end the attempt; `finish`
//! returns it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use baton_core::base::redact::Redactor;
use baton_core::base::time::Timestamp;

use crate::output::excerpt::TextExcerpt;

/// Default size limit of a log.
pub const LOG_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Of that, reserved for the tail, where errors usually are.
const TAIL_BYTES_MAX: usize = 256 * 1024;
/// Logs of one name. An attempt starts once, so more than a few mean that something is wrong.
const SAME_NAME_MAX: u32 = 1000;

/// Where a log line comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineSource {
    /// The agent's standard output.
    Out,
    /// The agent's standard error.
    Err,
    /// A report that could be parsed.
    Report,
    /// An activity, as JSON.
    Activity,
    /// Baton itself.
    Baton,
}

impl LineSource {
    const fn mark(self) -> &'static str {
        match self {
            Self::Out => "out",
            Self::Err => "err",
            Self::Report => "rep",
            Self::Activity => "act",
            Self::Baton => "***",
        }
    }
}

/// How much a run has printed so far, whatever of it is kept. Clones share the count.
#[derive(Debug, Clone, Default)]
pub struct PrintedBytes(Arc<AtomicU64>);

impl PrintedBytes {
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

pub struct AttemptLogWriter {
    path: PathBuf,
    file: BufWriter<File>,
    bytes_written: u64,
    head_max: u64,
    /// What no longer fits into the file.
    tail: TextExcerpt,
    lines_after_head: u64,
    /// The last timestamp as text: thousands of lines may share a millisecond.
    stamp: (Timestamp, String),
    error: Option<io::Error>,
    /// Removes secrets that the agent prints.
    redactor: Redactor,
    printed: PrintedBytes,
}

impl AttemptLogWriter {
    /// Creates a new file at `path`, or beside it under the next free number.
    pub fn create(path: &Path, bytes_max: u64) -> io::Result<Self> {
        let (path, file) = create_new(path)?;
        let tail_max = TAIL_BYTES_MAX.min(usize::try_from(bytes_max / 2).unwrap_or(TAIL_BYTES_MAX));
        Ok(Self {
            path,
            file: BufWriter::new(file),
            bytes_written: 0,
            head_max: bytes_max - tail_max as u64,
            tail: TextExcerpt::tail(tail_max),
            lines_after_head: 0,
            stamp: (Timestamp::from_ms(0), Timestamp::from_ms(0).to_string()),
            error: None,
            redactor: Redactor::default(),
            printed: PrintedBytes::default(),
        })
    }

    /// Counts what is printed in `printed`.
    #[must_use]
    pub fn counted_in(self, printed: PrintedBytes) -> Self {
        Self { printed, ..self }
    }

    /// The path that was really used.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn line(&mut self, now: Timestamp, voice: LineSource, text: &str) {
        if self.stamp.0 != now {
            self.stamp = (now, now.to_string());
        }
        let text = self.redactor.line(text);
        let line = format!("{} {} {text}\n", self.stamp.1, voice.mark());
        self.printed.add(line.len());
        let fits = self.bytes_written + line.len() as u64 <= self.head_max;
        if fits && self.lines_after_head == 0 {
            self.bytes_written += line.len() as u64;
            self.write(&line);
        } else {
            if self.lines_after_head == 0 {
                self.write(&format!("{now} *** the log is full; only the end of what follows is kept\n"));
            }
            self.lines_after_head += 1;
            self.tail.push(&line);
        }
    }

    /// Makes what was written visible to readers.
    pub fn flush(&mut self) {
        let flushed = self.file.flush();
        self.note(flushed);
    }

    /// Appends the tail. Returns the first write error, if any.
    pub fn finish(mut self) -> io::Result<()> {
        if self.lines_after_head > 0 {
            let lines = self.lines_after_head;
            let tail = std::mem::replace(&mut self.tail, TextExcerpt::tail(0)).into_text();
            // The tail may begin in the middle of a line; drop that part.
            let tail = match tail.split_once('\n') {
                Some((_, whole_lines))
                    if !whole_lines.is_empty() && (tail.matches('\n').count() as u64) < lines =>
                {
                    whole_lines
                }
                Some(_) | None => &tail,
            };
            let left_out = lines - (tail.matches('\n').count() as u64).min(lines);
            self.write(&format!("… {left_out} lines left out …\n{tail}"));
        }
        self.flush();
        self.error.map_or(Ok(()), Err)
    }

    fn write(&mut self, text: &str) {
        let written = self.file.write_all(text.as_bytes());
        self.note(written);
    }

    fn note(&mut self, done: io::Result<()>) {
        if let Err(error) = done {
            self.error.get_or_insert(error);
        }
    }
}

fn create_new(path: &Path) -> io::Result<(PathBuf, File)> {
    for number in 1..=SAME_NAME_MAX {
        let path = if number == 1 { path.to_owned() } else { numbered(path, number) };
        // Owner only: agents print what they read.
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (path, file)),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{SAME_NAME_MAX} logs have this name already")))
}

/// `attempt.log` → `attempt.2.log`.
fn numbered(path: &Path, number: u32) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = match path.extension() {
        Some(extension) => format!("{stem}.{number}.{}", extension.to_string_lossy()),
        None => format!("{stem}.{number}"),
    };
    path.with_file_name(name)
}
