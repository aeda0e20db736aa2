//! Answers to questions: the lines of a file first, then those of standard input.

use std::collections::VecDeque;
use std::path::Path;

use tokio::sync::mpsc;

use super::input::read_lines;
use crate::error::CliError;

pub(crate) struct AnswerInput {
    file: VecDeque<String>,
    lines: Option<mpsc::Receiver<String>>,
}

impl AnswerInput {
    pub(crate) fn open(file: Option<&Path>) -> Result<Self, CliError> {
        let file = match file {
            Some(path) => std::fs::read_to_string(path).map_err(|error| {
                CliError::usage(
                    format!("cannot read {}: {error}", path.display()),
                    "write one answer per line",
                )
            })?,
            None => String::new(),
        };
        let file = file.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
        Ok(Self { file, lines: None })
    }

    /// The next line; none at the end of standard input. Cancel-safe.
    pub(crate) async fn next(&mut self, is_human_only: bool) -> Option<String> {
        // A file may not answer what only a person may answer.
        if !is_human_only && let Some(line) = self.file.pop_front() {
            return Some(line);
        }
        self.lines.get_or_insert_with(read_lines).recv().await
    }
}
