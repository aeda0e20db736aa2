//! Go's own functions. `slice` is sprig's; `and` and `or` short-circuit and are evaluated by the renderer.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::super::print;
use super::super::val::{Result, Val};
use super::ParamType::{Any, Reflect, Str};
use super::{Function, FunctionContext, arg, fixed, rest, text, variadic};
use crate::go::escape::is_printable;

pub(super) const FUNCTIONS: &[Function] = &[
    variadic("and", &[Reflect], Reflect, |_, args| Ok(arg(args, 0).clone())),
    variadic("or", &[Reflect], Reflect, |_, args| Ok(arg(args, 0).clone())),
    fixed("not", &[Reflect], |_, args| Ok(Val::Bool(!arg(args, 0).truth()))),
    variadic("eq", &[Reflect], Reflect, eq),
    fixed("ne", &[Reflect, Reflect], |_, args| Ok(Val::Bool(!equal_any(arg(args, 0), rest(args, 1))?))),
    fixed("lt", &[Reflect, Reflect], |_, args| compare(args, |order| order == Ordering::Less)),
    fixed("le", &[Reflect, Reflect], |_, args| compare(args, |order| order != Ordering::Greater)),
    fixed("gt", &[Reflect, Reflect], |_, args| compare(args, |order| order == Ordering::Greater)),
    fixed("ge", &[Reflect, Reflect], |_, args| compare(args, |order| order != Ordering::Less)),
    fixed("len", &[Reflect], len),
    variadic("index", &[Reflect], Reflect, index),
    variadic("call", &[Reflect], Reflect, call),
    variadic("print", &[], Any, |_, args| print::print(args).map(Val::text)),
    variadic("println", &[], Any, |_, args| print::println(args).map(Val::text)),
    variadic("printf", &[Str], Any, |_, args| print::printf(text(args, 0), rest(args, 1)).map(Val::text)),
    variadic("html", &[], Any, |_, args| Ok(Val::text(html(&join_args(args)?)))),
    variadic("js", &[], Any, |_, args| Ok(Val::text(js(&join_args(args)?)))),
    variadic("urlquery", &[], Any, |_, args| {
        Ok(Val::text(super::urls::escape(&join_args(args)?, super::urls::UrlPart::Query)))
    }),
];

fn join_args(args: &[Val]) -> Result<String> {
    if let [Val::Str(text)] = args {
        return Ok(text.to_string());
    }
    // A missing value is printed as "no value" before escaping.
    let shown = |value: &Val| if matches!(value, Val::Nil) { Val::Invalid } else { value.clone() };
    print::print(&args.iter().map(shown).collect::<Vec<_>>())
}

fn len(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let count = match arg(args, 0) {
        Val::Str(text) => text.len(),
        Val::List(list) => list.items.len(),
        Val::Dict(dict) => dict.len(),
        Val::Invalid => return Err("reflect: call of reflect.Value.Type on zero Value".to_owned()),
        Val::Nil => return Err("len of nil pointer".to_owned()),
        other => return Err(format!("len of type {}", other.type_name())),
    };
    i64::try_from(count).map(Val::Int).map_err(|_| "too long".to_owned())
}

fn index(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let mut item = arg(args, 0).clone();
    if matches!(item, Val::Invalid | Val::Nil) {
        return Err("index of untyped nil".to_owned());
    }
    for key in rest(args, 1) {
        item = match &item {
            Val::Invalid | Val::Nil => return Err("index of nil pointer".to_owned()),
            Val::List(list) => {
                let i = position(key, list.items.len())?;
                list.items.get(i).cloned().unwrap_or(Val::Nil)
            }
            Val::Str(text) => {
                let byte = text.as_bytes().get(position(key, usize::MAX)?);
                Val::Byte(*byte.ok_or("reflect: string index out of range")?)
            }
            Val::Dict(dict) => match key {
                Val::Str(key) => dict.get(key).unwrap_or(Val::Nil),
                Val::Invalid | Val::Nil => return Err("value is nil; should be of type string".to_owned()),
                other => return Err(format!("value has type {}; should be string", other.type_name())),
            },
            other => return Err(format!("can't index item of type {}", other.type_name())),
        };
    }
    Ok(item)
}

