//! What a run came to, and how it is told.

use std::fs;
use std::path::{Path, PathBuf};

use baton_agents::process::memory_limit::MemoryExcess;
use baton_taskfile::{InvocationResult, TaskRunErrorKind};
use serde::Serialize;

use crate::base::ids::Ids;
use crate::user_tasks::fenced_run::FencedEnd;

/// Of each stream a model is told this many characters at most, half of them from the end. Two streams and the
/// words around them stay below what a tool may answer.
const STREAM_CHARS_MAX: usize = 12_000;
/// Whole outputs that are kept. The oldest go first.
const FILES_MAX: usize = 50;
/// What the exit code of a run is that was ended.
const NO_EXIT_CODE: i32 = -1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ran {
    pub task_name: String,
    pub succeeded: bool,
    /// The code of the command that failed, else zero.
    pub exit_code: i32,
    /// One trailing newline of each is trimmed.
    pub stdout: String,
    pub stderr: String,
    /// What went wrong where it was not a command's own exit code: the time was up, a variable was missing.
    #[serde(skip)]
    fault: Option<String>,
}

impl Ran {
    pub(super) fn of(name: &str, outcome: InvocationResult) -> Self {
        let fault = fault_of(&outcome);
        Self {
            task_name: name.to_owned(),
            succeeded: outcome.is_success(),
            exit_code: outcome.exit_code,
            stdout: trimmed(outcome.stdout),
            stderr: trimmed(outcome.stderr),
            fault,
        }
    }

    pub(super) fn of_fenced(name: &str, end: FencedEnd, stdout: String, stderr: String) -> Self {
        Self {
            task_name: name.to_owned(),
            succeeded: end.exit_code == 0,
            exit_code: end.exit_code,
            stdout: trimmed(stdout),
            stderr: trimmed(stderr),
            fault: end.fault,
        }
    }

    /// The same run, which was ended for its memory.
    pub(super) fn ended_for_memory(self, excess: &MemoryExcess) -> Self {
        let exit_code = if self.exit_code == 0 { NO_EXIT_CODE } else { self.exit_code };
        Self { succeeded: false, exit_code, fault: Some(out_of_memory(excess)), ..self }
    }

    /// What went wrong, if it was not a command's own exit code.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// What it printed, in one, and what else went wrong: for a run whose streams were not kept apart.
    pub fn printed(&self) -> String {
        let fault = self.fault.as_deref().unwrap_or_default();
        let parts = [self.stdout.as_str(), self.stderr.as_str(), fault];
        let lines: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        lines.join("\n") + if lines.is_empty() { "" } else { "\n" }
    }

    /// The whole of it.
    pub fn text(&self) -> String {
        self.with_streams(&self.stdout, &self.stderr)
    }

    fn with_streams(&self, stdout: &str, stderr: &str) -> String {
        let name = &self.task_name;
        if self.succeeded {
            return format!(
                "Task '{name}' completed successfully. Output:\n{stdout}\nError Output:\n{stderr}"
            );
        }
        let code = self.exit_code;
        let fault = self.fault.as_ref().map(|fault| format!(": {fault}")).unwrap_or_default();
        format!(
            "Task '{name}' failed. Output:\n{stdout}\nError Output:\n{stderr}\nExit Code: {code}\n\
             Error: task: Failed to run task '{name}'{fault}"
        )
    }

    /// The same within a model's bounds. What had to be left out is in a file, and the text says which.
    pub(super) fn told(&self, folder: &Path) -> String {
        let is_long = |text: &str| text.chars().count() > STREAM_CHARS_MAX;
        if !is_long(&self.stdout) && !is_long(&self.stderr) {
            return self.text();
        }
        let kept = self.keep(folder);
        let place = match &kept {
            Ok(path) => format!("the whole is in {}", path.display()),
            Err(error) => format!("the whole could not be kept: {error}"),
        };
        self.with_streams(&bounded(&self.stdout, &place), &bounded(&self.stderr, &place))
    }

    fn keep(&self, folder: &Path) -> std::io::Result<PathBuf> {
        fs::create_dir_all(folder)?;
        let mut files: Vec<_> = fs::read_dir(folder)?
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().ends_with(".out"))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort();
        let spare = (files.len() + 1).saturating_sub(FILES_MAX);
        for (_, old) in files.into_iter().take(spare) {
            // Somebody else made room at the same time.
            let _ = fs::remove_file(old);
        }
        let number: String = Ids::secret().chars().take(16).collect();
        let path = folder.join(format!("{number}.out"));
        fs::write(&path, self.text())?;
        Ok(path)
    }
}

/// What is said of a command that was ended for its memory.
pub(super) fn out_of_memory(excess: &MemoryExcess) -> String {
    format!("It was ended because it {excess} ([room] attempt_memory_mb).")
}

/// What went wrong, if it was not a command's own exit code.
pub(super) fn fault_of(outcome: &InvocationResult) -> Option<String> {
    outcome.error.as_ref().and_then(|error| match error.kind.as_ref() {
        TaskRunErrorKind::Command(_) => None,
        cause => Some(cause.to_string()),
    })
}

fn trimmed(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
    }
    text
}

fn bounded(text: &str, place: &str) -> String {
    let length = text.chars().count();
    if length <= STREAM_CHARS_MAX {
        return text.to_owned();
    }
    let half = STREAM_CHARS_MAX / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(length - half).collect();
    format!("{head}\n[… {} characters are left out here; {place} …]\n{tail}", length - 2 * half)
}
