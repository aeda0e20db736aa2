//! sprig's functions for types and kinds.

use super::super::val::Val;
use super::ParamType::{Any, Str};
use super::{Function, arg, fixed, text};

pub(super) const FUNCTIONS: &[Function] = &[
    fixed("typeOf", &[Any], |_, args| Ok(Val::text(arg(args, 0).type_name()))),
    fixed("typeIs", &[Str, Any], |_, args| Ok(Val::Bool(arg(args, 1).type_name() == text(args, 0)))),
    fixed("typeIsLike", &[Str, Any], |_, args| {
        let name = arg(args, 1).type_name();
        Ok(Val::Bool(name == text(args, 0) || name.strip_prefix('*') == Some(text(args, 0))))
    }),
    fixed("kindOf", &[Any], |_, args| Ok(Val::text(arg(args, 0).kind_name()))),
    fixed("kindIs", &[Str, Any], |_, args| Ok(Val::Bool(arg(args, 1).kind_name() == text(args, 0)))),
    fixed("deepEqual", &[Any, Any], |_, args| Ok(Val::Bool(arg(args, 0) == arg(args, 1)))),
];
