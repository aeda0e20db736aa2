//! Shell quoting, and splitting a command line into words.

use super::super::val::{Result, Val};
use super::ParamType::Str;
use super::{Function, FunctionContext, fixed, text};
use crate::shell;

pub(super) const FUNCTIONS: &[Function] = &[
    fixed("shellQuote", &[Str], |_, args| quote(text(args, 0)).map(Val::text)),
    fixed("q", &[Str], |_, args| quote(text(args, 0)).map(Val::text)),
    fixed("splitArgs", &[Str], |call, args| Val::strings(words(call, text(args, 0))?)),
];

/// Quotes a string for bash.
fn quote(whole: &str) -> Result<String> {
    match whole.find('\0') {
        Some(place) => {
            Err(format!("cannot quote character at byte {place}: shell strings cannot contain null bytes"))
        }
        None => Ok(shell::quote(whole)),
    }
}

/// Splits a command line into words, resolving quotes, variables, `~` and braces as a shell does.
fn words(call: &FunctionContext<'_>, whole: &str) -> Result<Vec<String>> {
    let mut splitter = Splitter { call, whole, rest: whole, words: Vec::new(), word: None };
    splitter.run()?;
    Ok(splitter.words)
}

struct Splitter<'a> {
    call: &'a FunctionContext<'a>,
    whole: &'a str,
    rest: &'a str,
    words: Vec<String>,
    /// The word being read; an empty quoted word is a word too.
    word: Option<String>,
}

