//! Lines typed at the terminal.

use std::io::{BufRead, IsTerminal, stdin};

use tokio::sync::mpsc;

/// Lines typed ahead.
const LINES_AHEAD_MAX: usize = 1_000;

/// The person at the terminal, if there is one.
pub(crate) struct TerminalInput {
    lines: Option<mpsc::Receiver<String>>,
}

impl TerminalInput {
    /// Without a terminal there is no input: no command may wait for a pipe or a file.
    pub(crate) fn open() -> Self {
        Self { lines: stdin().is_terminal().then(read_lines) }
    }

    pub(crate) fn is_there(&self) -> bool {
        self.lines.is_some()
    }

    /// The next line that is not blank; none without a terminal, or at its end. Cancel-safe.
    pub(crate) async fn line(&mut self) -> Option<String> {
        self.lines.as_mut()?.recv().await
    }
}

/// Reads standard input on a thread of its own, because a read cannot be cancelled.
pub(super) fn read_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(LINES_AHEAD_MAX);
    std::thread::spawn(move || {
        for line in stdin().lock().lines().map_while(Result::ok) {
            if !line.trim().is_empty() && sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
