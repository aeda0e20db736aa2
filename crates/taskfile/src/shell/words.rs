//! Recognizes commands that need no shell: only words and plain quotes.

/// Shell builtins and keywords. These commands go to the shell even if a program of that name exists.
#[rustfmt::skip]
pub(super) const SHELL_WORDS: &[&str] = &[
    ".", ":", "[", "[[", "alias", "bg", "bind", "break", "builtin", "caller", "case", "cd", "command",
    "compgen", "complete", "compopt", "continue", "coproc", "declare", "dirs", "disown", "do", "done",
    "elif", "else", "enable", "esac", "eval", "exec", "exit", "export", "false", "fc", "fg", "fi",
    "for", "function", "getopts", "hash", "help", "history", "if", "in", "jobs", "kill", "let", "local",
    "logout", "mapfile", "popd", "printf", "pushd", "pwd", "read", "readarray", "readonly", "return",
    "select", "set", "shift", "shopt", "source", "suspend", "test", "then", "time", "times", "trap",
    "true", "type", "typeset", "ulimit", "umask", "unalias", "unset", "until", "wait", "while", "{",
    "}", "!",
];

/// A command that can be carried out without a shell.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PlainCommand {
    /// Start this program with these arguments.
    Program(Vec<String>),
    /// Print this text.
    Echo(String),
    /// Exit with this code.
    Exit(i32),
}

/// Parses a command; `None` if it needs a shell.
pub(super) fn parse_plain(command: &str) -> Option<PlainCommand> {
    let words = split_words(command)?;
    match words.first()?.as_str() {
        "echo" => parse_echo(&words[1..]),
        "true" | ":" => Some(PlainCommand::Exit(0)),
        "false" => Some(PlainCommand::Exit(1)),
        "exit" => match words.as_slice() {
            [_, code] if !code.is_empty() && code.bytes().all(|b| b.is_ascii_digit()) => {
                Some(PlainCommand::Exit(code.parse::<u8>().ok()?.into()))
            }
            _ => None,
        },
        name if name.is_empty() || name.contains('=') || SHELL_WORDS.contains(&name) => None,
        _ => Some(PlainCommand::Program(words)),
    }
}

/// The shell's `echo` builtin without escapes.
fn parse_echo(words: &[String]) -> Option<PlainCommand> {
    let mut newline = true;
    let mut rest = words;
    while let Some(option) = rest
        .first()
        .filter(|w| w.len() > 1 && w.starts_with('-') && w[1..].bytes().all(|b| b"neE".contains(&b)))
    {
        if option.contains('e') {
            return None;
        }
        newline = newline && !option.contains('n');
        rest = &rest[1..];
    }
    let mut text = rest.join(" ");
    if newline {
        text.push('\n');
    }
    Some(PlainCommand::Echo(text))
}

/// The words of a command; `None` if it is more than words.
fn split_words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.trim_matches([' ', '\t', '\n']).chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
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
                        '$' | '`' | '\\' => return None,
                        inner => current.push(inner),
                    }
                }
            }
            '#' if word.is_none() => return None,
            '_' | '-' | '.' | '/' | ':' | ',' | '+' | '@' | '%' | '^' | '=' | '#' | ']' => {
                word.get_or_insert_default().push(c);
            }
            c if c.is_alphanumeric() => word.get_or_insert_default().push(c),
            _ => return None,
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(words: &[&str]) -> PlainCommand {
        PlainCommand::Program(words.iter().map(|w| (*w).to_owned()).collect())
    }

    #[test]
    fn words_and_plain_quotes_need_no_shell() {
        assert_eq!(parse_plain("go test ./..."), Some(program(&["go", "test", "./..."])));
        assert_eq!(parse_plain(" grep 'a b' \"c d\" e'f'\n"), Some(program(&["grep", "a b", "c d", "ef"])));
        assert_eq!(parse_plain("echo -n hi"), Some(PlainCommand::Echo("hi".to_owned())));
        assert_eq!(parse_plain("exit 3"), Some(PlainCommand::Exit(3)));
    }

    #[test]
    fn anything_a_shell_acts_on_needs_one() {
        for command in [
            "a | b",
            "a && b",
            "a; b",
            "a > b",
            "$a",
            "\"$a\"",
            "a*",
            "~/a",
            "A=1 b",
            "a {b,c}",
            "cd x",
            "# a",
            "a\nb",
            "a \\b",
            "'open",
            "! a",
            "echo -e x",
            "[ a ]",
            "a &",
            "`a`",
            "",
        ] {
            assert_eq!(parse_plain(command), None, "{command}");
        }
    }
}