fn position(key: &Val, count: usize) -> Result<usize> {
    let wanted = match key {
        Val::Int(n) | Val::Int64(n) => *n,
        Val::Byte(n) => i64::from(*n),
        Val::Invalid | Val::Nil => return Err("cannot index slice/array with nil".to_owned()),
        other => return Err(format!("cannot index slice/array with type {}", other.type_name())),
    };
    usize::try_from(wanted)
        .ok()
        .filter(|wanted| *wanted < count)
        .ok_or_else(|| format!("index out of range: {wanted}"))
}

fn call(call: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    match arg(args, 0) {
        Val::Invalid | Val::Nil => Err("call of nil".to_owned()),
        other => Err(format!("non-function {} of type {}", call.callee, other.type_name())),
    }
}

/// The comparable kinds.
#[derive(PartialEq, Eq)]
enum Basic {
    Bool,
    Int,
    Float,
    Text,
    None,
}

fn basic(value: &Val) -> Basic {
    match value {
        Val::Bool(_) => Basic::Bool,
        Val::Int(_) | Val::Int64(_) | Val::Byte(_) | Val::Named(..) | Val::Duration(_) => Basic::Int,
        Val::Float(_) => Basic::Float,
        Val::Str(_) => Basic::Text,
        Val::Invalid | Val::Nil | Val::Root | Val::List(_) | Val::Dict(_) | Val::Time(_) => Basic::None,
    }
}

fn whole_number(value: &Val) -> i64 {
    match value {
        Val::Int(n) | Val::Int64(n) | Val::Named(_, n, _) | Val::Duration(n) => *n,
        Val::Byte(n) => i64::from(*n),
        _ => 0,
    }
}

fn eq(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    if args.len() < 2 {
        return Err("missing argument for comparison".to_owned());
    }
    equal_any(arg(args, 0), rest(args, 1)).map(Val::Bool)
}

fn equal_any(first: &Val, others: &[Val]) -> Result<bool> {
    for other in others {
        if equal(first, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn equal(a: &Val, b: &Val) -> Result<bool> {
    let nothing = |value: &Val| matches!(value, Val::Invalid | Val::Nil);
    if basic(a) != basic(b) {
        return if nothing(a) || nothing(b) {
            Ok(false)
        } else {
            Err("incompatible types for comparison".to_owned())
        };
    }
    match basic(a) {
        Basic::Int => Ok(whole_number(a) == whole_number(b)),
        Basic::Bool | Basic::Float | Basic::Text => Ok(a == b),
        Basic::None if nothing(a) || nothing(b) => Ok(nothing(a) && nothing(b)),
        Basic::None => match (a, b) {
            (Val::Time(a), Val::Time(b)) => Ok(a == b),
            (_, uncomparable) => {
                let shown = print::printf("%s", std::slice::from_ref(uncomparable))?;
                Err(format!("non-comparable type {shown}: {}", uncomparable.type_name()))
            }
        },
    }
}

fn compare(args: &[Val], wanted: fn(Ordering) -> bool) -> Result<Val> {
    let (a, b) = (arg(args, 0), arg(args, 1));
    if basic(a) == Basic::None || basic(b) == Basic::None {
        return Err("invalid type for comparison".to_owned());
    }
    if basic(a) != basic(b) {
        return Err("incompatible types for comparison".to_owned());
    }
    let order = match (a, b) {
        (Val::Str(a), Val::Str(b)) => a.cmp(b),
        // Comparisons with NaN are false.
        (Val::Float(a), Val::Float(b)) => match a.partial_cmp(b) {
            Some(order) => order,
            None => return Ok(Val::Bool(false)),
        },
        (Val::Bool(_), Val::Bool(_)) => return Err("invalid type for comparison".to_owned()),
        (a, b) => whole_number(a).cmp(&whole_number(b)),
    };
    Ok(Val::Bool(wanted(order)))
}

fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0' => out.push('\u{FFFD}'),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    out
}

fn js(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            '"' => out.push_str("\\\""),
            '<' | '>' | '&' | '=' => _ = write!(out, "\\u{:04X}", u32::from(c)),
            c if is_printable(c) => out.push(c),
            c => _ = write!(out, "\\u{:04X}", u32::from(c)),
        }
    }
    out
}
