//! Splits a template into tokens lazily, so that an error is reported only when the parser reaches it.

use super::token::{TemplateToken, TokenKind};
use crate::go::literal;

const LEFT: &str = "{{";
const RIGHT: &str = "}}";
const COMMENT_START: &str = "/*";
const COMMENT_END: &str = "*/";
/// The length of a trim marker: `- ` after an opening delimiter, ` -` before a closing one.
const TRIM_LEN: usize = 2;

pub(crate) struct Lexer<'t> {
    input: &'t str,
    pos: usize,
    start: usize,
    line: usize,
    start_line: usize,
    paren_depth: i32,
    inside_action: bool,
    /// After an error only `Eof` follows.
    failed: bool,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(input: &'t str) -> Self {
        Lexer {
            input,
            pos: 0,
            start: 0,
            line: 1,
            start_line: 1,
            paren_depth: 0,
            inside_action: false,
            failed: false,
        }
    }

    pub(crate) fn next_token(&mut self) -> TemplateToken {
        if self.failed {
            return TemplateToken {
                kind: TokenKind::Eof,
                pos: self.pos,
                text: String::new(),
                line: self.start_line,
            };
        }
        loop {
            let lexed = if self.inside_action { self.lex_inside_action() } else { self.lex_text() };
            if let Some(token) = lexed {
                return token;
            }
        }
    }

    fn rest(&self) -> &'t str {
        self.input.get(self.pos..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn advance(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.pos += c.len_utf8();
        if c == '\n' {
            self.line += 1;
        }
        Some(c)
    }

    fn accept(&mut self, wanted: impl Fn(char) -> bool) -> bool {
        let accepted = self.peek().is_some_and(wanted);
        if accepted {
            self.advance();
        }
        accepted
    }

    fn accept_run(&mut self, wanted: impl Fn(char) -> bool) {
        while self.accept(&wanted) {}
    }

    fn skip(&mut self, bytes: usize) {
        let end = (self.pos + bytes).min(self.input.len());
        self.line += self.input.get(self.pos..end).map_or(0, |skipped| skipped.matches('\n').count());
        self.pos = end;
    }

    fn ignore(&mut self) {
        self.start = self.pos;
        self.start_line = self.line;
    }

    #[expect(clippy::unnecessary_wraps, reason = "the last word of most readers, which may find nothing")]
    fn emit(&mut self, kind: TokenKind) -> Option<TemplateToken> {
        let text = self.input.get(self.start..self.pos).unwrap_or("").to_owned();
        let token = TemplateToken { kind, pos: self.start, text, line: self.start_line };
        self.ignore();
        Some(token)
    }

    #[expect(clippy::unnecessary_wraps, reason = "the last word of most readers, which may find nothing")]
    fn fail(&mut self, message: impl Into<String>) -> Option<TemplateToken> {
        self.failed = true;
        Some(TemplateToken {
            kind: TokenKind::Error,
            pos: self.start,
            text: message.into(),
            line: self.start_line,
        })
    }

    fn lex_text(&mut self) -> Option<TemplateToken> {
        let Some(offset) = self.rest().find(LEFT) else {
            self.skip(self.rest().len());
            return if self.pos > self.start {
                self.emit(TokenKind::Text)
            } else {
                self.emit(TokenKind::Eof)
            };
        };
        if offset == 0 {
            return self.lex_left_delim();
        }
        let text = &self.rest()[..offset];
        let trims = starts_with_left_marker(&self.rest()[offset + LEFT.len()..]);
        let kept = if trims { text.trim_end_matches(is_space).len() } else { offset };
        self.skip(kept);
        let token = if kept > 0 { self.emit(TokenKind::Text) } else { None };
        self.skip(offset - kept);
        self.ignore();
        token
    }

    fn lex_left_delim(&mut self) -> Option<TemplateToken> {
        self.skip(LEFT.len());
        let marker = if starts_with_left_marker(self.rest()) { TRIM_LEN } else { 0 };
        if self.rest().get(marker..).is_some_and(|rest| rest.starts_with(COMMENT_START)) {
            self.skip(marker);
            self.ignore();
            return self.lex_comment();
        }
        let token = self.emit(TokenKind::LeftDelim);
        self.inside_action = true;
        self.paren_depth = 0;
        self.skip(marker);
        self.ignore();
        token
    }

    fn lex_comment(&mut self) -> Option<TemplateToken> {
        self.skip(COMMENT_START.len());
        let Some(end) = self.rest().find(COMMENT_END) else { return self.fail("unclosed comment") };
        self.skip(end + COMMENT_END.len());
        let Some(trims) = self.at_right_delim() else {
            return self.fail("comment ends before closing delimiter");
        };
        self.skip_right_delim(trims);
        None
    }

    /// Whether a closing delimiter is next, and whether it trims the text after it.
    fn at_right_delim(&self) -> Option<bool> {
        let rest = self.rest();
        let mut chars = rest.chars();
        if chars.next().is_some_and(is_space)
            && chars.next() == Some('-')
            && rest[TRIM_LEN..].starts_with(RIGHT)
        {
            return Some(true);
        }
        rest.starts_with(RIGHT).then_some(false)
    }

    fn skip_right_delim(&mut self, trims: bool) {
        self.skip(RIGHT.len() + if trims { TRIM_LEN } else { 0 });
        if trims {
            let rest = self.rest();
            self.skip(rest.len() - rest.trim_start_matches(is_space).len());
        }
        self.ignore();
    }

    fn lex_right_delim(&mut self, trims: bool) -> Option<TemplateToken> {
        if trims {
            self.skip(TRIM_LEN);
            self.ignore();
        }
        self.skip(RIGHT.len());
        let token = self.emit(TokenKind::RightDelim);
        if trims {
            let rest = self.rest();
            self.skip(rest.len() - rest.trim_start_matches(is_space).len());
            self.ignore();
        }
        self.inside_action = false;
        token
    }

    fn lex_inside_action(&mut self) -> Option<TemplateToken> {
        if let Some(trims) = self.at_right_delim() {
            if self.paren_depth == 0 {
                return self.lex_right_delim(trims);
            }
            return self.fail("unclosed left paren");
        }
        let Some(c) = self.peek() else { return self.fail("unclosed action") };
        if is_space(c) {
            return self.lex_space();
        }
        if is_word(c) && !c.is_ascii_digit() {
            return self.lex_identifier();
        }
        self.advance();
        match c {
            '=' => self.emit(TokenKind::Assign),
            ':' => {
                if self.advance() == Some('=') {
                    self.emit(TokenKind::Declare)
                } else {
                    self.fail("expected :=")
                }
            }
            '|' => self.emit(TokenKind::Pipe),
            '"' => self.lex_quoted('"', TokenKind::String, "unterminated quoted string"),
            '\'' => self.lex_quoted('\'', TokenKind::CharConstant, "unterminated character constant"),
            '`' => self.lex_raw_string(),
            '$' => self.lex_field_or_variable(TokenKind::Variable),
            '.' if !self.peek().is_some_and(|next| next.is_ascii_digit()) => {
                self.lex_field_or_variable(TokenKind::Field)
            }
            '.' | '+' | '-' | '0'..='9' => {
                self.pos = self.start;
                self.lex_number()
            }
            '(' => {
                self.paren_depth += 1;
                self.emit(TokenKind::LeftParen)
            }
            ')' => {
                self.paren_depth -= 1;
                if self.paren_depth < 0 {
                    return self.fail("unexpected right paren");
                }
                self.emit(TokenKind::RightParen)
            }
            c if c.is_ascii_graphic() => self.emit(TokenKind::Char),
            c => self.fail(format!("unrecognized character in action: {}", literal::code_point(c))),
        }
    }

    /// Lexes whitespace; the last space belongs to a trimming closing delimiter.
    fn lex_space(&mut self) -> Option<TemplateToken> {
        while self.peek().is_some_and(is_space) {
            if self.at_right_delim() == Some(true) {
                break;
            }
            self.advance();
        }
        if self.pos == self.start {
            return None;
        }
        self.emit(TokenKind::Space)
    }

    fn lex_identifier(&mut self) -> Option<TemplateToken> {
        self.accept_run(is_word);
        if !self.at_terminator() {
            return self.fail_at_character();
        }
        let word = &self.input[self.start..self.pos];
        let kind = match (TokenKind::keyword(word), word) {
            (Some(keyword), _) => keyword,
            (None, "true" | "false") => TokenKind::Bool,
            (None, _) => TokenKind::Identifier,
        };
        self.emit(kind)
    }

    fn lex_field_or_variable(&mut self, kind: TokenKind) -> Option<TemplateToken> {
        if self.at_terminator() {
            return self.emit(if kind == TokenKind::Field { TokenKind::Dot } else { kind });
        }
        self.accept_run(is_word);
        if !self.at_terminator() {
            return self.fail_at_character();
        }
        self.emit(kind)
    }

    fn fail_at_character(&mut self) -> Option<TemplateToken> {
        let shown = self.peek().map_or_else(|| "EOF".to_owned(), literal::code_point);
        self.fail(format!("bad character {shown}"))
    }

    /// Whether the next character may follow a name.
    fn at_terminator(&self) -> bool {
        match self.peek() {
            None | Some('.' | ',' | '|' | ':' | ')' | '(') => true,
            Some(c) if is_space(c) => true,
            Some(_) => self.rest().starts_with(RIGHT),
        }
    }

    fn lex_quoted(&mut self, quote: char, kind: TokenKind, message: &str) -> Option<TemplateToken> {
        loop {
            match self.advance() {
                Some('\\') => {
                    if matches!(self.advance(), None | Some('\n')) {
                        return self.fail(message);
                    }
                }
                None | Some('\n') => return self.fail(message),
                Some(c) if c == quote => return self.emit(kind),
                Some(_) => {}
            }
        }
    }

    fn lex_raw_string(&mut self) -> Option<TemplateToken> {
        loop {
            match self.advance() {
                None => return self.fail("unterminated raw quoted string"),
                Some('`') => return self.emit(TokenKind::RawString),
                Some(_) => {}
            }
        }
    }

    fn lex_number(&mut self) -> Option<TemplateToken> {
        if !self.scan_number() {
            return self.fail_at_number();
        }
        if self.peek().is_some_and(|c| c == '+' || c == '-') {
            if !self.scan_number() || !self.input[..self.pos].ends_with('i') {
                return self.fail_at_number();
            }
            return self.emit(TokenKind::Complex);
        }
        self.emit(TokenKind::Number)
    }

    fn fail_at_number(&mut self) -> Option<TemplateToken> {
        let shown = literal::quote(&self.input[self.start..self.pos]);
        self.fail(format!("bad number syntax: {shown}"))
    }

    /// Scans what may be a number; [`literal`] decides whether it is.
    fn scan_number(&mut self) -> bool {
        self.accept(|c| c == '+' || c == '-');
        let mut radix = 10;
        if self.accept(|c| c == '0') {
            if self.accept(|c| c == 'x' || c == 'X') {
                radix = 16;
            } else if self.accept(|c| c == 'o' || c == 'O') {
                radix = 8;
            } else if self.accept(|c| c == 'b' || c == 'B') {
                radix = 2;
            }
        }
        let digit = |c: char| c == '_' || c.is_digit(radix);
        self.accept_run(digit);
        if self.accept(|c| c == '.') {
            self.accept_run(digit);
        }
        let exponent = match radix {
            10 => self.accept(|c| c == 'e' || c == 'E'),
            16 => self.accept(|c| c == 'p' || c == 'P'),
            _ => false,
        };
        if exponent {
            self.accept(|c| c == '+' || c == '-');
            self.accept_run(|c| c == '_' || c.is_ascii_digit());
        }
        self.accept(|c| c == 'i');
        if self.peek().is_some_and(is_word) {
            self.advance();
            return false;
        }
        true
    }
}

fn starts_with_left_marker(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next() == Some('-') && chars.next().is_some_and(is_space)
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphabetic() || c.is_numeric()
}
