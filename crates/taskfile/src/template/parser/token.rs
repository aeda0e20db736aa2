//! The words of a template.

use crate::go::literal;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What the lexer could not read; the token's text is the complaint.
    Error,
    Bool,
    /// A printable ASCII character with no other meaning: a comma, mostly.
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    Eof,
    Field,
    Identifier,
    LeftDelim,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelim,
    RightParen,
    Space,
    String,
    Text,
    Variable,
    Block,
    Break,
    Continue,
    Dot,
    Define,
    Else,
    End,
    If,
    Range,
    Nil,
    Template,
    With,
}

impl Kind {
    pub(crate) fn keyword(word: &str) -> Option<Kind> {
        Some(match word {
            "." => Kind::Dot,
            "block" => Kind::Block,
            "break" => Kind::Break,
            "continue" => Kind::Continue,
            "define" => Kind::Define,
            "else" => Kind::Else,
            "end" => Kind::End,
            "if" => Kind::If,
            "range" => Kind::Range,
            "nil" => Kind::Nil,
            "template" => Kind::Template,
            "with" => Kind::With,
            _ => return None,
        })
    }

    fn is_keyword(self) -> bool {
        matches!(
            self,
            Kind::Block
                | Kind::Break
                | Kind::Continue
                | Kind::Dot
                | Kind::Define
                | Kind::Else
                | Kind::End
                | Kind::If
                | Kind::Range
                | Kind::Nil
                | Kind::Template
                | Kind::With
        )
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// Where it starts, in bytes.
    pub(crate) pos: usize,
    pub(crate) text: String,
    pub(crate) line: usize,
}

impl Token {
    /// The token as a complaint shows it.
    pub(crate) fn shown(&self) -> String {
        const SHOWN_MAX: usize = 10;
        match self.kind {
            Kind::Eof => "EOF".to_owned(),
            Kind::Error => self.text.clone(),
            kind if kind.is_keyword() => format!("<{}>", self.text),
            _ if self.text.len() > SHOWN_MAX => {
                let start: String = self.text.chars().take(SHOWN_MAX).collect();
                format!("{}...", literal::quote(&start))
            }
            _ => literal::quote(&self.text),
        }
    }
}
