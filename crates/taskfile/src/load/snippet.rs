//! The source lines around an error, with a caret under it.

use std::fmt::Write;

use crate::yaml::Position;

/// Lines shown before and after the error.
const AROUND: usize = 2;

pub(super) fn snippet(source: &str, at: Position) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let first = at.line.saturating_sub(AROUND).max(1);
    let last = (at.line + AROUND).min(lines.len());
    let width = last.to_string().len();
    let mut out = String::new();
    for (number, line) in lines
        .iter()
        .enumerate()
        .map(|(i, l)| (i + 1, l))
        .skip(first - 1)
        .take((last + 1).saturating_sub(first))
    {
        let mark = if number == at.line { '>' } else { ' ' };
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = write!(out, "{mark} {number:>width$} | {line}");
        if number == at.line {
            let _ = write!(out, "\n  {:width$} | {:indent$}^", "", "", indent = at.column.saturating_sub(1));
        }
    }
    out
}
