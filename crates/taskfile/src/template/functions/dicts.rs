//! sprig's functions for maps, and go-task's `merge`. Maps are shared: `set` and `unset` modify their argument.

use std::rc::Rc;

use indexmap::IndexMap;

use super::super::limits::NESTED_SETS_MAX;
use super::super::val::{Result, Val, ValDict};
use super::ParamType::{Any, Dict as DictType, Str};
use super::{Function, FunctionContext, arg, fixed, rest, strval, text, variadic};

pub(super) const FUNCTIONS: &[Function] = &[
    variadic("dict", &[], Any, dict),
    fixed("get", &[DictType, Str], |_, args| {
        Ok(entries(arg(args, 0))?.get(text(args, 1)).unwrap_or_else(|| Val::text("")))
    }),
    fixed("set", &[DictType, Str, Any], set),
    fixed("unset", &[DictType, Str], |_, args| {
        entries(arg(args, 0))?.entries.borrow_mut().shift_remove(text(args, 1));
        Ok(arg(args, 0).clone())
    }),
    fixed("hasKey", &[DictType, Str], |_, args| {
        Ok(Val::Bool(entries(arg(args, 0))?.get(text(args, 1)).is_some()))
    }),
    variadic("pluck", &[Str], DictType, pluck),
    variadic("keys", &[], DictType, keys),
    variadic("pick", &[DictType], Str, |_, args| filter_entries(args, true)),
    variadic("omit", &[DictType], Str, |_, args| filter_entries(args, false)),
    fixed("values", &[DictType], |_, args| {
        Val::list(entries(arg(args, 0))?.sorted().into_iter().map(|(_, value)| value).collect())
    }),
    variadic("dig", &[], Any, dig),
    variadic("merge", &[DictType], DictType, merge),
];

fn entries(value: &Val) -> Result<&Rc<ValDict>> {
    match value {
        Val::Dict(dict) => Ok(dict),
        other => Err(format!(
            "interface conversion: interface {{}} is {}, not map[string]interface {{}}",
            other.type_name()
        )),
    }
}

fn dict(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let mut made = IndexMap::new();
    for pair in args.chunks(2) {
        let key = strval(arg(pair, 0))?;
        made.insert(key, pair.get(1).cloned().unwrap_or_else(|| Val::text("")));
    }
    Val::dict(made)
}

fn set(call: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let value = arg(args, 2).clone();
    if value.is_container() {
        *call.nested_sets += 1;
        if *call.nested_sets > NESTED_SETS_MAX {
            return Err(format!("a list or map was set into a map more than {NESTED_SETS_MAX} times"));
        }
    }
    entries(arg(args, 0))?.set(text(args, 1), value)?;
    Ok(arg(args, 0).clone())
}

fn pluck(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let mut found = Vec::new();
    for value in rest(args, 1) {
        found.extend(entries(value)?.get(text(args, 0)));
    }
    Val::list(found)
}

/// Go returns the keys in random order; sorting makes rendering deterministic.
fn keys(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let mut names = Vec::new();
    for value in args {
        names.extend(entries(value)?.sorted().into_iter().map(|(key, _)| key));
    }
    Val::strings(names)
}

fn filter_entries(args: &[Val], keep: bool) -> Result<Val> {
    let named = |key: &str| (1..args.len()).any(|i| text(args, i) == key);
    let dict = entries(arg(args, 0))?;
    let entries = dict.entries.borrow();
    Val::dict(
        entries
            .iter()
            .filter(|(key, _)| named(key) == keep)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    )
}

fn dig(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let [keys @ .., else_body, dict] = args else {
        return Err("dig needs at least three arguments".to_owned());
    };
    if keys.is_empty() {
        return Err("dig needs at least three arguments".to_owned());
    }
    let mut place = dict.clone();
    for key in keys {
        let Val::Str(key) = key else {
            return Err(format!("interface conversion: interface {{}} is {}, not string", key.type_name()));
        };
        match entries(&place)?.get(key) {
            Some(inner) => place = inner,
            None => return Ok(else_body.clone()),
        }
    }
    Ok(place)
}

fn merge(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let mut merged = IndexMap::new();
    for value in args {
        let dict = entries(value)?;
        merged.extend(dict.entries.borrow().iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    Val::dict(merged)
}
