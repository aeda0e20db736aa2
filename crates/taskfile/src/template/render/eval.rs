//! Evaluates pipelines, commands, fields and variables.

use super::{Operand, Result, TemplateRenderer};
use crate::go::literal::Number;
use crate::template::functions::methods;
use crate::template::node::{Expr, TemplateCommand, TemplatePipeline, TemplateSite};
use crate::template::val::Val;

impl<'t> TemplateRenderer<'t> {
    pub(crate) fn eval_pipeline(&mut self, dot: &Operand, pipe: &'t TemplatePipeline) -> Result<Operand> {
        self.enter()?;
        self.at = Some(TemplateSite::Pipe(pipe));
        let mut value: Option<Operand> = None;
        for command in &pipe.commands {
            value = Some(self.eval_command(dot, command, value)?.unboxed());
        }
        let value = value.unwrap_or_else(Operand::invalid);
        for name in &pipe.variables {
            if pipe.assigns {
                self.set_variable(name, value.clone())?;
            } else {
                self.variables.push((name, value.clone()));
            }
        }
        self.leave();
        Ok(value)
    }

    /// `last` is the value of the previous command in the pipeline: one more argument.
    fn eval_command(
        &mut self,
        dot: &Operand,
        command: &'t TemplateCommand,
        last: Option<Operand>,
    ) -> Result<Operand> {
        let Some((first, args)) = command.args.split_first() else { return Ok(Operand::invalid()) };
        match first {
            Expr::Field { path, .. } => {
                self.at = Some(TemplateSite::Expr(first));
                return self.eval_path(dot, dot.clone(), path, first, args, last);
            }
            Expr::Chain { of, path, .. } => return self.eval_chain(dot, first, of, path, args, last),
            Expr::Function { function, .. } => {
                self.at = Some(TemplateSite::Expr(first));
                return self.eval_call(dot, function, None, TemplateSite::Command(command), args, last);
            }
            Expr::Pipe(pipe) => {
                self.refuse_arguments(first, args, last.as_ref())?;
                return self.eval_pipeline(dot, pipe);
            }
            Expr::Variable { path, .. } => return self.eval_variable(dot, first, path, args, last),
            _ => {}
        }
        self.at = Some(TemplateSite::Expr(first));
        self.refuse_arguments(first, args, last.as_ref())?;
        match first {
            Expr::Nil { .. } => self.fail("nil is not a command"),
            other => self.eval_literal(dot, other),
        }
    }

    fn refuse_arguments(&self, first: &Expr, args: &[Expr], last: Option<&Operand>) -> Result<()> {
        if args.is_empty() && last.is_none() {
            return Ok(());
        }
        let shown = match first {
            Expr::Pipe(pipe) => format!("{pipe}"),
            other => other.to_string(),
        };
        self.fail(format!("can't give argument to non-function {shown}"))
    }

    /// Evaluates a literal where no type is expected.
    pub(crate) fn eval_literal(&mut self, dot: &Operand, expr: &'t Expr) -> Result<Operand> {
        Ok(match expr {
            Expr::Bool { value, .. } => Operand::plain(Val::Bool(*value)),
            Expr::Dot { .. } => dot.clone(),
            Expr::Number { number, .. } => {
                self.at = Some(TemplateSite::Expr(expr));
                Operand::plain(self.constant(number)?)
            }
            Expr::Str { text, .. } => Operand::plain(Val::Str(text.clone())),
            other => return self.fail(format!("can't evaluate command \"{other}\"")),
        })
    }

    fn constant(&self, number: &Number) -> Result<Val> {
        match (number.int, number.float) {
            (_, Some(float)) if number.looks_like_float() => Ok(Val::Float(float)),
            (Some(int), _) => Ok(Val::Int(int)),
            _ => self.fail(format!("{} overflows int", number.text)),
        }
    }

    pub(crate) fn eval_chain(
        &mut self,
        dot: &Operand,
        chain: &'t Expr,
        of: &'t Expr,
        path: &'t [String],
        args: &'t [Expr],
        last: Option<Operand>,
    ) -> Result<Operand> {
        self.at = Some(TemplateSite::Expr(chain));
        let receiver = match of {
            Expr::Pipe(pipe) => {
                self.at = Some(TemplateSite::Expr(of));
                self.eval_pipeline(dot, pipe)?
            }
            Expr::Function { function, .. } => {
                self.at = Some(TemplateSite::Expr(of));
                self.eval_call(dot, function, None, TemplateSite::Expr(of), &[], None)?
            }
            Expr::Nil { .. } => {
                return self.fail(format!("indirection through explicit nil in {chain}"));
            }
            other => self.eval_literal(dot, other)?,
        };
        self.eval_path(dot, receiver, path, chain, args, last)
    }

    pub(crate) fn eval_variable(
        &mut self,
        dot: &Operand,
        expr: &'t Expr,
        path: &'t [String],
        args: &'t [Expr],
        last: Option<Operand>,
    ) -> Result<Operand> {
        self.at = Some(TemplateSite::Expr(expr));
        let Some((name, fields)) = path.split_first() else { return Ok(Operand::invalid()) };
        let found = self.variables.iter().rev().find(|(known, _)| known == name);
        let Some((_, value)) = found.cloned() else {
            return self.fail(format!("undefined variable: {name}"));
        };
        if fields.is_empty() {
            self.refuse_arguments(expr, args, last.as_ref())?;
            return Ok(value);
        }
        self.eval_path(dot, value, fields, expr, args, last)
    }

    /// `.a.b.c`, where only the last may take arguments.
    pub(crate) fn eval_path(
        &mut self,
        dot: &Operand,
        mut receiver: Operand,
        path: &'t [String],
        expr: &'t Expr,
        args: &'t [Expr],
        last: Option<Operand>,
    ) -> Result<Operand> {
        let Some((name, before)) = path.split_last() else { return Ok(receiver) };
        for name in before {
            receiver = self.eval_field(dot, &receiver, name, expr, &[], None)?;
        }
        self.eval_field(dot, &receiver, name, expr, args, last)
    }

    fn eval_field(
        &mut self,
        dot: &Operand,
        receiver: &Operand,
        name: &'t str,
        expr: &'t Expr,
        args: &'t [Expr],
        last: Option<Operand>,
    ) -> Result<Operand> {
        let has_arguments = !args.is_empty() || last.is_some();
        match &receiver.val {
            Val::Invalid => Ok(Operand::invalid()),
            Val::Nil => self.fail(format!("nil pointer evaluating interface {{}}.{name}")),
            Val::Root | Val::Dict(_) if has_arguments => {
                self.fail(format!("{name} is not a method but has arguments"))
            }
            Val::Root => self.data_field(name),
            Val::Dict(dict) => {
                Ok(dict.get(name).map_or_else(Operand::invalid, |val| Operand::element(val, dict.elem)))
            }
            value => match methods::find(value, name) {
                Some(method) => {
                    self.eval_call(dot, method, Some(value.clone()), TemplateSite::Expr(expr), args, last)
                }
                None => self.fail(format!("can't evaluate field {name} in type {}", receiver.type_name())),
            },
        }
    }
}
