//! Function calls, with arguments checked against parameter types as Go does.

use super::{Operand, Result, TemplateRenderer, data};
use crate::go::literal::Number;
use crate::template::functions::{Function, ParamType};
use crate::template::node::{Expr, TemplateSite};
use crate::template::val::{Elem, Val};

impl<'t> TemplateRenderer<'t> {
    /// Evaluates an argument for a parameter type.
    pub(crate) fn eval_arg(&mut self, dot: &Operand, wanted: ParamType, expr: &'t Expr) -> Result<Val> {
        self.at = Some(TemplateSite::Expr(expr));
        let value = match expr {
            Expr::Nil { .. } => return self.nil_for(wanted),
            Expr::Dot { .. } => dot.clone(),
            Expr::Field { path, .. } => self.eval_path(dot, dot.clone(), path, expr, &[], None)?,
            Expr::Variable { path, .. } => self.eval_variable(dot, expr, path, &[], None)?,
            Expr::Pipe(pipe) => self.eval_pipeline(dot, pipe)?,
            Expr::Function { function, .. } => {
                self.eval_call(dot, function, None, TemplateSite::Expr(expr), &[], None)?
            }
            Expr::Chain { of, path, .. } => self.eval_chain(dot, expr, of, path, &[], None)?,
            Expr::Bool { .. } | Expr::Number { .. } | Expr::Str { .. } => {
                return self.typed_literal(dot, wanted, expr);
            }
        };
        self.check_type(value, wanted)
    }

    fn nil_for(&self, wanted: ParamType) -> Result<Val> {
        match wanted {
            ParamType::Any => Ok(Val::Nil),
            ParamType::Reflect => Ok(Val::Invalid),
            ParamType::Dict => self.empty_dict(),
            ParamType::Str | ParamType::Int | ParamType::Float | ParamType::Bool | ParamType::Time => {
                self.fail(format!("cannot assign nil to {}", wanted.name()))
            }
        }
    }

    fn empty_dict(&self) -> Result<Val> {
        Val::dict(indexmap::IndexMap::new()).map_err(|message| self.error(message))
    }

    fn typed_literal(&mut self, dot: &Operand, wanted: ParamType, expr: &'t Expr) -> Result<Val> {
        match (wanted, expr) {
            (ParamType::Any | ParamType::Reflect, _) => Ok(self.eval_literal(dot, expr)?.val),
            (ParamType::Bool, Expr::Bool { value, .. }) => Ok(Val::Bool(*value)),
            (ParamType::Str, Expr::Str { text, .. }) => Ok(Val::Str(text.clone())),
            (ParamType::Int, Expr::Number { number: Number { int: Some(int), .. }, .. }) => {
                Ok(Val::Int(*int))
            }
            (ParamType::Float, Expr::Number { number: Number { float: Some(float), .. }, .. }) => {
                Ok(Val::Float(*float))
            }
            (ParamType::Bool, _) => self.fail(format!("expected bool; found {expr}")),
            (ParamType::Str, _) => self.fail(format!("expected string; found {expr}")),
            (ParamType::Int, _) => self.fail(format!("expected integer; found {expr}")),
            (ParamType::Float, _) => self.fail(format!("expected float; found {expr}")),
            (ParamType::Dict | ParamType::Time, _) => {
                self.fail(format!("can't handle {expr} for arg of type {}", wanted.name()))
            }
        }
    }

    /// Go's rule for passing a value: the same type, or any type for `interface {}`.
    pub(crate) fn check_type(&mut self, value: Operand, wanted: ParamType) -> Result<Val> {
        let type_name = value.type_name();
        let value = self.materialize(value.val)?;
        match (wanted, &value) {
            (ParamType::Reflect, _) => Ok(value),
            (ParamType::Any, Val::Invalid) => Ok(Val::Nil),
            (ParamType::Any, _) => Ok(value),
            (ParamType::Dict, Val::Invalid) => self.empty_dict(),
            (_, Val::Invalid) => self.fail(format!("invalid value; expected {}", wanted.name())),
            (ParamType::Str, Val::Str(_))
            | (ParamType::Int, Val::Int(_))
            | (ParamType::Float, Val::Float(_))
            | (ParamType::Bool, Val::Bool(_))
            | (ParamType::Time, Val::Time(_)) => Ok(value),
            (ParamType::Dict, Val::Dict(dict)) if dict.elem == Elem::Any => Ok(value),
            (_, Val::Nil) => {
                self.fail(format!("wrong type for value; expected {}; got {type_name}", wanted.name()))
            }
            _ => {
                let got = value.type_name();
                self.fail(format!("wrong type for value; expected {}; got {got}", wanted.name()))
            }
        }
    }

