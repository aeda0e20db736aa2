//! The only place that prints. Data goes to standard output, talk to standard error.

mod progress;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use tracing_subscriber::EnvFilter;

use crate::fault::{FAILED, Fault};

pub use self::progress::Progress;

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
    if SPEAKS_JSON.load(Ordering::Relaxed) {
        tracing::info!(target: SPOKEN, "{text}");
    } else {
        progress::say(text);
    }
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

/// The whole terminal, for a screen that is drawn again and again; given back as it was when dropped.
pub struct Canvas {}

/// Drawn on when the terminal does not say how large it is.
const SIZE_UNKNOWN: Size = Size { columns: 80, lines: 24 };

impl Canvas {
    /// The second screen, without a cursor.
    pub fn take() -> Self {
        let _ = write!(std::io::stdout(), "\x1b[?1049h\x1b[?25l");
        Self {}
    }

    pub fn size() -> Size {
        match rustix::termios::tcgetwinsize(std::io::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                Size { columns: size.ws_col.into(), lines: size.ws_row.into() }
            }
            _ => SIZE_UNKNOWN,
        }
    }

    /// Line over line, so that nothing flickers; what was below goes.
    pub fn draw(text: &str) {
        let mut frame = String::from("\x1b[H");
        for line in text.lines() {
            frame.push_str(line);
            frame.push_str("\x1b[K\r\n");
        }
        // The line break behind the last line would scroll a full screen.
        frame.truncate(frame.trim_end_matches("\r\n").len());
        frame.push_str("\x1b[J");
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(frame.as_bytes()).and_then(|()| stdout.flush());
    }
}

impl Drop for Canvas {
    fn drop(&mut self) {
        let mut stdout = std::io::stdout().lock();
        let _ = write!(stdout, "\x1b[?25h\x1b[?1049l").and_then(|()| stdout.flush());
    }
}

/// Columns and lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub lines: usize,
}

/// Set once everything on standard error is to be JSON.
static SPEAKS_JSON: AtomicBool = AtomicBool::new(false);
/// What the program says, as opposed to what it logs; always shown.
const SPOKEN: &str = "baton::output";

/// From here on everything on standard error is JSON, what the program says included.
pub fn speak_json() {
    SPEAKS_JSON.store(true, Ordering::Relaxed);
}

/// Lets what the program says through, whatever else the log leaves out.
pub fn spoken_in(filter: EnvFilter) -> EnvFilter {
    match format!("{SPOKEN}=info").parse() {
        Ok(directive) => filter.add_directive(directive),
        Err(_) => filter,
    }
}

/// The exit code of a command that was run for somebody. A shell knows eight bits of it.
pub fn exit(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(FAILED))
}

pub fn fault(fault: &Fault) -> ExitCode {
    progress::close();
    if SPEAKS_JSON.load(Ordering::Relaxed) {
        tracing::error!(target: SPOKEN, hint = fault.hint, code = fault.code, "{}", fault.message);
    } else {
        let _ = writeln!(std::io::stderr(), "error: {}\n\nHint: {}", fault.message, fault.hint);
    }
    ExitCode::from(fault.code)
}

/// One JSON document, for people to read too.
pub fn json(value: &impl Serialize) -> Result<String, Fault> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(not_json)
}

/// One JSON document on one line, for streams.
pub fn json_line(value: &impl Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map(|text| text + "\n").map_err(not_json)
}

#[expect(clippy::needless_pass_by_value, reason = "as map_err hands it over")]
fn not_json(error: serde_json::Error) -> Fault {
    Fault {
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
