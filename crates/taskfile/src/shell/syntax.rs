//! Finds syntax errors in a command before it runs.
//!
//! A shell runs a script line by line and fails in the middle; go-task parses the whole command first. This check
//! finds the common errors up front and reports nothing when unsure: commands with here-documents, `case`, `[[`,
//! arithmetic, functions or arrays are left to the shell.

/// The first error, as `line:column: message`.
pub(super) fn find_syntax_error(command: &str) -> Option<String> {
    let mut check = SyntaxChecker {
        chars: command.chars().collect(),
        at: 0,
        open: Vec::new(),
        start: true,
        pending: None,
        nested: 0,
    };
    match check.run() {
        Err(SyntaxVerdict::Mistake(at, words)) => {
            let line = check.chars[..at].iter().filter(|c| **c == '\n').count() + 1;
            let column = at - check.chars[..at].iter().rposition(|c| *c == '\n').map_or(0, |p| p + 1) + 1;
            Some(format!("{line}:{column}: {words}"))
        }
        Err(SyntaxVerdict::Unsure) | Ok(()) => None,
    }
}

enum SyntaxVerdict {
    Mistake(usize, String),
    Unsure,
}

struct SyntaxChecker {
    chars: Vec<char>,
    at: usize,
    /// Open keywords and brackets, with their positions.
    open: Vec<(&'static str, usize)>,
    /// A statement may start here.
    start: bool,
    /// An operator that needs a statement after it.
    pending: Option<(&'static str, usize)>,
    /// How many quotes and substitutions are open.
    nested: usize,
}

/// How deep quotes and substitutions may be nested. Each level takes a part of the stack, here and in the shell.
const MAX_NESTED: usize = 200;

/// Opening words and the words that close them.
#[rustfmt::skip]
const ENDS: &[(&str, &str)] = &[
    ("if", "fi"), ("while", "done"), ("until", "done"), ("for", "done"), ("select", "done"), ("{", "}"),
    ("(", ")"),
];

impl SyntaxChecker {
    fn run(&mut self) -> Result<(), SyntaxVerdict> {
        while let Some(c) = self.peek(0) {
            let at = self.at;
            match c {
                ' ' | '\t' | '\r' => self.at += 1,
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '#' => self.skip_while(|c| c != '\n'),
                '\n' => {
                    self.at += 1;
                    self.start = true;
                }
                ';' if self.peek(1) == Some(';') => {
                    return Err(SyntaxVerdict::Mistake(
                        at,
                        "`;;` can only be used in a case clause".to_owned(),
                    ));
                }
                ';' => self.separator(";", at)?,
                '&' if self.peek(1) == Some('&') => self.operator("&&", at)?,
                '&' if self.peek(1) == Some('>') => self.at += 2,
                '&' => self.separator("&", at)?,
                '|' if self.peek(1) == Some('|') => self.operator("||", at)?,
                '|' if self.peek(1) == Some('&') => self.operator("|&", at)?,
                '|' => self.operator("|", at)?,
                '<' | '>' => self.redirect()?,
                '(' => self.subshell(at)?,
                ')' => self.close(at)?,
                _ => self.word(at)?,
            }
        }
        if let Some((operator, at)) = self.pending {
            return Err(SyntaxVerdict::Mistake(at, format!("`{operator}` must be followed by a statement")));
        }
        match self.open.pop() {
            None => Ok(()),
            Some((bracket @ ("(" | "{"), at)) => Err(SyntaxVerdict::Mistake(
                at,
                format!("reached EOF without matching `{bracket}` with `{}`", end(bracket)),
            )),
            Some((word, at)) => {
                Err(SyntaxVerdict::Mistake(at, format!("`{word}` statement must end with `{}`", end(word))))
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn skip_while(&mut self, more: impl Fn(char) -> bool) {
        while self.peek(0).is_some_and(&more) {
            self.at += 1;
        }
    }

    fn separator(&mut self, operator: &str, at: usize) -> Result<(), SyntaxVerdict> {
        if self.start {
            return Err(SyntaxVerdict::Mistake(
                at,
                format!("`{operator}` can only immediately follow a statement"),
            ));
        }
        self.at += 1;
        self.start = true;
        Ok(())
    }

    fn operator(&mut self, operator: &'static str, at: usize) -> Result<(), SyntaxVerdict> {
        if self.start {
            return Err(SyntaxVerdict::Mistake(
                at,
                format!("`{operator}` can only immediately follow a statement"),
            ));
        }
        self.at += operator.len();
        self.start = true;
        self.pending = Some((operator, at));
        Ok(())
    }

    fn redirect(&mut self) -> Result<(), SyntaxVerdict> {
        let first = self.peek(0);
        if first == Some('<') && self.peek(1) == Some('<') && self.peek(2) != Some('<') {
            return Err(SyntaxVerdict::Unsure);
        }
        if self.peek(1) == Some('(') {
            self.at += 2;
            self.pending = None;
            self.start = false;
            return self.skip_brackets('(', ')');
        }
        self.skip_while(|c| matches!(c, '<' | '>' | '&' | '|'));
        Ok(())
    }

    fn subshell(&mut self, at: usize) -> Result<(), SyntaxVerdict> {
        if !self.start || self.peek(1) == Some('(') {
            return Err(SyntaxVerdict::Unsure);
        }
        self.at += 1;
        self.open.push(("(", at));
        self.pending = None;
        Ok(())
    }

    fn close(&mut self, at: usize) -> Result<(), SyntaxVerdict> {
        if self.open.last().is_some_and(|(o, _)| *o == "(") {
            self.open.pop();
            self.at += 1;
            self.start = false;
            return Ok(());
        }
        let words = if self.start {
            "`)` can only be used to close a subshell"
        } else {
            "a command can only contain words and redirects; encountered `)`"
        };
        Err(SyntaxVerdict::Mistake(at, words.to_owned()))
    }

    fn word(&mut self, at: usize) -> Result<(), SyntaxVerdict> {
        self.skip_word()?;
        let text: String = self.chars[at..self.at].iter().collect();
        self.pending = None;
        if !self.start {
            return Ok(());
        }
        self.start = false;
        match text.as_str() {
            "case" | "function" | "[[" | "let" | "coproc" => return Err(SyntaxVerdict::Unsure),
            "!" | "time" => self.start = true,
            "then" | "else" | "elif" if !self.inside(&["if"]) => {
                return Err(misplaced_word(at, &text, "in an `if`"));
            }
            "do" if !self.inside(&["while", "until", "for", "select"]) => {
                return Err(misplaced_word(at, &text, "in a loop"));
            }
            "then" | "else" | "elif" | "do" => self.start = true,
            "fi" if !self.inside(&["if"]) => return Err(misplaced_word(at, &text, "to end an `if`")),
            "done" if !self.inside(&["while", "until", "for", "select"]) => {
                return Err(misplaced_word(at, &text, "to end a loop"));
            }
            "}" if !self.inside(&["{"]) => return Err(misplaced_word(at, &text, "to close a block")),
            "fi" | "done" | "}" => drop(self.open.pop()),
            other => {
                if let Some((word, _)) = ENDS.iter().find(|(word, _)| *word == other) {
                    self.open.push((word, at));
                    self.start = !matches!(*word, "for" | "select");
                }
            }
        }
        Ok(())
    }

    fn inside(&self, words: &[&str]) -> bool {
        self.open.last().is_some_and(|(word, _)| words.contains(word))
    }

    fn skip_word(&mut self) -> Result<(), SyntaxVerdict> {
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '<' | '>' | ')' => return Ok(()),
                // A function, an array or a pattern has other rules inside.
                '(' => return Err(SyntaxVerdict::Unsure),
                _ => self.skip_piece()?,
            }
        }
        Ok(())
    }

    /// Skips one character, or one quoted or substituted piece.
    fn skip_piece(&mut self) -> Result<(), SyntaxVerdict> {
        let at = self.at;
        if self.nested >= MAX_NESTED {
            let message = format!("quotes and substitutions are nested more than {MAX_NESTED} deep");
            return Err(SyntaxVerdict::Mistake(at, message));
        }
        self.nested += 1;
        let skipped = self.skip_nested(at);
        self.nested -= 1;
        skipped
    }

    fn skip_nested(&mut self, at: usize) -> Result<(), SyntaxVerdict> {
        match (self.peek(0), self.peek(1)) {
            (Some('\\'), _) => self.at += 2,
            (Some('\''), _) => self.skip_quoted(at, '\'', false)?,
            (Some('$'), Some('\'')) => {
                self.at += 1;
                self.skip_quoted(at, '\'', true)?;
            }
            (Some('"'), _) => self.skip_double(at)?,
            (Some('`'), _) => self.skip_quoted(at, '`', true)?,
            (Some('$'), Some('(')) => {
                self.at += 2;
                self.skip_brackets('(', ')')?;
            }
            (Some('$'), Some('{')) => {
                self.at += 2;
                self.skip_brackets('{', '}')?;
            }
            _ => self.at += 1,
        }
        Ok(())
    }

    fn skip_quoted(&mut self, at: usize, quote: char, escapes: bool) -> Result<(), SyntaxVerdict> {
        self.at += 1;
        while let Some(c) = self.peek(0) {
            self.at += 1;
            if c == quote {
                return Ok(());
            }
            if escapes && c == '\\' {
                self.at += 1;
            }
        }
        Err(SyntaxVerdict::Mistake(at, format!("reached EOF without closing quote `{quote}`")))
    }

    fn skip_double(&mut self, at: usize) -> Result<(), SyntaxVerdict> {
        self.at += 1;
        while let Some(c) = self.peek(0) {
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '\'' => self.at += 1,
                _ => self.skip_piece()?,
            }
        }
        Err(SyntaxVerdict::Mistake(at, "reached EOF without closing quote `\"`".to_owned()))
    }

    /// Skips to the closing bracket; an unterminated substitution is left to the shell.
    fn skip_brackets(&mut self, opening: char, closing: char) -> Result<(), SyntaxVerdict> {
        let mut depth = 1;
        while let Some(c) = self.peek(0) {
            // Comments, patterns and here-documents may contain unbalanced brackets.
            if c == '#' && opening == '(' || self.starts_with("case ") || self.starts_with("<<") {
                return Err(SyntaxVerdict::Unsure);
            }
            if c == opening || c == closing {
                depth = if c == opening { depth + 1 } else { depth - 1 };
                self.at += 1;
                if depth == 0 {
                    return Ok(());
                }
                continue;
            }
            self.skip_piece()?;
        }
        Err(SyntaxVerdict::Unsure)
    }

    fn starts_with(&self, word: &str) -> bool {
        word.chars().enumerate().all(|(i, c)| self.peek(i) == Some(c))
    }
}

fn misplaced_word(at: usize, word: &str, place: &str) -> SyntaxVerdict {
    SyntaxVerdict::Mistake(at, format!("`{word}` can only be used {place}"))
}

fn end(word: &str) -> &'static str {
    ENDS.iter().find(|(w, _)| *w == word).map_or("", |(_, end)| end)
}

#[cfg(test)]
mod tests {
    use super::find_syntax_error;

