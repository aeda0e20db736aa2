//! Shows what is longer than the screen in the pager of the user, as git does.

use std::env;
use std::io::{IsTerminal, Write, stdin, stdout};
use std::process::{Command, Stdio};

use ratatui::crossterm::terminal;

/// Used if neither `BATON_PAGER` nor `PAGER` is set.
const DEFAULT: &str = "less";
/// For `less`, if the user has set nothing: leave the text on the screen, and let colours through.
const LESS: &str = "FRX";

/// The columns of this terminal.
pub(crate) fn width() -> Option<usize> {
    terminal::size().ok().map(|(columns, _)| usize::from(columns)).filter(|columns| *columns > 0)
}

/// Shows the text in the pager. False if that is not wanted, or not possible: then it is to be printed.
pub(crate) fn show(text: &str) -> bool {
    // A terminal that does not know its size has no end.
    let has_room = |rows: u16| rows == 0 || text.lines().count() < usize::from(rows);
    if !stdin().is_terminal()
        || !stdout().is_terminal()
        || terminal::size().map_or(true, |(_, rows)| has_room(rows))
    {
        return false;
    }
    let set = |name: &str| env::var(name).ok();
    let chosen = set("BATON_PAGER").or_else(|| set("PAGER")).unwrap_or_else(|| DEFAULT.to_owned());
    // `less -S` is a program and an argument; no shell is involved.
    let mut words = chosen.split_whitespace();
    let Some(program) = words.next().filter(|program| *program != "cat") else { return false };
    let mut command = Command::new(program);
    if env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    let Ok(mut pager) = command.args(words).stdin(Stdio::piped()).spawn() else { return false };
    if let Some(mut into) = pager.stdin.take() {
        // Whoever quits early has read enough.
        let _ = into.write_all(text.as_bytes());
    }
    pager.wait().is_ok()
}
