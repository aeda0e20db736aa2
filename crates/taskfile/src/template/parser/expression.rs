//! Parses pipelines, commands and operands.

use super::token::TokenKind;
use super::{Parser, Result};
use crate::go::literal::{self, Number};
use crate::template::functions;
use crate::template::node::{Expr, TemplateCommand, TemplatePipeline};

impl Parser<'_> {
    pub(super) fn pipeline(&mut self, context: &str, end: TokenKind) -> Result<TemplatePipeline> {
        let pos = self.peek_non_space().pos;
        let mut pipe = TemplatePipeline { pos, assigns: false, variables: Vec::new(), commands: Vec::new() };
        self.declarations(&mut pipe, context)?;
        loop {
            let token = self.next_non_space();
            match token.kind {
                kind if kind == end => {
                    self.check_pipeline(&pipe, context)?;
                    return Ok(pipe);
                }
                TokenKind::Bool
                | TokenKind::CharConstant
                | TokenKind::Complex
                | TokenKind::Dot
                | TokenKind::Field
                | TokenKind::Identifier
                | TokenKind::Number
                | TokenKind::Nil
                | TokenKind::RawString
                | TokenKind::String
                | TokenKind::Variable
                | TokenKind::LeftParen => {
                    self.unread(token);
                    let command = self.command()?;
                    pipe.commands.push(command);
                }
                _ => return Err(self.unexpected(&token, context)),
            }
        }
    }

    /// `$x :=`, `$x =` and, in a range, `$i, $x :=` before the commands.
    fn declarations(&mut self, pipe: &mut TemplatePipeline, context: &str) -> Result<()> {
        while self.peek_non_space().kind == TokenKind::Variable {
            let variable = self.next();
            let adjacent = self.next();
            let spaced = adjacent.kind == TokenKind::Space;
            let next = if spaced { self.next_non_space() } else { adjacent.clone() };
            match next.kind {
                TokenKind::Assign | TokenKind::Declare => {
                    pipe.assigns = next.kind == TokenKind::Assign;
                    pipe.variables.push(variable.text.clone());
                    self.variables.push(variable.text);
                    return Ok(());
                }
                TokenKind::Char if next.text == "," => {
                    pipe.variables.push(variable.text.clone());
                    self.variables.push(variable.text);
                    if context != "range" || pipe.variables.len() >= 2 {
                        return Err(self.error(format!("too many declarations in {context}")));
                    }
                    let follows = self.peek_non_space().kind;
                    if !matches!(follows, TokenKind::Variable | TokenKind::RightDelim | TokenKind::RightParen)
                    {
                        return Err(self.error("range can only initialize variables"));
                    }
                }
                _ => {
                    self.unread(next);
                    if spaced {
                        self.unread(adjacent);
                    }
                    self.unread(variable);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn check_pipeline(&self, pipe: &TemplatePipeline, context: &str) -> Result<()> {
        if pipe.commands.is_empty() {
            return Err(self.error(format!("missing value for {context}")));
        }
        for (stage, command) in pipe.commands.iter().enumerate().skip(1) {
            let literal = matches!(
                command.args.first(),
                Some(
                    Expr::Bool { .. }
                        | Expr::Dot { .. }
                        | Expr::Nil { .. }
                        | Expr::Number { .. }
                        | Expr::Str { .. }
                )
            );
            if literal {
                return Err(self.error(format!("non executable command in pipeline stage {}", stage + 1)));
            }
        }
        Ok(())
    }

    fn command(&mut self) -> Result<TemplateCommand> {
        let mut command = TemplateCommand { pos: self.peek_non_space().pos, args: Vec::new() };
        loop {
            self.peek_non_space();
            if let Some(operand) = self.operand()? {
                command.args.push(operand);
            }
            let token = self.next();
            match token.kind {
                TokenKind::Space => continue,
                TokenKind::RightDelim | TokenKind::RightParen => self.unread(token),
                TokenKind::Pipe => {}
                _ => return Err(self.unexpected(&token, "operand")),
            }
            break;
        }
        if command.args.is_empty() {
            return Err(self.error("empty command"));
        }
        Ok(command)
    }

    /// A term and the fields that follow it.
    fn operand(&mut self) -> Result<Option<Expr>> {
        let Some(term) = self.term()? else { return Ok(None) };
        if self.peek() != TokenKind::Field {
            return Ok(Some(term));
        }
        let mut fields = Vec::new();
        let mut first = None;
        while self.peek() == TokenKind::Field {
            let token = self.next();
            first.get_or_insert(token.pos);
            fields.push(token.text.trim_start_matches('.').to_owned());
        }
        let pos = first.unwrap_or(0);
        Ok(Some(match term {
            Expr::Field { path, .. } => Expr::Field { pos, path: [path, fields].concat() },
            Expr::Variable { path, .. } => Expr::Variable { pos, path: [path, fields].concat() },
            Expr::Bool { .. }
            | Expr::Str { .. }
            | Expr::Number { .. }
            | Expr::Nil { .. }
            | Expr::Dot { .. } => {
                let shown = literal::quote(&term.to_string());
                return Err(self.error(format!("unexpected . after term {shown}")));
            }
            Expr::Function { .. } | Expr::Chain { .. } | Expr::Pipe(_) => {
                Expr::Chain { pos, of: Box::new(term), path: fields }
            }
        }))
    }

    fn term(&mut self) -> Result<Option<Expr>> {
        let token = self.next_non_space();
        let pos = token.pos;
        Ok(Some(match token.kind {
            TokenKind::Identifier => {
                let Some(function) = functions::find(&token.text) else {
                    return Err(self.error(format!("function {} not defined", literal::quote(&token.text))));
                };
                Expr::Function { pos, function }
            }
            TokenKind::Dot => Expr::Dot { pos },
            TokenKind::Nil => Expr::Nil { pos },
            TokenKind::Variable => {
                if !self.variables.contains(&token.text) {
                    return Err(self.error(format!("undefined variable {}", literal::quote(&token.text))));
                }
                Expr::Variable { pos, path: vec![token.text] }
            }
            TokenKind::Field => {
                Expr::Field { pos, path: vec![token.text.trim_start_matches('.').to_owned()] }
            }
            TokenKind::Bool => Expr::Bool { pos, value: token.text == "true" },
            TokenKind::CharConstant => {
                let number = Number::character(&token.text).map_err(|message| self.error(message))?;
                Expr::Number { pos, number }
            }
            TokenKind::Complex | TokenKind::Number => {
                let number = Number::parse(&token.text).map_err(|message| self.error(message))?;
                Expr::Number { pos, number }
            }
            TokenKind::LeftParen => {
                let pipe =
                    self.nested(|parser| parser.pipeline("parenthesized pipeline", TokenKind::RightParen))?;
                Expr::Pipe(Box::new(pipe))
            }
            TokenKind::String | TokenKind::RawString => {
                let text = literal::unquote(&token.text).ok_or_else(|| self.error("invalid syntax"))?;
                Expr::Str { pos, quoted: token.text, text: text.into() }
            }
            _ => {
                self.unread(token);
                return Ok(None);
            }
        }))
    }
}
