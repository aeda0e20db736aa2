//! The log of a user task that keeps running beside an agent: its beginning in a file, its end in memory.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use baton_agents::output::lines::LineSplitter;
use baton_agents::output::live::LiveOutput;
use baton_core::base::redact::Redactor;
use baton_taskfile::{Console, Stream};
use tokio::sync::watch;

use crate::user_tasks::live_capture::RunCapture;

/// Written when the file is full.
const CUT: &str = "[… the log is full; what follows is not kept …]\n";

/// Keeps what a service prints in bounded space.
pub(crate) struct ServiceLog {
    path: PathBuf,
    live: LiveOutput,
    file: Mutex<LogFile>,
}

struct LogFile {
    file: File,
    lines: LineSplitter,
    redactor: Redactor,
    bytes_left: u64,
    /// The first that could not be written.
    failed: Option<io::Error>,
}

impl ServiceLog {
    /// Adds to what an earlier start in the same attempt has written.
    pub(crate) fn create(path: &Path, bytes_max: u64) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = File::options().create(true).append(true).open(path)?;
        let bytes_left = bytes_max.saturating_sub(file.metadata()?.len());
        let (lines, redactor) = (LineSplitter::default(), Redactor::default());
        let file = Mutex::new(LogFile { file, lines, redactor, bytes_left, failed: None });
        Ok(Self { path: path.to_owned(), live: LiveOutput::new(watch::Sender::new(0)), file })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The last lines it printed.
    pub(crate) fn last_lines(&self, count: usize) -> String {
        self.live.end_line();
        let text = self.live.tail().text;
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(count)..].join("\n")
    }

    fn file(&self) -> MutexGuard<'_, LogFile> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogFile {
    fn push(&mut self, bytes: &[u8]) {
        let mut lines = std::mem::take(&mut self.lines);
        lines.push(bytes, |line| self.line(&line.text));
        self.lines = lines;
    }

    fn line(&mut self, text: &str) {
        if self.bytes_left == 0 || self.failed.is_some() {
            return;
        }
        let line = format!("{}\n", self.redactor.line(text));
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        let (line, left) = match self.bytes_left.checked_sub(length) {
            Some(left) if left > 0 => (line.as_str(), left),
            Some(_) | None => (CUT, 0),
        };
        self.bytes_left = left;
        // A disk that is full does not end a service; what it prints last is kept in memory.
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            tracing::warn!(%error, "cannot write the log of a service");
            self.failed = Some(error);
        }
    }
}

impl Console for ServiceLog {
    fn write(&self, _: Stream, bytes: &[u8]) {
        self.file().push(bytes);
        self.live.write(bytes);
    }

    fn is_combined(&self) -> bool {
        true
    }
}

impl RunCapture for ServiceLog {
    fn take(&self) -> String {
        let mut file = self.file();
        let mut lines = std::mem::take(&mut file.lines);
        lines.finish(|line| file.line(&line.text));
        drop(file);
        self.last_lines(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_kept_in_bounded_space_and_says_where_it_was_cut() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("attempt/service-dev.log");
        let log = ServiceLog::create(&path, 12).unwrap();
        log.write(Stream::Out, b"first\nsec");
        log.write(Stream::Err, b"ond\nthird\nfourth");
        assert_eq!(log.take(), "first\nsecond\nthird\nfourth");
        assert_eq!(log.last_lines(2), "third\nfourth");
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("first\n{CUT}"));
        let again = ServiceLog::create(&path, 12).unwrap();
        again.write(Stream::Out, b"more\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("first\n{CUT}"));
    }
}
