//! sprig's functions for strings, and go-task's for lines.

use super::super::val::{Result, Val};
use super::ParamType::{Any, Int, Str};
use super::{Function, FunctionContext, arg, check_text, fixed, int, strval, text, variadic};
use crate::go::literal;

pub(super) const FUNCTIONS: &[Function] = &[
    fixed("hello", &[], |_, _| Ok(Val::text("Hello!"))),
    fixed("catLines", &[Str], |_, args| Ok(Val::text(text(args, 0).replace("\r\n", " ").replace('\n', " ")))),
    fixed("splitLines", &[Str], |_, args| Val::strings(text(args, 0).replace("\r\n", "\n").split('\n'))),
    fixed("trunc", &[Int, Str], |_, args| Ok(Val::text(trunc(int(args, 0), text(args, 1))))),
    fixed("trim", &[Str], |_, args| Ok(Val::text(text(args, 0).trim()))),
    fixed("upper", &[Str], |_, args| Ok(Val::text(text(args, 0).chars().map(upper).collect::<String>()))),
    fixed("lower", &[Str], |_, args| Ok(Val::text(text(args, 0).chars().map(lower).collect::<String>()))),
    fixed("title", &[Str], |_, args| Ok(Val::text(title(text(args, 0))))),
    fixed("substr", &[Int, Int, Str], substr),
    fixed("repeat", &[Int, Str], repeat),
    fixed("trimall", &[Str, Str], trim_all),
    fixed("trimAll", &[Str, Str], trim_all),
    fixed("trimSuffix", &[Str, Str], |_, args| {
        let (suffix, whole) = (text(args, 0), text(args, 1));
        Ok(Val::text(whole.strip_suffix(suffix).unwrap_or(whole)))
    }),
    fixed("trimPrefix", &[Str, Str], |_, args| {
        let (prefix, whole) = (text(args, 0), text(args, 1));
        Ok(Val::text(whole.strip_prefix(prefix).unwrap_or(whole)))
    }),
    fixed("contains", &[Str, Str], |_, args| Ok(Val::Bool(text(args, 1).contains(text(args, 0))))),
    fixed("hasPrefix", &[Str, Str], |_, args| Ok(Val::Bool(text(args, 1).starts_with(text(args, 0))))),
    fixed("hasSuffix", &[Str, Str], |_, args| Ok(Val::Bool(text(args, 1).ends_with(text(args, 0))))),
    variadic("quote", &[], Any, |_, args| map_present(args, |shown| literal::quote(&shown))),
    variadic("squote", &[], Any, |_, args| map_present(args, |shown| format!("'{shown}'"))),
    variadic("cat", &[], Any, |_, args| map_present(args, |shown| shown)),
    fixed("indent", &[Int, Str], |_, args| Ok(Val::text(indent(int(args, 0), text(args, 1))?))),
    fixed("nindent", &[Int, Str], |_, args| {
        Ok(Val::text(format!("\n{}", indent(int(args, 0), text(args, 1))?)))
    }),
    fixed("replace", &[Str, Str, Str], replace),
    fixed("plural", &[Str, Str, Int], |_, args| Ok(arg(args, usize::from(int(args, 2) != 1)).clone())),
    fixed("toString", &[Any], |_, args| strval(arg(args, 0)).map(Val::text)),
    fixed("split", &[Str, Str], |_, args| numbered_dict(split(text(args, 1), text(args, 0)))),
    fixed("splitList", &[Str, Str], |_, args| Val::strings(split(text(args, 1), text(args, 0)))),
    fixed("splitn", &[Str, Int, Str], splitn),
    fixed("fail", &[Str], |_, args| Err(text(args, 0).to_owned())),
];

fn trunc(count: i64, whole: &str) -> String {
    let length = i64::try_from(whole.len()).unwrap_or(i64::MAX);
    if count < 0 && length + count > 0 {
        bytes(whole, length + count, length)
    } else if count >= 0 && length > count {
        bytes(whole, 0, count)
    } else {
        whole.to_owned()
    }
}

/// Go slices strings by bytes; a split character becomes U+FFFD.
fn bytes(whole: &str, from: i64, to: i64) -> String {
    let from = usize::try_from(from).unwrap_or(0);
    let to = usize::try_from(to).unwrap_or(0);
    String::from_utf8_lossy(whole.as_bytes().get(from..to).unwrap_or(&[])).into_owned()
}