    /// Calls a function or, with a receiver, a method. `whole` is the site that errors of the function name.
    pub(crate) fn eval_call(
        &mut self,
        dot: &Operand,
        function: &'static Function,
        receiver: Option<Val>,
        whole: TemplateSite<'t>,
        args: &'t [Expr],
        last: Option<Operand>,
    ) -> Result<Operand> {
        self.enter()?;
        self.check_count(function, args.len(), last.is_some())?;
        let value = match function.name {
            "and" => self.short_circuit(dot, args, last, false)?,
            "or" => self.short_circuit(dot, args, last, true)?,
            _ => {
                let callee = callee(function, args, last.as_ref());
                let values = self.arguments(dot, function, receiver, args, last)?;
                let mut call = crate::template::functions::FunctionContext {
                    host: self.host,
                    callee,
                    nested_sets: &mut self.nested_sets,
                };
                let revealed = data::reveal_args(function, &values);
                let result = match (function.run)(&mut call, revealed.as_deref().unwrap_or(&values)) {
                    Ok(value) if revealed.is_some() => data::conceal_result(function, &values, &value),
                    other => other,
                };
                match result {
                    Ok(value) => value,
                    Err(message) => {
                        self.at = Some(whole);
                        return self.fail(format!("error calling {}: {message}", function.name));
                    }
                }
            }
        };
        if let Err(limit) = self.charge(&value) {
            self.at = Some(whole);
            return Err(limit);
        }
        self.leave();
        Ok(Operand::plain(value))
    }

    fn check_count(&self, function: &Function, args: usize, piped: bool) -> Result<()> {
        let given = args + usize::from(piped);
        let wanted = function.params.len();
        if function.rest.is_some() {
            if given < wanted {
                return self.fail(format!(
                    "wrong number of args for {}: want at least {wanted} got {args}",
                    function.name
                ));
            }
        } else if given != wanted {
            return self
                .fail(format!("wrong number of args for {}: want {wanted} got {given}", function.name));
        }
        Ok(())
    }

    fn arguments(
        &mut self,
        dot: &Operand,
        function: &'static Function,
        receiver: Option<Val>,
        args: &'t [Expr],
        last: Option<Operand>,
    ) -> Result<Vec<Val>> {
        let wanted = |i: usize| function.params.get(i).copied().or(function.rest).unwrap_or(ParamType::Any);
        let mut values: Vec<Val> = receiver.into_iter().collect();
        for (i, arg) in args.iter().enumerate() {
            values.push(self.eval_arg(dot, wanted(i), arg)?);
        }
        if let Some(last) = last {
            values.push(self.check_type(last, wanted(args.len()))?);
        }
        Ok(values)
    }

    /// `and` and `or` stop at the first argument that decides.
    fn short_circuit(
        &mut self,
        dot: &Operand,
        args: &'t [Expr],
        last: Option<Operand>,
        stop_at: bool,
    ) -> Result<Val> {
        let mut value = Val::Invalid;
        for arg in args {
            value = self.eval_arg(dot, ParamType::Reflect, arg)?;
            if value.truth() == stop_at {
                return Ok(value);
            }
        }
        match last {
            Some(last) => self.check_type(last, ParamType::Reflect),
            None => Ok(value),
        }
    }
}

/// What `call` would call, as written in the template.
fn callee(function: &Function, args: &[Expr], last: Option<&Operand>) -> String {
    if function.name != "call" {
        return String::new();
    }
    match (args.first(), last) {
        (Some(first), _) => first.to_string(),
        (None, Some(Operand { val: Val::Str(text), .. })) => text.to_string(),
        (None, Some(last)) => format!("<{} Value>", last.val.type_name()),
        (None, None) => String::new(),
    }
}
