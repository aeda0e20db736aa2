//! Functions on data: text from the caller's arguments stays marked, whatever a function makes of it.

use crate::shell::{DataKind, conceal, has_data, reveal};
use crate::template::functions::Function;
use crate::template::val::{Result, Val};

/// Functions that hand on values without looking into texts.
#[rustfmt::skip]
const TRANSPARENT: &[&str] = &[
    "append", "mustAppend", "chunk", "mustChunk", "coalesce", "compact", "mustCompact", "concat", "default", "dict", "dig",
    "empty", "first", "mustFirst", "get", "index", "initial", "mustInitial", "last", "mustLast", "list", "merge", "mustMerge",
    "not", "omit", "pick", "pluck", "prepend", "mustPrepend", "push", "mustPush", "rest", "mustRest", "reverse",
    "mustReverse", "set", "ternary", "tuple", "unset", "values",
];

/// Functions whose result is quoted for a shell.
const QUOTING: &[&str] = &["shellQuote", "q", "quote", "squote"];

/// The arguments of a function without marks, if any has some.
pub(super) fn reveal_args(function: &Function, args: &[Val]) -> Option<Vec<Val>> {
    if TRANSPARENT.contains(&function.name) || !args.iter().any(holds_data) {
        return None;
    }
    args.iter().map(|arg| map_texts(arg, &|text| reveal(text).into_owned()).ok()).collect()
}

/// Marks the result of a function that was given data. A text that it handed on is marked as it was.
pub(super) fn conceal_result(function: &Function, args: &[Val], result: &Val) -> Result<Val> {
    let kind = match function.name {
        name if QUOTING.contains(&name) => DataKind::Quoted,
        "splitArgs" => DataKind::Word,
        _ => DataKind::Computed,
    };
    map_texts(result, &|text| {
        args.iter().find_map(|arg| find_same(arg, text)).unwrap_or_else(|| conceal(text, kind))
    })
}

/// The marked form of a text that an argument holds.
fn find_same(value: &Val, text: &str) -> Option<String> {
    match value {
        Val::Str(known) => (*reveal(known) == *text).then(|| known.to_string()),
        Val::List(list) => list.items.iter().find_map(|item| find_same(item, text)),
        Val::Dict(dict) => dict.entries.borrow().values().find_map(|item| find_same(item, text)),
        _ => None,
    }
}

fn holds_data(value: &Val) -> bool {
    match value {
        Val::Str(text) => has_data(text),
        Val::List(list) => list.items.iter().any(holds_data),
        Val::Dict(dict) => {
            dict.entries.borrow().iter().any(|(key, value)| has_data(key) || holds_data(value))
        }
        _ => false,
    }
}

/// The value with every text in it changed.
fn map_texts(value: &Val, change: &dyn Fn(&str) -> String) -> Result<Val> {
    match value {
        Val::Str(text) => Ok(Val::text(change(text))),
        Val::List(list) => {
            let items = list.items.iter().map(|item| map_texts(item, change)).collect::<Result<_>>()?;
            Val::list_of(list.elem, items)
        }
        Val::Dict(dict) => {
            let entries = dict.entries.borrow();
            let entries = entries.iter().map(|(key, value)| Ok((change(key), map_texts(value, change)?)));
            Val::dict_of(dict.elem, entries.collect::<Result<_>>()?)
        }
        other => Ok(other.clone()),
    }
}
