//! The tokens of a template.

use crate::go::literal;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A lexical error; the token's text is the message.
    Error,
    Bool,
    /// Any other printable ASCII character, such as a comma.
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

impl TokenKind {
    pub(crate) fn keyword(word: &str) -> Option<TokenKind> {
        Some(match word {
            "." => TokenKind::Dot,
            "block" => TokenKind::Block,
            "break" => TokenKind::Break,
            "continue" => TokenKind::Continue,
            "define" => TokenKind::Define,
            "else" => TokenKind::Else,
            "end" => TokenKind::End,
            "if" => TokenKind::If,
            "range" => TokenKind::Range,
            "nil" => TokenKind::Nil,
            "template" => TokenKind::Template,
            "with" => TokenKind::With,
            _ => return None,
        })
    }

    fn is_keyword(self) -> bool {
        matches!(
            self,
            TokenKind::Block
                | TokenKind::Break
                | TokenKind::Continue
                | TokenKind::Dot
                | TokenKind::Define
                | TokenKind::Else
                | TokenKind::End
                | TokenKind::If
                | TokenKind::Range
                | TokenKind::Nil
                | TokenKind::Template
                | TokenKind::With
        )
    }
}

#[derive(Clone, Debug)]
pub(crate) struct TemplateToken {
    pub(crate) kind: TokenKind,
    /// The byte offset of its start.
    pub(crate) pos: usize,
    pub(crate) text: String,
    pub(crate) line: usize,
}

impl TemplateToken {
    /// The token as error messages show it.
    pub(crate) fn describe(&self) -> String {
        const SHOWN_MAX: usize = 10;
        match self.kind {
            TokenKind::Eof => "EOF".to_owned(),
            TokenKind::Error => self.text.clone(),
            kind if kind.is_keyword() => format!("<{}>", self.text),
            _ if self.text.len() > SHOWN_MAX => {
                let start: String = self.text.chars().take(SHOWN_MAX).collect();
                format!("{}...", literal::quote(&start))
            }
            _ => literal::quote(&self.text),
        }
    }
}
