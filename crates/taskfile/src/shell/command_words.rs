//! The words of a command line that name a command: after a separator, a keyword or an assignment.
//!
//! Quotes are not followed, so text in quotes may give words that are none. It never hides one.

use super::data::{DataKind, read};

/// Words after which a command follows.
#[rustfmt::skip]
const BEFORE_COMMAND: &[&str] = &[
    "!", "builtin", "command", "coproc", "do", "elif", "else", "eval", "exec", "if", "then", "time", "trap", "until",
    "while", "{", "}",
];

/// A word that names a command, and where it ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CommandWord {
    pub text: String,
    pub end: usize,
}

pub(super) fn command_words(chars: &[char]) -> Vec<CommandWord> {
    let mut found = Vec::new();
    let mut word = String::new();
    let (mut expects_command, mut is_target) = (true, false);
    for at in 0..=chars.len() {
        let c = chars.get(at).map_or('\n', |c| as_separator(*c));
        let previous = at.checked_sub(1).and_then(|at| chars.get(at)).copied();
        let separates = matches!(c, '\n' | ';' | '&' | '|' | '(' | ')' | '`');
        let redirects = matches!(c, '<' | '>');
        match c {
            // A line that goes on.
            '\n' if previous == Some('\\') => continue,
            '\'' | '"' | '\\' => continue,
            ' ' | '\t' | '\r' => {}
            _ if separates || redirects => {}
            _ => {
                word.push(c);
                continue;
            }
        }
        let ended = std::mem::take(&mut word);
        if !ended.is_empty() {
            let is_descriptor = redirects && ended.chars().all(|c| c.is_ascii_digit());
            if ended == "{" {
                expects_command = true;
            } else if expects_command && !std::mem::take(&mut is_target) && !is_descriptor {
                expects_command = is_before_command(&ended);
                found.push(CommandWord { text: ended, end: at });
            }
            is_target = false;
        }
        if redirects {
            is_target = true;
        } else if separates && !matches!((previous, c), (Some('<' | '>'), '&' | '(' | '|')) {
            (expects_command, is_target) = (true, false);
        } else if c == '(' {
            // `<(…)` has commands of its own.
            (expects_command, is_target) = (true, false);
        }
    }
    found
}

/// Whether a word at the place of a command leaves that place to the next one: a keyword, `NAME=value` or an option
/// of `command` and the like.
fn is_before_command(word: &str) -> bool {
    BEFORE_COMMAND.contains(&word) || word.contains('=') || word.starts_with('-')
}

/// Data separates words where its whitespace does; its other special characters are text.
fn as_separator(c: char) -> char {
    match read(c) {
        Some((DataKind::Quoted | DataKind::Computed, c)) if c.is_whitespace() => ' ',
        Some(_) => '\u{FFFD}',
        None => c,
    }
}

#[cfg(test)]
mod tests {
    use super::command_words;

    #[test]
    fn the_words_that_name_commands() {
        for (line, want) in [
            ("go test -v; test -v x", &["go", "test"][..]),
            ("A=1 let x && ! [ a ] || b", &["A=1", "let", "!", "[", "b"]),
            ("if a; then b; else c; fi", &["if", "a", "then", "b", "else", "c", "fi"]),
            ("a > f 2>&1 b | c", &["a", "c"]),
            ("2>/dev/null let x", &["let"]),
            ("f() { let x; }", &["f", "let", "}"]),
            ("function f { let x; }", &["function", "let", "}"]),
            ("echo \"$(let x)\" `let y`", &["echo", "let", "let"]),
            ("diff <(a b) <(c)", &["diff", "a", "c"]),
            ("git \\\n test; \"let\" x; \\let y", &["git", "let", "let"]),
            ("trap 'let x; a b' EXIT", &["trap", "let", "a"]),
            ("command -p test -v", &["command", "-p", "test"]),
        ] {
            let chars: Vec<char> = line.chars().collect();
            let words: Vec<String> = command_words(&chars).into_iter().map(|word| word.text).collect();
            assert_eq!(words, want, "{line}");
        }
    }
}
