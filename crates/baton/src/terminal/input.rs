//! The person at the terminal, when there is one.

use std::io::{BufRead, IsTerminal, stdin};

use tokio::sync::mpsc;

/// Lines typed ahead.
const LINES_AHEAD: usize = 1_000;

/// What the person types, line by line.
pub struct TerminalInput {
    lines: Option<mpsc::Receiver<String>>,
}

impl TerminalInput {
    /// Nobody is there where standard input is a file, a pipe or nothing: no command may wait for that.
    pub fn open() -> Self {
        Self { lines: stdin().is_terminal().then(read_lines) }
    }

    pub fn is_there(&self) -> bool {
        self.lines.is_some()
    }

    /// The next line that says something; none when nobody is there, or they have gone. Safe to drop half-way.
    pub async fn line(&mut self) -> Option<String> {
        self.lines.as_mut()?.recv().await
    }
}

/// Read by a thread of its own: it may wait for ever, and nothing else has to.
fn read_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(LINES_AHEAD);
    std::thread::spawn(move || {
        for line in stdin().lock().lines().map_while(Result::ok) {
            if !line.trim().is_empty() && sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
