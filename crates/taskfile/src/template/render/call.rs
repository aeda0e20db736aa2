//! Function calls: arguments of the types the parameters want, as Go checks them.

use super::{Rendered, Renderer, Seen};
use crate::go::literal::Number;
use crate::template::functions::{Function, Type};
use crate::template::node::{At, Expr};
use crate::template::val::{Elem, Val};

impl<'t> Renderer<'t> {
    /// An argument of a function, of the type its parameter wants.
    pub(crate) fn eval_arg(&mut self, dot: &Seen, wanted: Type, expr: &'t Expr) -> Rendered<Val> {
        self.at = Some(At::Expr(expr));
        let value = match expr {
            Expr::Nil { .. } => return self.nil_for(wanted),
            Expr::Dot { .. } => dot.clone(),
            Expr::Field { path, .. } => self.eval_path(dot, dot.clone(), path, expr, &[], None)?,
            Expr::Variable { path, .. } => self.eval_variable(dot, expr, path, &[], None)?,
            Expr::Pipe(pipe) => self.eval_pipeline(dot, pipe)?,
            Expr::Function { function, .. } => {
                self.eval_call(dot, function, None, At::Expr(expr), &[], None)?
            }
            Expr::Chain { of, path, .. } => self.eval_chain(dot, expr, of, path, &[], None)?,
            Expr::Bool { .. } | Expr::Number { .. } | Expr::Str { .. } => {
                return self.typed_literal(dot, wanted, expr);
            }
        };
        self.validate(value, wanted)
    }

    fn nil_for(&self, wanted: Type) -> Rendered<Val> {
        match wanted {
            Type::Any => Ok(Val::Nil),
            Type::Reflect => Ok(Val::Invalid),
            Type::Dict => self.empty_dict(),
            Type::Str | Type::Int | Type::Float | Type::Bool | Type::Time => {
                self.fail(format!("cannot assign nil to {}", wanted.name()))
            }
        }
    }

    fn empty_dict(&self) -> Rendered<Val> {
        Val::dict(indexmap::IndexMap::new()).map_err(|complaint| self.error(complaint))
    }

    fn typed_literal(&mut self, dot: &Seen, wanted: Type, expr: &'t Expr) -> Rendered<Val> {
        match (wanted, expr) {
            (Type::Any | Type::Reflect, _) => Ok(self.eval_literal(dot, expr)?.val),
            (Type::Bool, Expr::Bool { value, .. }) => Ok(Val::Bool(*value)),
            (Type::Str, Expr::Str { text, .. }) => Ok(Val::Str(text.clone())),
            (Type::Int, Expr::Number { number: Number { int: Some(int), .. }, .. }) => Ok(Val::Int(*int)),
            (Type::Float, Expr::Number { number: Number { float: Some(float), .. }, .. }) => {
                Ok(Val::Float(*float))
            }
            (Type::Bool, _) => self.fail(format!("expected bool; found {expr}")),
            (Type::Str, _) => self.fail(format!("expected string; found {expr}")),
            (Type::Int, _) => self.fail(format!("expected integer; found {expr}")),
            (Type::Float, _) => self.fail(format!("expected float; found {expr}")),
            (Type::Dict | Type::Time, _) => {
                self.fail(format!("can't handle {expr} for arg of type {}", wanted.name()))
            }
        }
    }

    /// Go's rule for passing a value: the same type, or any type where any is wanted.
    pub(crate) fn validate(&mut self, value: Seen, wanted: Type) -> Rendered<Val> {
        let type_name = value.type_name();
        let value = self.whole_value(value.val)?;
        match (wanted, &value) {
            (Type::Reflect, _) => Ok(value),
            (Type::Any, Val::Invalid) => Ok(Val::Nil),
            (Type::Any, _) => Ok(value),
            (Type::Dict, Val::Invalid) => self.empty_dict(),
            (_, Val::Invalid) => self.fail(format!("invalid value; expected {}", wanted.name())),
            (Type::Str, Val::Str(_))
            | (Type::Int, Val::Int(_))
            | (Type::Float, Val::Float(_))
            | (Type::Bool, Val::Bool(_))
            | (Type::Time, Val::Time(_)) => Ok(value),
            (Type::Dict, Val::Dict(dict)) if dict.elem == Elem::Any => Ok(value),
            (_, Val::Nil) => {
                self.fail(format!("wrong type for value; expected {}; got {type_name}", wanted.name()))
            }
            _ => {
                let got = value.type_name();
                self.fail(format!("wrong type for value; expected {}; got {got}", wanted.name()))
            }
        }
    }

    /// Calls a function or, with a receiver, a method. `whole` is what a complaint of the function is about.
    pub(crate) fn eval_call(
        &mut self,
        dot: &Seen,
        function: &'static Function,
        receiver: Option<Val>,
        whole: At<'t>,
        args: &'t [Expr],
        last: Option<Seen>,
    ) -> Rendered<Seen> {
        self.enter()?;
        self.check_count(function, args.len(), last.is_some())?;
        let value = match function.name {
            "and" => self.short_circuit(dot, args, last, false)?,
            "or" => self.short_circuit(dot, args, last, true)?,
            _ => {
                let callee = callee(function, args, last.as_ref());
                let values = self.arguments(dot, function, receiver, args, last)?;
                let mut call = crate::template::functions::Call {
                    host: self.host,
                    callee,
                    nested_sets: &mut self.nested_sets,
                };
                match (function.run)(&mut call, &values) {
                    Ok(value) => value,
                    Err(complaint) => {
                        self.at = Some(whole);
                        return self.fail(format!("error calling {}: {complaint}", function.name));
                    }
                }
            }
        };
        if let Err(limit) = self.charge(&value) {
            self.at = Some(whole);
            return Err(limit);
        }
        self.leave();
        Ok(Seen::plain(value))
    }

    fn check_count(&self, function: &Function, args: usize, piped: bool) -> Rendered<()> {
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
        dot: &Seen,
        function: &'static Function,
        receiver: Option<Val>,
        args: &'t [Expr],
        last: Option<Seen>,
    ) -> Rendered<Vec<Val>> {
        let wanted = |i: usize| function.params.get(i).copied().or(function.rest).unwrap_or(Type::Any);
        let mut values: Vec<Val> = receiver.into_iter().collect();
        for (i, arg) in args.iter().enumerate() {
            values.push(self.eval_arg(dot, wanted(i), arg)?);
        }
        if let Some(last) = last {
            values.push(self.validate(last, wanted(args.len()))?);
        }
        Ok(values)
    }

    /// `and` and `or` look only as far as they must.
    fn short_circuit(
        &mut self,
        dot: &Seen,
        args: &'t [Expr],
        last: Option<Seen>,
        stop_at: bool,
    ) -> Rendered<Val> {
        let mut value = Val::Invalid;
        for arg in args {
            value = self.eval_arg(dot, Type::Reflect, arg)?;
            if value.truth() == stop_at {
                return Ok(value);
            }
        }
        match last {
            Some(last) => self.validate(last, Type::Reflect),
            None => Ok(value),
        }
    }
}

/// What `call` would call, in the template's words.
fn callee(function: &Function, args: &[Expr], last: Option<&Seen>) -> String {
    if function.name != "call" {
        return String::new();
    }
    match (args.first(), last) {
        (Some(first), _) => first.to_string(),
        (None, Some(Seen { val: Val::Str(text), .. })) => text.to_string(),
        (None, Some(last)) => format!("<{} Value>", last.val.type_name()),
        (None, None) => String::new(),
    }
}
