//! The only place that prints. Data goes to standard output, talk to standard error.

mod full_screen;
mod logging;
mod progress;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use serde::Serialize;

use crate::error::{CliError, FAILED};

pub use self::full_screen::{FullScreen, ScreenSize};
pub use self::logging::show_logs;
pub use self::progress::ProgressBar;

/// Prints data and says how that went. A reader that went away (`baton … | head`) is not an error.
pub fn data(text: &str) -> ExitCode {
    progress::close();
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to tell it to if this fails too.
            let _ = writeln!(std::io::stderr(), "error: cannot write to standard output: {error}");
            ExitCode::from(FAILED)
        }
    }
}

/// Something a person should hear of while work goes on.
pub fn talk(text: &str) {
    progress::say(text);
}

/// What to do next, for a person at a terminal; scripts know it already.
pub fn next(text: &str) {
    if std::io::stdout().is_terminal() && std::io::stderr().is_terminal() {
        talk(text);
    }
}

/// Asks a person at this terminal; anything but a yes is a no, and so is nobody there.
pub fn confirm(question: &str) -> bool {
    let (stdin, mut stderr) = (std::io::stdin(), std::io::stderr());
    if !stdin.is_terminal() || !stderr.is_terminal() {
        return false;
    }
    let asked = write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    asked.is_ok()
        && stdin.read_line(&mut answer).is_ok()
        && ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

/// A line of a story that is told while it happens.
pub fn line(text: &str) {
    // A reader that went away does not stop the story.
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
}

/// The exit code of a command that was run for somebody. A shell knows eight bits of it.
pub fn exit(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(FAILED))
}

pub fn error(error: &CliError) -> ExitCode {
    progress::close();
    let _ = writeln!(std::io::stderr(), "error: {}\n\nHint: {}", error.message, error.hint);
    ExitCode::from(error.code)
}

/// One JSON document, for people to read too.
pub fn json(value: &impl Serialize) -> Result<String, CliError> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(not_json)
}

/// One JSON document on one line, for streams.
pub fn json_line(value: &impl Serialize) -> Result<String, CliError> {
    serde_json::to_string(value).map(|text| text + "\n").map_err(not_json)
}

#[expect(clippy::needless_pass_by_value, reason = "as map_err hands it over")]
fn not_json(error: serde_json::Error) -> CliError {
    CliError {
        message: format!("the answer does not read as JSON: {error}"),
        hint: "this is a mistake in Baton; please report it".to_owned(),
        code: FAILED,
    }
}

/// Rows under headings, in columns as wide as their widest cell; the last one is left as it is.
pub fn table<const COLUMNS: usize>(headings: [&str; COLUMNS], rows: &[[String; COLUMNS]]) -> String {
    let mut widths = headings.map(|heading| heading.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: [&str; COLUMNS]| {
        let padded: Vec<String> =
            cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        padded.join("  ").trim_end().to_owned() + "\n"
    };
    let mut text = line(headings);
    for row in rows {
        text.push_str(&line(row.each_ref().map(String::as_str)));
    }
    text
}
