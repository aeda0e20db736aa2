//! What a terminal shows beyond the text: colours, as little as helps to read. Files and pipes get none.

use std::borrow::Cow;
use std::env;

/// What kind of text is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Look {
    /// Sentences and tables.
    #[default]
    Text,
    /// Ends with a diff, as git prints it.
    Diff,
    /// As it is, for programs.
    Raw,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Cyan,
}

const RESET: &str = "\x1b[0m";

impl Ink {
    const fn code(self) -> &'static str {
        match self {
            Self::Bold => "\x1b[1m",
            Self::Dim => "\x1b[2m",
            Self::Red => "\x1b[31m",
            Self::Green => "\x1b[32m",
            Self::Yellow => "\x1b[33m",
            Self::Cyan => "\x1b[36m",
        }
    }

    pub(crate) fn paint(self, text: &str) -> String {
        format!("{}{text}{RESET}", self.code())
    }
}

/// Whether this person wants colours: not with `NO_COLOR`, and not on a terminal that does not say it has any.
pub(crate) fn has_colours() -> bool {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR")
        && env::var_os("TERM").is_some_and(|terminal| !terminal.is_empty() && terminal != "dumb")
}

/// The text with colours. It must not contain control characters of its own.
pub(crate) fn paint(text: &str, look: Look) -> Cow<'_, str> {
    let mut is_diff = false;
    let mut state_column = None;
    let mut painted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        is_diff |= look == Look::Diff && line.starts_with("diff --git ");
        match look {
            Look::Raw => return text.into(),
            Look::Diff if is_diff => painted.push_str(&paint_diff(line)),
            Look::Diff | Look::Text => {
                if is_heading(line) {
                    state_column = line.find("STATE");
                    painted.push_str(&Ink::Bold.paint(line));
                } else {
                    state_column = state_column.filter(|_| !line.is_empty());
                    painted.push_str(&paint_line(line, state_column));
                }
            }
        }
        painted.push_str(end);
    }
    painted.into()
}

fn paint_diff(line: &str) -> Cow<'_, str> {
    const HEADS: [&str; 9] =
        ["diff ", "index ", "--- ", "+++ ", "new file", "deleted file", "similarity", "rename ", "Binary "];
    let ink = match line.as_bytes().first() {
        _ if HEADS.iter().any(|head| line.starts_with(head)) => Ink::Bold,
        Some(b'+') => Ink::Green,
        Some(b'-') => Ink::Red,
        Some(b'@') => Ink::Cyan,
        _ => return line.into(),
    };
    ink.paint(line).into()
}

/// Whether a line is the heading of a table: words in capital letters, and nothing else.
fn is_heading(line: &str) -> bool {
    line.contains("  ")
        && line.starts_with(|first: char| first.is_ascii_uppercase())
        && line.chars().all(|c| c.is_ascii_uppercase() || c == ' ')
}

fn paint_line(line: &str, state_column: Option<usize>) -> Cow<'_, str> {
    if let Some(command) = line.trim_start().strip_prefix("→ ") {
        let indent = &line[..line.len() - line.trim_start().len()];
        return format!("{indent}→ {}", Ink::Cyan.paint(command)).into();
    }
    if let Some((state, rest)) = line.split_once(" · ")
        && let Some(ink) = ink_of(state)
    {
        return format!("{} · {rest}", ink.paint(state)).into();
    }
    let Some((at, _)) = state_column.and_then(|column| line.char_indices().nth(column)) else {
        return line.into();
    };
    let (before, from) = line.split_at(at);
    let state = from.split("  ").next().unwrap_or(from);
    match ink_of(state) {
        Some(ink) => format!("{before}{}{}", ink.paint(state), &from[state.len()..]).into(),
        None => line.into(),
    }
}

/// The colour of a state; none for text that is no state.
fn ink_of(state: &str) -> Option<Ink> {
    match state {
        "Working" | "Landing" | "live" => Some(Ink::Cyan),
        "Waiting for you" | "Blocked" | "Needs review" | "Needs a plan" | "Plan to approve"
        | "No changes" => Some(Ink::Yellow),
        "Ready for review" | "Done" => Some(Ink::Green),
        "Failed" | "No progress" | "Not converging" => Some(Ink::Red),
        "Queued" | "Continuing" | "Held" | "Split" | "In parts" | "Cancelled" => Some(Ink::Dim),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_core::task::state::StateName;

    #[test]
    fn a_diff_is_painted_after_what_comes_before_it() {
        let text = "- no diff yet\ndiff --git a/x b/x\n@@ -1 +1 @@\n-old\n+new\n kept\n";
        let painted = paint(text, Look::Diff);
        assert_eq!(
            painted,
            "- no diff yet\n\x1b[1mdiff --git a/x b/x\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n\x1b[31m-old\x1b[0m\n\
             \x1b[32m+new\x1b[0m\n kept\n"
        );
        assert_eq!(paint(text, Look::Raw), text);
    }

    #[test]
    fn headings_and_states_of_a_table_are_painted_and_nothing_else() {
        let text = "ID      STATE    TITLE\nTASK-1  Failed   STATE  of things\nTASK-2  Working  Fix\n\nFailed  is a word\n";
        assert_eq!(
            paint(text, Look::Text),
            "\x1b[1mID      STATE    TITLE\x1b[0m\nTASK-1  \x1b[31mFailed\x1b[0m   STATE  of things\n\
             TASK-2  \x1b[36mWorking\x1b[0m  Fix\n\nFailed  is a word\n"
        );
        assert_eq!(
            paint("Done · P2\n  → baton up\n", Look::Text),
            "\x1b[32mDone\x1b[0m · P2\n  → \x1b[36mbaton up\x1b[0m\n"
        );
    }

    #[test]
    fn every_state_has_a_colour() {
        assert!(StateName::ALL.into_iter().all(|state| ink_of(state.label()).is_some()));
    }
}
