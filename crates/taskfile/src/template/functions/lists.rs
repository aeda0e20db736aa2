//! sprig's functions for lists. The `must` variants give the same errors, because Go's templates turn the panics of the
//! others into errors.

use std::rc::Rc;

use super::super::val::{Elem, Result, Val, ValList};
use super::ParamType::{Any, Int, Str};
use super::math::to_int;
use super::{Function, FunctionContext, arg, check_text, fixed, int, rest, strval, text, variadic};

pub(super) const FUNCTIONS: &[Function] = &[
    variadic("list", &[], Any, |_, args| Val::list(args.to_vec())),
    variadic("tuple", &[], Any, |_, args| Val::list(args.to_vec())),
    fixed("join", &[Str, Any], join),
    fixed("toStrings", &[Any], |_, args| Val::strings(strings(arg(args, 0))?)),
    fixed("sortAlpha", &[Any], |_, args| {
        let mut sorted = strings(arg(args, 0))?;
        sorted.sort();
        Val::strings(sorted)
    }),
    fixed("append", &[Any, Any], push),
    fixed("push", &[Any, Any], push),
    fixed("mustAppend", &[Any, Any], push),
    fixed("mustPush", &[Any, Any], push),
    fixed("prepend", &[Any, Any], prepend),
    fixed("mustPrepend", &[Any, Any], prepend),
    fixed("first", &[Any], first),
    fixed("mustFirst", &[Any], first),
    fixed("rest", &[Any], without_first),
    fixed("mustRest", &[Any], without_first),
    fixed("last", &[Any], last),
    fixed("mustLast", &[Any], last),
    fixed("initial", &[Any], initial),
    fixed("mustInitial", &[Any], initial),
    fixed("reverse", &[Any], reverse),
    fixed("mustReverse", &[Any], reverse),
    fixed("compact", &[Any], compact),
    fixed("mustCompact", &[Any], compact),
    fixed("uniq", &[Any], uniq),
    fixed("mustUniq", &[Any], uniq),
    variadic("without", &[Any], Any, without),
    variadic("mustWithout", &[Any], Any, without),
    fixed("has", &[Any, Any], has),
    fixed("mustHas", &[Any, Any], has),
    variadic("slice", &[Any], Any, slice),
    variadic("mustSlice", &[Any], Any, slice),
    variadic("concat", &[], Any, concat),
    fixed("chunk", &[Int, Any], chunk),
    fixed("mustChunk", &[Int, Any], chunk),
];

fn items<'v>(value: &'v Val, message: &str) -> Result<&'v Rc<ValList>> {
    match value {
        Val::List(list) => Ok(list),
        Val::Invalid | Val::Nil => {
            Err("runtime error: invalid memory address or nil pointer dereference".to_owned())
        }
        other => Err(format!("{message} {}", other.kind_name())),
    }
}

/// sprig's `strslice`: the non-nil items of a list as strings; anything else as a list of one.
pub(super) fn strings(value: &Val) -> Result<Vec<String>> {
    match value {
        Val::List(list) => {
            list.items.iter().filter(|item| !matches!(item, Val::Nil | Val::Invalid)).map(strval).collect()
        }
        Val::Invalid | Val::Nil => Ok(Vec::new()),
        other => Ok(vec![strval(other)?]),
    }
}

fn join(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let separator = text(args, 0);
    let parts = strings(arg(args, 1))?;
    let length: usize = parts.iter().map(String::len).sum();
    check_text(length as u128 + parts.len() as u128 * separator.len() as u128)?;
    Ok(Val::text(parts.join(separator)))
}

fn push(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let mut longer = items(arg(args, 0), "Cannot push on type")?.items.clone();
    longer.push(arg(args, 1).clone());
    Val::list(longer)
}

fn prepend(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let list = items(arg(args, 0), "Cannot prepend on type")?;
    Val::list(std::iter::once(arg(args, 1)).chain(&list.items).cloned().collect())
}

fn first(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    Ok(items(arg(args, 0), "Cannot find first on type")?.items.first().cloned().unwrap_or(Val::Nil))
}

fn last(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    Ok(items(arg(args, 0), "Cannot find last on type")?.items.last().cloned().unwrap_or(Val::Nil))
}

fn without_first(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    Val::list(items(arg(args, 0), "Cannot find rest on type")?.items.iter().skip(1).cloned().collect())
}

fn initial(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let list = items(arg(args, 0), "Cannot find initial on type")?;
    Val::list(list.items.iter().take(list.items.len().saturating_sub(1)).cloned().collect())
}

fn reverse(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    Val::list(items(arg(args, 0), "Cannot find reverse on type")?.items.iter().rev().cloned().collect())
}

fn compact(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let list = items(arg(args, 0), "Cannot compact on type")?;
    Val::list(list.items.iter().filter(|item| item.truth()).cloned().collect())
}

/// Bounds the number of `DeepEqual` comparisons, which is quadratic.
fn check_comparisons(one: usize, other: usize) -> Result<()> {
    const COMPARISONS_MAX: usize = 10_000_000;
    if one.saturating_mul(other) > COMPARISONS_MAX {
        return Err(format!("more than {COMPARISONS_MAX} comparisons"));
    }
    Ok(())
}

fn uniq(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let list = items(arg(args, 0), "Cannot find uniq on type")?;
    let mut kept: Vec<Val> = Vec::new();
    for item in &list.items {
        check_comparisons(kept.len(), list.items.len())?;
        if !kept.contains(item) {
            kept.push(item.clone());
        }
    }
    Val::list(kept)
}

fn without(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let list = items(arg(args, 0), "Cannot find without on type")?;
    let omitted = rest(args, 1);
    check_comparisons(list.items.len(), omitted.len())?;
    Val::list(list.items.iter().filter(|item| !omitted.contains(item)).cloned().collect())
}

fn has(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    if matches!(arg(args, 1), Val::Nil | Val::Invalid) {
        return Ok(Val::Bool(false));
    }
    Ok(Val::Bool(items(arg(args, 1), "Cannot find has on type")?.items.contains(arg(args, 0))))
}

fn slice(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let list = items(arg(args, 0), "list should be type of slice or array but")?;
    let count = list.items.len();
    if count == 0 {
        return Ok(Val::Nil);
    }
    let bound = |i: usize, else_body: usize| match rest(args, 1).get(i) {
        Some(value) => usize::try_from(to_int(value)).ok(),
        None => Some(else_body),
    };
    let part = match (bound(0, 0), bound(1, count)) {
        (Some(start), Some(end)) => list.items.get(start..end),
        _ => None,
    };
    match part {
        Some(part) => Val::list_of(list.elem, part.to_vec()),
        None => Err("reflect.Value.Slice: slice index out of bounds".to_owned()),
    }
}

fn concat(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let mut all = Vec::new();
    for list in args {
        let kind = list.kind_name();
        let Val::List(list) = list else { return Err(format!("Cannot concat type {kind} as list")) };
        all.extend(list.items.iter().cloned());
    }
    Val::list(all)
}

fn chunk(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let list = items(arg(args, 1), "Cannot chunk type")?;
    let size = usize::try_from(int(args, 0)).unwrap_or(0);
    if size == 0 {
        return Err("runtime error: makeslice: len out of range".to_owned());
    }
    let chunks = list.items.chunks(size).map(|part| Val::list(part.to_vec())).collect::<Result<_>>()?;
    Val::list_of(Elem::Lists, chunks)
}
