//! sprig's functions for defaults and emptiness.

use super::super::val::{Result, Val};
use super::ParamType::{Any, Bool};
use super::{Function, FunctionContext, arg, fixed, rest, variadic};

pub(super) const FUNCTIONS: &[Function] = &[
    variadic("default", &[Any], Any, |_, args| {
        Ok(rest(args, 1).first().filter(|given| given.truth()).unwrap_or(arg(args, 0)).clone())
    }),
    fixed("empty", &[Any], |_, args| Ok(Val::Bool(!arg(args, 0).truth()))),
    variadic("coalesce", &[], Any, |_, args| {
        Ok(args.iter().find(|value| value.truth()).cloned().unwrap_or(Val::Nil))
    }),
    variadic("all", &[], Any, |_, args| Ok(Val::Bool(args.iter().all(Val::truth)))),
    variadic("any", &[], Any, |_, args| Ok(Val::Bool(args.iter().any(Val::truth)))),
    fixed("ternary", &[Any, Any, Bool], ternary),
];

fn ternary(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    Ok(arg(args, usize::from(!arg(args, 2).truth())).clone())
}
