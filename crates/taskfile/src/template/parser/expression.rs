//! Reads what stands between the braces: pipelines, commands and their words.

use super::token::Kind;
use super::{Parsed, Parser};
use crate::go::literal::{self, Number};
use crate::template::functions;
use crate::template::node::{Command, Expr, Pipe};

impl Parser<'_> {
    pub(super) fn pipeline(&mut self, context: &str, end: Kind) -> Parsed<Pipe> {
        let pos = self.peek_non_space().pos;
        let mut pipe = Pipe { pos, assigns: false, variables: Vec::new(), commands: Vec::new() };
        self.declarations(&mut pipe, context)?;
        loop {
            let token = self.next_non_space();
            match token.kind {
                kind if kind == end => {
                    self.check_pipeline(&pipe, context)?;
                    return Ok(pipe);
                }
                Kind::Bool
                | Kind::CharConstant
                | Kind::Complex
                | Kind::Dot
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::Nil
                | Kind::RawString
                | Kind::String
                | Kind::Variable
                | Kind::LeftParen => {
                    self.back(token);
                    let command = self.command()?;
                    pipe.commands.push(command);
                }
                _ => return Err(self.unexpected(&token, context)),
            }
        }
    }

    /// `$x :=`, `$x =` and, in a range, `$i, $x :=` before the commands.
    fn declarations(&mut self, pipe: &mut Pipe, context: &str) -> Parsed<()> {
        while self.peek_non_space().kind == Kind::Variable {
            let variable = self.next();
            let adjacent = self.next();
            let spaced = adjacent.kind == Kind::Space;
            let next = if spaced { self.next_non_space() } else { adjacent.clone() };
            match next.kind {
                Kind::Assign | Kind::Declare => {
                    pipe.assigns = next.kind == Kind::Assign;
                    pipe.variables.push(variable.text.clone());
                    self.variables.push(variable.text);
                    return Ok(());
                }
                Kind::Char if next.text == "," => {
                    pipe.variables.push(variable.text.clone());
                    self.variables.push(variable.text);
                    if context != "range" || pipe.variables.len() >= 2 {
                        return Err(self.error(format!("too many declarations in {context}")));
                    }
                    let follows = self.peek_non_space().kind;
                    if !matches!(follows, Kind::Variable | Kind::RightDelim | Kind::RightParen) {
                        return Err(self.error("range can only initialize variables"));
                    }
                }
                _ => {
                    self.back(next);
                    if spaced {
                        self.back(adjacent);
                    }
                    self.back(variable);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn check_pipeline(&self, pipe: &Pipe, context: &str) -> Parsed<()> {
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

    fn command(&mut self) -> Parsed<Command> {
        let mut command = Command { pos: self.peek_non_space().pos, args: Vec::new() };
        loop {
            self.peek_non_space();
            if let Some(operand) = self.operand()? {
                command.args.push(operand);
            }
            let token = self.next();
            match token.kind {
                Kind::Space => continue,
                Kind::RightDelim | Kind::RightParen => self.back(token),
                Kind::Pipe => {}
                _ => return Err(self.unexpected(&token, "operand")),
            }
            break;
        }
        if command.args.is_empty() {
            return Err(self.error("empty command"));
        }
        Ok(command)
    }

    /// A term and the fields behind it.
    fn operand(&mut self) -> Parsed<Option<Expr>> {
        let Some(term) = self.term()? else { return Ok(None) };
        if self.peek() != Kind::Field {
            return Ok(Some(term));
        }
        let mut fields = Vec::new();
        let mut first = None;
        while self.peek() == Kind::Field {
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

    fn term(&mut self) -> Parsed<Option<Expr>> {
        let token = self.next_non_space();
        let pos = token.pos;
        Ok(Some(match token.kind {
            Kind::Identifier => {
                let Some(function) = functions::find(&token.text) else {
                    return Err(self.error(format!("function {} not defined", literal::quote(&token.text))));
                };
                Expr::Function { pos, function }
            }
            Kind::Dot => Expr::Dot { pos },
            Kind::Nil => Expr::Nil { pos },
            Kind::Variable => {
                if !self.variables.contains(&token.text) {
                    return Err(self.error(format!("undefined variable {}", literal::quote(&token.text))));
                }
                Expr::Variable { pos, path: vec![token.text] }
            }
            Kind::Field => Expr::Field { pos, path: vec![token.text.trim_start_matches('.').to_owned()] },
            Kind::Bool => Expr::Bool { pos, value: token.text == "true" },
            Kind::CharConstant => {
                let number = Number::character(&token.text).map_err(|complaint| self.error(complaint))?;
                Expr::Number { pos, number }
            }
            Kind::Complex | Kind::Number => {
                let number = Number::parse(&token.text).map_err(|complaint| self.error(complaint))?;
                Expr::Number { pos, number }
            }
            Kind::LeftParen => {
                let pipe =
                    self.deeper(|parser| parser.pipeline("parenthesized pipeline", Kind::RightParen))?;
                Expr::Pipe(Box::new(pipe))
            }
            Kind::String | Kind::RawString => {
                let text = literal::unquote(&token.text).ok_or_else(|| self.error("invalid syntax"))?;
                Expr::Str { pos, quoted: token.text, text: text.into() }
            }
            _ => {
                self.back(token);
                return Ok(None);
            }
        }))
    }
}