    #[test]
    fn syntax_errors_have_positions() {
        for (command, want) in [
            ("echo \"unclosed", "1:6: reached EOF without closing quote `\"`"),
            ("echo a\necho 'b", "2:6: reached EOF without closing quote `'`"),
            ("if true; then echo", "1:1: `if` statement must end with `fi`"),
            ("for i in a b; do echo", "1:1: `for` statement must end with `done`"),
            ("echo )", "1:6: a command can only contain words and redirects; encountered `)`"),
            ("echo a |", "1:8: `|` must be followed by a statement"),
            ("&& echo", "1:1: `&&` can only immediately follow a statement"),
            ("echo a;; echo b", "1:7: `;;` can only be used in a case clause"),
            ("(echo a", "1:1: reached EOF without matching `(` with `)`"),
            ("fi", "1:1: `fi` can only be used to end an `if`"),
        ] {
            assert_eq!(find_syntax_error(command).as_deref(), Some(want), "{command}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_takes_no_stack() {
        for opening in ["$(", "\"$(echo ", "${x:-"] {
            let command = format!("echo {}", opening.repeat(50_000));
            let error = find_syntax_error(&command).unwrap_or_default();
            assert!(error.ends_with("nested more than 200 deep"), "{opening}: {error}");
        }
    }

    #[test]
    fn valid_commands_pass() {
        for command in [
            "a && b || c; d & e",
            "a |\n b",
            "a &&\n\n b",
            "if a; then b; elif c; then d; else e; fi",
            "while read x; do echo \"$x\"; done < f",
            "for i in $(ls); do\n echo $i # it's\ndone",
            "{ a; b; } > f 2>&1",
            "(a; b) | c",
            "case $x in a) b;; esac",
            "a=(1 2); echo ${a[@]}",
            "f() { echo a; }; f",
            "cat <<EOF\n it's \"\nEOF",
            "[[ a && ( b || c ) ]]",
            "echo $((1 + 2)) \"$(echo \")\")\" `echo a`",
            "diff <(a) <(b)",
            "echo '#' a#b # comment ' \"",
            "a 2>&1 >/dev/null &>f",
            "! a",
            "echo \\\n b",
            "echo ${x:-')'} \"${y}\"",
            "until a; do b; done; echo it\\'s",
            "echo if then fi done",
            "",
            "  \n ",
        ] {
            assert_eq!(find_syntax_error(command), None, "{command}");
        }
    }
}
