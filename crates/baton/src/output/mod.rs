//! Everything that is printed: data to standard output, messages to standard error.
//!
//! No other module prints.

mod age;
mod logging;
mod look;
mod progress;
mod visible;

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use serde_json::json as object;

use crate::error::{CliError, FAILED, USAGE};
use crate::output::look::Ink;
use crate::terminal::pager;

pub(crate) use self::age::{age, time};
pub(crate) use self::logging::{speak_json, spoken_in};
pub(crate) use self::look::Look;
pub(crate) use self::progress::ProgressBar;
pub(crate) use self::visible::visible;

/// Whether anything was printed to standard output.
static HAS_DATA: AtomicBool = AtomicBool::new(false);

/// Prints data. A closed pipe (`baton … | head`) is not an error. Files and pipes get it unchanged; a terminal does not
/// get control characters.
pub(crate) fn data(text: &str, look: Look, paging: PagerUse) -> ExitCode {
    progress::close();
    HAS_DATA.store(true, Ordering::Relaxed);
    let text = on_screen(text, look);
    if paging == PagerUse::WhereLong && pager::show(&text) {
        return ExitCode::SUCCESS;
    }
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: cannot write to standard output: {error}");
            ExitCode::from(FAILED)
        }
    }
}

/// Whether a text that is longer than the screen is shown in the user's pager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PagerUse {
    WhereLong,
    Never,
}

/// As standard output gets it: unchanged, or for a terminal without the control characters of others, and in colour.
fn on_screen(text: &str, look: Look) -> Cow<'_, str> {
    match (is_terminal(), visible(text)) {
        (false, _) => text.into(),
        (true, shown) if !look::has_colours() => shown,
        (true, shown) => look::paint(&shown, look).into_owned().into(),
    }
}

/// Prints a message for the person to standard error.
pub(crate) fn talk(text: &str) {
    if !logging::talk(text) {
        progress::say(&visible(text));
    }
}

/// Prints what to do next, at a terminal only.
pub(crate) fn next(text: &str) {
    if std::io::stdout().is_terminal() && std::io::stderr().is_terminal() {
        talk(text);
    }
}

/// Whether a person reads what is printed.
pub(crate) fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Asks a person at this terminal. False without a terminal, and for anything but yes.
pub(crate) fn confirm(question: &str) -> bool {
    let (stdin, mut stderr) = (std::io::stdin(), std::io::stderr());
    if !stdin.is_terminal() || !stderr.is_terminal() {
        return false;
    }
    let asked = write!(stderr, "{} [y/N] ", visible(question)).and_then(|()| stderr.flush());
    let mut answer = String::new();
    asked.is_ok()
        && stdin.read_line(&mut answer).is_ok()
        && ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

/// Prints one line of data at once, for output that grows over time.
pub(crate) fn line(text: &str) {
    line_as(text, Look::Text);
}

pub(crate) fn line_as(text: &str, look: Look) {
    HAS_DATA.store(true, Ordering::Relaxed);
    // A closed pipe does not stop the work.
    let text = on_screen(text, look);
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
}

/// Prints more of a text that grows. False once nobody reads it any more.
pub(crate) fn more(text: &str) -> bool {
    HAS_DATA.store(true, Ordering::Relaxed);
    let mut stdout = std::io::stdout().lock();
    let text = if stdout.is_terminal() { visible(text) } else { text.into() };
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_ok()
}

/// The exit code of a child process; shells keep eight bits.
pub(crate) fn exit(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(FAILED))
}

/// For people on standard error; for programs that asked for JSON on standard output, too, unless that has its document.
pub(crate) fn error(error: &CliError, is_json: bool) -> ExitCode {
    progress::close();
    if is_json && !HAS_DATA.load(Ordering::Relaxed) {
        let CliError { message, hint, code, reason } = error;
        let error = object!({ "code": reason, "message": message, "hint": hint, "exit_code": code });
        let object = object!({ "error": error });
        // A closed pipe changes nothing: the exit code says it too.
        let _ = writeln!(std::io::stdout(), "{object}");
    }
    if !logging::error(error) {
        let more = error.reason.as_ref().map(|reason| format!("\nMore: baton explain {reason}"));
        let (message, hint) = (visible(&error.message), visible(&error.hint));
        let [word, tip] = if std::io::stderr().is_terminal() && look::has_colours() {
            [Ink::Red.paint("error:"), Ink::Bold.paint("Hint:")]
        } else {
            ["error:", "Hint:"].map(str::to_owned)
        };
        let more = more.unwrap_or_default();
        let _ = writeln!(std::io::stderr(), "{word} {message}\n\n{tip} {hint}{}", visible(&more));
    }
    ExitCode::from(error.code)
}

/// Words that are no command, or `--help`, which is no error. As clap prints them; with `--json` among the words, as JSON
/// first.
pub(crate) fn usage_error(error: &clap::Error) -> ExitCode {
    let is_json = std::env::args_os().any(|word| word == "--json");
    if is_json && error.use_stderr() {
        let text = error.render().to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        let object = object!({ "code": "usage", "message": message, "hint": text, "exit_code": USAGE });
        let _ = writeln!(std::io::stdout(), "{}", object!({ "error": object }));
    }
    error.exit()
}

/// One JSON document, indented.
pub(crate) fn json(value: &impl Serialize) -> Result<String, CliError> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(not_json)
}

/// One JSON document on one line, for streams.
pub(crate) fn json_line(value: &impl Serialize) -> Result<String, CliError> {
    serde_json::to_string(value).map(|text| text + "\n").map_err(not_json)
}

#[expect(clippy::needless_pass_by_value, reason = "the signature map_err needs")]
fn not_json(error: serde_json::Error) -> CliError {
    CliError::bug(format!("cannot write the result as JSON: {error}"))
}

/// What a shortened last column keeps at least.
const LAST_COLUMN_MIN: usize = 20;

/// Renders rows under headings, in aligned columns. At a terminal each row is one line: the last column is shortened.
pub(crate) fn table<const COLUMNS: usize>(headings: [&str; COLUMNS], rows: &[[String; COLUMNS]]) -> String {
    let text = aligned(headings, rows);
    let Some(width) = pager::width().filter(|_| is_terminal()) else { return text };
    text.lines().map(|line| shortened(line, width) + "\n").collect()
}

fn shortened(line: &str, width: usize) -> String {
    if line.chars().count() <= width.max(LAST_COLUMN_MIN) {
        return line.to_owned();
    }
    let kept: String = line.chars().take(width.max(LAST_COLUMN_MIN) - 1).collect();
    kept.trim_end().to_owned() + "…"
}

fn aligned<const COLUMNS: usize>(headings: [&str; COLUMNS], rows: &[[String; COLUMNS]]) -> String {
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