fn substr(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let (start, end, whole) = (int(args, 0), int(args, 1), text(args, 2));
    let length = i64::try_from(whole.len()).unwrap_or(i64::MAX);
    let (from, to) = match (start, end) {
        (start, end) if start < 0 => (0, end),
        (start, end) if end < 0 || end > length => (start, length),
        (start, end) => (start, end),
    };
    if to < 0 {
        return Err(format!("runtime error: slice bounds out of range [:{to}]"));
    }
    if to > length {
        return Err(format!("runtime error: slice bounds out of range [:{to}] with length {length}"));
    }
    if from > to {
        return Err(format!("runtime error: slice bounds out of range [{from}:{to}]"));
    }
    Ok(Val::text(bytes(whole, from, to)))
}

fn repeat(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let part = text(args, 1);
    let Ok(count) = usize::try_from(int(args, 0)) else {
        return Err("strings: negative Repeat count".to_owned());
    };
    check_text(part.len() as u128 * count as u128)?;
    Ok(Val::text(part.repeat(count)))
}

fn trim_all(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let cut = text(args, 0);
    Ok(Val::text(text(args, 1).trim_matches(|c| cut.contains(c))))
}

/// Go maps letters one by one; a letter that would become several is kept.
fn upper(c: char) -> char {
    single(c, c.to_uppercase())
}

fn lower(c: char) -> char {
    if c == '\u{130}' { 'i' } else { single(c, c.to_lowercase()) }
}

fn single(c: char, mut changed: impl Iterator<Item = char>) -> char {
    match (changed.next(), changed.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

fn title(whole: &str) -> String {
    let mut between = true;
    whole
        .chars()
        .map(|c| {
            let shown = if between { upper(c) } else { c };
            between = if c.is_ascii() {
                !(c.is_ascii_alphanumeric() || c == '_')
            } else {
                !c.is_alphanumeric() && c.is_whitespace()
            };
            shown
        })
        .collect()
}

fn map_present(args: &[Val], show: fn(String) -> String) -> Result<Val> {
    let present = args.iter().filter(|value| !matches!(value, Val::Nil | Val::Invalid));
    let shown: Vec<String> = present.map(|value| strval(value).map(show)).collect::<Result<_>>()?;
    Ok(Val::text(shown.join(" ")))
}

fn indent(spaces: i64, whole: &str) -> Result<String> {
    let Ok(spaces) = usize::try_from(spaces) else {
        return Err("strings: negative Repeat count".to_owned());
    };
    let lines = whole.matches('\n').count() as u128 + 1;
    check_text(lines * spaces as u128 + whole.len() as u128)?;
    let pad = " ".repeat(spaces);
    Ok(format!("{pad}{}", whole.replace('\n', &format!("\n{pad}"))))
}

fn replace(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let (old, new, whole) = (text(args, 0), text(args, 1), text(args, 2));
    let found = if new.len() > old.len() { whole.matches(old).count() } else { 0 };
    check_text(whole.len() as u128 + found as u128 * new.len() as u128)?;
    Ok(Val::text(whole.replace(old, new)))
}

/// Go's `strings.Split`: an empty separator splits into characters.
pub(super) fn split(whole: &str, separator: &str) -> Vec<String> {
    if separator.is_empty() {
        whole.chars().map(String::from).collect()
    } else {
        whole.split(separator).map(str::to_owned).collect()
    }
}

fn splitn(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let (separator, count, whole) = (text(args, 0), int(args, 1), text(args, 2));
    let Ok(count) = usize::try_from(count) else { return numbered_dict(split(whole, separator)) };
    if separator.is_empty() && count > 0 {
        let mut parts: Vec<String> = whole.chars().take(count - 1).map(String::from).collect();
        let last: String = whole.chars().skip(count - 1).collect();
        if !last.is_empty() {
            parts.push(last);
        }
        return numbered_dict(parts);
    }
    numbered_dict(whole.splitn(count, separator).map(str::to_owned).collect())
}

/// sprig's map of parts: `_0`, `_1`, …
fn numbered_dict(parts: Vec<String>) -> Result<Val> {
    let entries = parts.into_iter().enumerate().map(|(i, part)| (format!("_{i}"), Val::text(part))).collect();
    Val::dict_of(super::super::val::Elem::Str, entries)
}
