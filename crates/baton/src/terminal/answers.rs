//! What a person types: the lines of a file first, then those of the terminal.

use std::collections::VecDeque;
use std::io::BufRead;
use std::path::Path;

use tokio::sync::mpsc;

use crate::error::{CliError, USAGE};

/// Lines typed ahead.
const LINES_AHEAD: usize = 1_000;

/// What the person says: the lines of a file first, then those of standard input.
pub struct AnswerInput {
    file: VecDeque<String>,
    lines: Option<mpsc::Receiver<String>>,
}

impl AnswerInput {
    pub fn open(file: Option<&Path>) -> Result<Self, CliError> {
        let file = match file {
            Some(path) => std::fs::read_to_string(path).map_err(|error| CliError {
                message: format!("{} cannot be read: {error}", path.display()),
                hint: "write one answer on each line of it".to_owned(),
                code: USAGE,
            })?,
            None => String::new(),
        };
        let file = file.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
        Ok(Self { file, lines: None })
    }

    /// The next line; none when nobody is there to write one. Safe to drop half-way.
    pub async fn next(&mut self, is_human_only: bool) -> Option<String> {
        // What only a person may answer is not answered from a file.
        if !is_human_only && let Some(line) = self.file.pop_front() {
            return Some(line);
        }
        self.lines.get_or_insert_with(stdin).recv().await
    }
}

/// Lines of standard input, read by a thread of its own: it may wait for ever, and nothing else has to.
fn stdin() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(LINES_AHEAD);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if !line.trim().is_empty() && sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