impl Splitter<'_> {
    fn take(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn push(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    /// Line and column, `back` bytes before the current position.
    fn place(&self, back: usize) -> String {
        let before = &self.whole[..self.whole.len() - self.rest.len() - back];
        let line = 1 + before.matches('\n').count();
        let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1) + 1;
        format!("{line}:{column}")
    }

    fn run(&mut self) -> Result<()> {
        while let Some(c) = self.take() {
            match c {
                ' ' | '\t' | '\n' | '\r' => self.end_word(),
                '#' if self.word.is_none() => {
                    self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]);
                }
                '\'' => self.single_quoted()?,
                '"' => self.double_quoted()?,
                '\\' => match self.take() {
                    Some('\n') => {}
                    Some(c) => self.push(c.encode_utf8(&mut [0; 4])),
                    None => self.push("\\"),
                },
                '$' => self.dollar(false)?,
                '`' => return Err(format!("unexpected command substitution at {}", self.place(1))),
                '~' if self.word.is_none()
                    && (self.rest.is_empty() || self.rest.starts_with(['/', ' ', '\t', '\n'])) =>
                {
                    let home = self.call.host.env("HOME").unwrap_or_default();
                    self.push(&home);
                }
                '{' if self.braces() => {}
                ';' | '|' | '&' | '<' | '>' | '(' | ')' => return Err(self.operator(c)),
                c => self.push(c.encode_utf8(&mut [0; 4])),
            }
        }
        self.end_word();
        Ok(())
    }

    fn operator(&self, c: char) -> String {
        let doubled = self.rest.starts_with(c) && "|&<>;".contains(c);
        let shown = if doubled { format!("{c}{c}") } else { c.to_string() };
        format!("{}: `{shown}` is not a valid word", self.place(1))
    }

    fn single_quoted(&mut self) -> Result<()> {
        let Some(end) = self.rest.find('\'') else {
            return Err(format!("{}: reached EOF without closing quote `'`", self.place(1)));
        };
        let (quoted, rest) = self.rest.split_at(end);
        self.push(quoted);
        self.rest = &rest[1..];
        Ok(())
    }

    fn double_quoted(&mut self) -> Result<()> {
        let opened = self.place(1);
        self.push("");
        loop {
            match self.take() {
                None => return Err(format!("{opened}: reached EOF without closing quote `\"`")),
                Some('"') => return Ok(()),
                Some('$') => self.dollar(true)?,
                Some('`') => return Err(format!("unexpected command substitution at {}", self.place(1))),
                Some('\\') => match self.take() {
                    Some('\n') | None => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => self.push(c.encode_utf8(&mut [0; 4])),
                    Some(c) => {
                        self.push("\\");
                        self.push(c.encode_utf8(&mut [0; 4]));
                    }
                },
                Some(c) => self.push(c.encode_utf8(&mut [0; 4])),
            }
        }
    }

    fn dollar(&mut self, quoted: bool) -> Result<()> {
        if self.rest.starts_with('(') {
            return Err(format!("unexpected command substitution at {}", self.place(1)));
        }
        if !quoted && self.rest.starts_with('\'') {
            return self.ansi_quoted();
        }
        if let Some(braced) = self.rest.strip_prefix('{') {
            let Some(end) = braced.find('}') else {
                return Err(format!("{}: reached EOF without matching `${{` with `}}`", self.place(1)));
            };
            let inner = &braced[..end];
            self.rest = &braced[end + 1..];
            let name_end = inner.find(|c: char| !is_name(c)).unwrap_or(inner.len());
            let (name, operation) = inner.split_at(name_end);
            let value = self.call.host.env(name).unwrap_or_default();
            let value = match operation.strip_prefix(":-").or_else(|| operation.strip_prefix('-')) {
                Some(else_body) if value.is_empty() => else_body.to_owned(),
                _ => value,
            };
            self.insert(&value, quoted);
            return Ok(());
        }
        let end = self.rest.find(|c: char| !is_name(c)).unwrap_or(self.rest.len());
        if end == 0 {
            self.push("$");
            return Ok(());
        }
        let value = self.call.host.env(&self.rest[..end]).unwrap_or_default();
        self.rest = &self.rest[end..];
        self.insert(&value, quoted);
        Ok(())
    }

    /// An unquoted variable may expand to several words, or none.
    fn insert(&mut self, value: &str, quoted: bool) {
        if quoted {
            return self.push(value);
        }
        if value.starts_with(char::is_whitespace) {
            self.end_word();
        }
        for (i, part) in value.split_whitespace().enumerate() {
            if i > 0 {
                self.end_word();
            }
            self.push(part);
        }
        if value.ends_with(char::is_whitespace) {
            self.end_word();
        }
    }

    fn ansi_quoted(&mut self) -> Result<()> {
        let opened = self.place(1);
        self.take();
        self.push("");
        loop {
            match self.take() {
                None => return Err(format!("{opened}: reached EOF without closing quote `'`")),
                Some('\'') => return Ok(()),
                Some('\\') => match self.take() {
                    Some('n') => self.push("\n"),
                    Some('t') => self.push("\t"),
                    Some('r') => self.push("\r"),
                    Some('a') => self.push("\x07"),
                    Some('e') => self.push("\x1b"),
                    Some(c @ ('\\' | '\'' | '"')) => self.push(c.encode_utf8(&mut [0; 4])),
                    Some(c) => {
                        self.push("\\");
                        self.push(c.encode_utf8(&mut [0; 4]));
                    }
                    None => {}
                },
                Some(c) => self.push(c.encode_utf8(&mut [0; 4])),
            }
        }
    }

    /// `{a,b}` gives a word for each; any other brace is literal.
    fn braces(&mut self) -> bool {
        let Some(end) = self.rest.find('}') else { return false };
        let inner = &self.rest[..end];
        let plain = !inner.contains(|c: char| c.is_whitespace() || "{'\"$\\`".contains(c));
        if !inner.contains(',') || !plain {
            return false;
        }
        let after = &self.rest[end + 1..];
        let tail_end =
            after.find(|c: char| c.is_whitespace() || "'\"$\\`;|&<>(){}".contains(c)).unwrap_or(after.len());
        let head = self.word.take().unwrap_or_default();
        let tail = &after[..tail_end];
        self.words.extend(inner.split(',').map(|part| format!("{head}{part}{tail}")));
        self.rest = &after[tail_end..];
        true
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
