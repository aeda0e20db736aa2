//! Quotes words for a shell and splits lines into words.

use crate::go::escape::{self, is_printable};

/// Words that are keywords at the start of a command.
const KEYWORDS: [&str; 22] = [
    "!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while",
];

/// Quotes a word for bash: bare if possible, else in `'…'`, in `"…"` if it contains a `'`, and in `$'…'` if it contains
/// unprintable characters.
pub(crate) fn quote(word: &str) -> String {
    if word.is_empty() {
        return "''".to_owned();
    }
    if !word.chars().all(is_printable) {
        return quote_hidden(word);
    }
    let is_special = |c: char| "\\\"'$`&|;()<>*?[#~{= ".contains(c);
    if !word.contains(is_special) && !KEYWORDS.contains(&word) {
        return word.to_owned();
    }
    if !word.contains('\'') {
        return format!("'{word}'");
    }
    let mut out = String::from("\"");
    for c in word.chars() {
        if matches!(c, '"' | '\\' | '`' | '$') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

fn quote_hidden(word: &str) -> String {
    let mut out = String::from("$'");
    for c in word.chars() {
        match c {
            '\\' | '\'' => out.extend(['\\', c]),
            c if is_printable(c) => out.push(c),
            c => escape::push_escaped(&mut out, c),
        }
    }
    out.push('\'');
    out
}

/// Splits a line into words by whitespace, quotes and backslashes; nothing else is special. `None` for an unterminated
/// quote.
pub fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let current = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        inner => current.push(inner),
                    }
                }
            }
            '"' => {
                let current = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' if chars.peek().is_some_and(|n| matches!(n, '"' | '\\' | '$' | '`')) => {
                            current.extend(chars.next());
                        }
                        inner => current.push(inner),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_bash() {
        for (word, quoted) in [
            ("a", "a"),
            ("-race", "-race"),
            ("", "''"),
            ("a b", "'a b'"),
            ("c'd", "\"c'd\""),
            ("$HOME", "'$HOME'"),
            ("a\nb", "$'a\\nb'"),
            ("é", "é"),
            ("if", "'if'"),
            ("X=1", "'X=1'"),
        ] {
            assert_eq!(quote(word), quoted);
        }
    }

    #[test]
    fn a_line_is_split_as_a_shell_would() {
        assert_eq!(
            split("-v  -run 'A B' \"c \\\" d\" e\\ f ''"),
            Some(["-v", "-run", "A B", "c \" d", "e f", ""].map(String::from).to_vec())
        );
        assert_eq!(split("'open"), None);
        assert_eq!(split("  "), Some(vec![]));
    }
}
