//! Colours for code, line by line: comments, strings, numbers and keywords. It knows families of languages, not grammars, so a
//! string or comment over several lines is only coloured where it begins.

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Comment,
    Text,
    Number,
    Keyword,
}

impl Token {
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Comment => "t-note",
            Self::Text => "t-text",
            Self::Number => "t-num",
            Self::Keyword => "t-key",
        }
    }
}

/// How comments begin, which signs quote a string, and the keywords.
#[derive(Debug, Clone, Copy)]
pub(super) struct Language {
    comments: &'static [&'static str],
    quotes: &'static [char],
    keywords: &'static [&'static str],
}

const NONE: Language = Language { comments: &[], quotes: &[], keywords: &[] };
#[rustfmt::skip]
const C_LIKE: Language = Language {
    comments: &["//", "/*"],
    quotes: &['"', '\'', '`'],
    keywords: &[
        "abstract", "async", "await", "bool", "boolean", "break", "case", "catch", "class", "const", "continue", "default", "defer", "do",
        "else", "enum", "export", "extends", "false", "final", "finally", "for", "from", "func", "function", "go", "if", "implements",
        "import", "in", "instanceof", "int", "interface", "let", "map", "new", "nil", "null", "of", "package", "private", "protected",
        "public", "range", "return", "static", "string", "struct", "super", "switch", "this", "throw", "true", "try", "type", "typeof",
        "undefined", "var", "void", "while", "yield",
    ],
};
#[rustfmt::skip]
const RUST: Language = Language {
    comments: &["//", "/*"],
    quotes: &['"'],
    keywords: &[
        "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern", "false", "fn", "for", "if", "impl",
        "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "self", "Self", "static", "struct", "super", "trait",
        "true", "type", "unsafe", "use", "where", "while",
    ],
};
#[rustfmt::skip]
const SCRIPT: Language = Language {
    comments: &["#"],
    quotes: &['"', '\''],
    keywords: &[
        "and", "as", "assert", "async", "await", "begin", "break", "case", "class", "continue", "def", "del", "do", "done", "elif", "else",
        "elsif", "end", "ensure", "esac", "except", "export", "False", "false", "fi", "finally", "for", "from", "function", "global", "if",
        "import", "in", "is", "lambda", "local", "module", "nil", "None", "not", "or", "pass", "raise", "require", "rescue", "return", "self",
        "then", "True", "true", "try", "unless", "until", "when", "while", "with", "yield",
    ],
};
const DATA: Language =
    Language { comments: &["#"], quotes: &['"', '\''], keywords: &["true", "false", "null", "yes", "no"] };
#[rustfmt::skip]
const SQL: Language = Language {
    comments: &["--"],
    quotes: &['\''],
    keywords: &[
        "ADD", "ALTER", "AND", "AS", "BEGIN", "BY", "COLUMN", "COMMIT", "CREATE", "DEFAULT", "DELETE", "DROP", "FROM", "GROUP", "IN", "INDEX",
        "INSERT", "INTO", "IS", "JOIN", "KEY", "LIMIT", "NOT", "NULL", "ON", "OR", "ORDER", "PRIMARY", "SELECT", "SET", "TABLE", "UNIQUE",
        "UPDATE", "VALUES", "WHERE",
    ],
};

impl Language {
    pub(super) fn of(file: &str) -> Self {
        let name = file.rsplit('/').next().unwrap_or(file);
        match name.rsplit_once('.').map_or(name, |(_, end)| end) {
            "rs" => RUST,
            "js" | "mjs" | "cjs" | "jsx" | "ts" | "tsx" | "c" | "h" | "cc" | "cpp" | "hpp" | "cs" | "go"
            | "java" | "kt" | "swift" | "scala" | "php" | "dart" | "proto" | "css" | "scss" => C_LIKE,
            "py" | "rb" | "sh" | "bash" | "zsh" | "pl" | "Makefile" | "Dockerfile" => SCRIPT,
            "json" | "toml" | "yml" | "yaml" | "ini" | "cfg" => DATA,
            "sql" => SQL,
            _ => NONE,
        }
    }
}

/// The marked parts of a line, in order, by byte.
pub(super) fn tokens(language: Language, line: &str) -> Vec<(Range<usize>, Token)> {
    let mut found = Vec::new();
    if language.quotes.is_empty() {
        return found;
    }
    let mut at = 0;
    while let Some(next) = line.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = line.get(at..).unwrap_or_default();
        if language.comments.iter().any(|mark| rest.starts_with(mark)) {
            found.push((at..line.len(), Token::Comment));
            break;
        }
        let length = if language.quotes.contains(&next) {
            let length = quoted(rest, next);
            found.push((at..at + length, Token::Text));
            length
        } else if next.is_alphanumeric() || next == '_' {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            let word = rest.get(..length).unwrap_or_default();
            if next.is_ascii_digit() {
                found.push((at..at + length, Token::Number));
            } else if language.keywords.contains(&word) {
                found.push((at..at + length, Token::Keyword));
            }
            length
        } else {
            next.len_utf8()
        };
        at += length;
    }
    found
}

/// The length of a string that begins here, with its quotes; the rest of the line if it does not end.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (index, next) in text.char_indices().skip(1) {
        if is_escaped {
            is_escaped = false;
        } else if next == '\\' {
            is_escaped = true;
        } else if next == quote {
            return index + next.len_utf8();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(file: &str, line: &str) -> Vec<(String, Token)> {
        let marks = tokens(Language::of(file), line);
        marks.into_iter().map(|(range, token)| (line[range].to_owned(), token)).collect()
    }

    #[test]
    fn words_strings_numbers_and_comments_are_found() {
        let found = marked("src/main.rs", "let x = \"a \\\" b\" + 42; // letter");
        let expected = [
            ("let", Token::Keyword),
            ("\"a \\\" b\"", Token::Text),
            ("42", Token::Number),
            ("// letter", Token::Comment),
        ];
        assert_eq!(found, expected.map(|(text, token)| (text.to_owned(), token)));
        assert_eq!(marked("README.md", "let it be 42"), []);
        assert_eq!(marked("run.sh", "# if")[0].1, Token::Comment);
    }

    proptest! {
        #[test]
        fn marks_are_in_order_and_inside_the_line(line: String) {
            for file in ["a.rs", "a.py", "a.js", "a.sql", "a.json", "a"] {
                let mut end = 0;
                for (range, _) in tokens(Language::of(file), &line) {
                    prop_assert!(range.start >= end && range.end <= line.len() && range.start < range.end);
                    prop_assert!(line.get(range.clone()).is_some());
                    end = range.end;
                }
            }
        }
    }
}
