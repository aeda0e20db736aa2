//! The values of pipelines, commands, fields and variables.

use super::functions::{Function, Type, methods};
use super::literal::Number;
use super::node::{At, Command, Expr, Pipe};
use super::render::{Rendered, Renderer, Seen};
use super::val::{Elem, Val};

impl<'t> Renderer<'t> {
    pub(crate) fn eval_pipeline(&mut self, dot: &Seen, pipe: &'t Pipe) -> Rendered<Seen> {
        self.enter()?;
        self.at = Some(At::Pipe(pipe));
        let mut value: Option<Seen> = None;
        for command in &pipe.commands {
            value = Some(self.eval_command(dot, command, value)?.unboxed());
        }
        let value = value.unwrap_or_else(Seen::invalid);
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

    /// `last` is what the command before it in the pipeline gave: one argument more.
    fn eval_command(&mut self, dot: &Seen, command: &'t Command, last: Option<Seen>) -> Rendered<Seen> {
        let Some((first, args)) = command.args.split_first() else { return Ok(Seen::invalid()) };
        match first {
            Expr::Field { path, .. } => {
                self.at = Some(At::Expr(first));
                return self.eval_path(dot, dot.clone(), path, first, args, last);
            }
            Expr::Chain { of, path, .. } => return self.eval_chain(dot, first, of, path, args, last),
            Expr::Function { function, .. } => {
                self.at = Some(At::Expr(first));
                return self.eval_call(dot, function, None, At::Command(command), args, last);
            }
            Expr::Pipe(pipe) => {
                self.refuse_arguments(first, args, last.as_ref())?;
                return self.eval_pipeline(dot, pipe);
            }
            Expr::Variable { path, .. } => return self.eval_variable(dot, first, path, args, last),
            _ => {}
        }
        self.at = Some(At::Expr(first));
        self.refuse_arguments(first, args, last.as_ref())?;
        match first {
            Expr::Nil { .. } => self.fail("nil is not a command"),
            other => self.eval_literal(dot, other),
        }
    }

    fn refuse_arguments(&self, first: &Expr, args: &[Expr], last: Option<&Seen>) -> Rendered<()> {
        if args.is_empty() && last.is_none() {
            return Ok(());
        }
        let shown = match first {
            Expr::Pipe(pipe) => format!("{pipe}"),
            other => other.to_string(),
        };
        self.fail(format!("can't give argument to non-function {shown}"))
    }

    /// A word that stands for itself, where nothing says which type is wanted.
    pub(crate) fn eval_literal(&mut self, dot: &Seen, expr: &'t Expr) -> Rendered<Seen> {
        Ok(match expr {
            Expr::Bool { value, .. } => Seen::plain(Val::Bool(*value)),
            Expr::Dot { .. } => dot.clone(),
            Expr::Number { number, .. } => {
                self.at = Some(At::Expr(expr));
                Seen::plain(self.constant(number)?)
            }
            Expr::Str { text, .. } => Seen::plain(Val::Str(text.clone())),
            other => return self.fail(format!("can't evaluate command \"{other}\"")),
        })
    }

    fn constant(&self, number: &Number) -> Rendered<Val> {
        match (number.int, number.float) {
            (_, Some(float)) if number.looks_like_float() => Ok(Val::Float(float)),
            (Some(int), _) => Ok(Val::Int(int)),
            _ => self.fail(format!("{} overflows int", number.text)),
        }
    }

    pub(crate) fn eval_chain(
        &mut self,
        dot: &Seen,
        chain: &'t Expr,
        of: &'t Expr,
        path: &'t [String],
        args: &'t [Expr],
        last: Option<Seen>,
    ) -> Rendered<Seen> {
        self.at = Some(At::Expr(chain));
        let receiver = match of {
            Expr::Pipe(pipe) => {
                self.at = Some(At::Expr(of));
                self.eval_pipeline(dot, pipe)?
            }
            Expr::Function { function, .. } => {
                self.at = Some(At::Expr(of));
                self.eval_call(dot, function, None, At::Expr(of), &[], None)?
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
        dot: &Seen,
        expr: &'t Expr,
        path: &'t [String],
        args: &'t [Expr],
        last: Option<Seen>,
    ) -> Rendered<Seen> {
        self.at = Some(At::Expr(expr));
        let Some((name, fields)) = path.split_first() else { return Ok(Seen::invalid()) };
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
        dot: &Seen,
        mut receiver: Seen,
        path: &'t [String],
        expr: &'t Expr,
        args: &'t [Expr],
        last: Option<Seen>,
    ) -> Rendered<Seen> {
        let Some((name, before)) = path.split_last() else { return Ok(receiver) };
        for name in before {
            receiver = self.eval_field(dot, &receiver, name, expr, &[], None)?;
        }
        self.eval_field(dot, &receiver, name, expr, args, last)
    }

    fn eval_field(
        &mut self,
        dot: &Seen,
        receiver: &Seen,
        name: &'t str,
        expr: &'t Expr,
        args: &'t [Expr],
        last: Option<Seen>,
    ) -> Rendered<Seen> {
        let has_arguments = !args.is_empty() || last.is_some();
        match &receiver.val {
            Val::Invalid => Ok(Seen::invalid()),
            Val::Nil => self.fail(format!("nil pointer evaluating interface {{}}.{name}")),
            Val::Root | Val::Dict(_) if has_arguments => {
                self.fail(format!("{name} is not a method but has arguments"))
            }
            Val::Root => self.data_field(name),
            Val::Dict(dict) => {
                Ok(dict.get(name).map_or_else(Seen::invalid, |val| Seen::element(val, dict.elem)))
            }
            value => match methods::find(value, name) {
                Some(method) => self.eval_call(dot, method, Some(value.clone()), At::Expr(expr), args, last),
                None => self.fail(format!("can't evaluate field {name} in type {}", receiver.type_name())),
            },
        }
    }

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
                let mut call =
                    super::functions::Call { host: self.host, callee, nested_sets: &mut self.nested_sets };
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
