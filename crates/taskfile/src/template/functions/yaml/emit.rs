//! Writes YAML in go-yaml's style: four spaces, sorted keys, strings quoted only where they would otherwise be read as
//! something else.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::super::super::limits::TEXT_MAX;
use super::super::super::val::{Result, Val};
use super::scalar;
use crate::go::escape::is_printable;
use crate::go::float;
use crate::go::time;

const INDENT: usize = 4;

pub(super) fn document(value: &Val) -> Result<String> {
    let mut out = String::new();
    node(&mut out, value, 0, YamlSlot::Top)?;
    if !out.ends_with('\n') {
        out.push('\n');
    }
    Ok(out)
}

/// Where a value is written, which decides whether a list or map starts on the same line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum YamlSlot {
    Top,
    /// After a key and its colon.
    Value,
    /// After the dash of a list item.
    Item,
}

/// The next multiple of the indentation.
fn next_indent(indent: usize) -> usize {
    INDENT * ((indent + INDENT) / INDENT)
}

fn node(out: &mut String, value: &Val, indent: usize, place: YamlSlot) -> Result<()> {
    if out.len() > TEXT_MAX {
        return Err(format!("a text of more than {TEXT_MAX} bytes"));
    }
    match value {
        Val::List(list) if !list.items.is_empty() => {
            let indent = start(out, indent, place);
            for (i, item) in list.items.iter().enumerate() {
                if i > 0 || place != YamlSlot::Item {
                    out.push_str(&" ".repeat(indent));
                }
                out.push_str("- ");
                node(out, item, indent, YamlSlot::Item)?;
                end_line(out);
            }
        }
        Val::Dict(dict) if dict.len() > 0 => {
            let indent = start(out, indent, place);
            let mut entries = dict.sorted();
            entries.sort_by(|a, b| natural(&a.0, &b.0));
            for (i, (key, item)) in entries.iter().enumerate() {
                if i > 0 || place != YamlSlot::Item {
                    out.push_str(&" ".repeat(indent));
                }
                out.push_str(&text(key, indent, true));
                out.push(':');
                let block = matches!(item, Val::List(list) if !list.items.is_empty())
                    || matches!(item, Val::Dict(dict) if dict.len() > 0);
                if !block {
                    out.push(' ');
                }
                node(out, item, indent, YamlSlot::Value)?;
                end_line(out);
            }
        }
        other => out.push_str(&scalar_text(other, indent)),
    }
    Ok(())
}

/// Starts a list or map and returns the indentation of its lines.
fn start(out: &mut String, indent: usize, place: YamlSlot) -> usize {
    match place {
        YamlSlot::Top => indent,
        YamlSlot::Item => indent + 2,
        YamlSlot::Value => {
            out.push('\n');
            next_indent(indent)
        }
    }
}

fn end_line(out: &mut String) {
    if !out.ends_with('\n') {
        out.push('\n');
    }
}

fn scalar_text(value: &Val, indent: usize) -> String {
    match value {
        Val::Invalid | Val::Nil | Val::Root => "null".to_owned(),
        Val::Bool(b) => b.to_string(),
        Val::Int(n) | Val::Int64(n) | Val::Named(_, n, _) => n.to_string(),
        Val::Duration(n) => time::format_duration(*n),
        Val::Byte(n) => n.to_string(),
        Val::Float(f) if f.is_nan() => ".nan".to_owned(),
        Val::Float(f) if f.is_infinite() => if *f > 0.0 { ".inf" } else { "-.inf" }.to_owned(),
        Val::Float(f) => float::display(*f),
        Val::Str(whole) => text(whole, indent, false),
        Val::Time(time) => time::rfc3339(time),
        Val::List(_) => "[]".to_owned(),
        Val::Dict(_) => "{}".to_owned(),
    }
}

fn text(whole: &str, indent: usize, key: bool) -> String {
    if reads_otherwise(whole) {
        return double_quoted(whole);
    }
    if whole.contains('\n') && !key && !whole.chars().any(is_special) {
        return literal_block(whole, next_indent(indent));
    }
    if whole.chars().any(is_special) || whole.contains('\n') || whole.contains('\t') {
        return double_quoted(whole);
    }
    if is_plain(whole) { whole.to_owned() } else { format!("'{}'", whole.replace('\'', "''")) }
}

/// Whether a plain string would be read as null, a boolean, a number or a date by a YAML 1.1 or 1.2 parser.
fn reads_otherwise(whole: &str) -> bool {
    const OLD_BOOLEANS: [&str; 22] = [
        "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off", "OFF",
        "true", "True", "TRUE", "false", "False", "FALSE",
    ];
    OLD_BOOLEANS.contains(&whole)
        || is_base60(whole)
        || !matches!(scalar::resolve(whole, true, None), Val::Str(_))
}

/// `1:30`, a number in YAML 1.1.
fn is_base60(whole: &str) -> bool {
    let digits = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    let mut parts = digits.split(':');
    let first = parts.next().unwrap_or("");
    let starts = first.starts_with(|c: char| c.is_ascii_digit())
        && first.chars().all(|c| c.is_ascii_digit() || c == '_');
    let rest: Vec<&str> = parts.collect();
    starts
        && !rest.is_empty()
        && rest.iter().all(|part| {
            let whole = part.split('.').next().unwrap_or("");
            (1..=2).contains(&whole.len()) && whole.parse::<u8>().is_ok_and(|number| number < 60)
        })
}

fn is_special(c: char) -> bool {
    c != '\n' && c != '\t' && !is_printable(c)
}

fn is_plain(whole: &str) -> bool {
    let mut chars = whole.chars();
    let Some(first) = chars.next() else { return false };
    let second_is_space = chars.next().is_none_or(|c| c == ' ');
    let opens = "#,[]{}&*!|>'\"%@`".contains(first) || ("-?:".contains(first) && second_is_space);
    let marks = whole.starts_with("---") || whole.starts_with("...");
    let spaced = whole.starts_with(' ') || whole.ends_with(' ');
    !(opens || marks || spaced || whole.contains(": ") || whole.contains(" #") || whole.ends_with(':'))
}

fn double_quoted(whole: &str) -> String {
    let mut out = String::from("\"");
    for c in whole.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0b' => out.push_str("\\v"),
            '\x0c' => out.push_str("\\f"),
            '\x1b' => out.push_str("\\e"),
            '\u{85}' => out.push_str("\\N"),
            '\u{a0}' => out.push_str("\\_"),
            '\u{2028}' => out.push_str("\\L"),
            '\u{2029}' => out.push_str("\\P"),
            c if is_printable(c) => out.push(c),
            c if u32::from(c) < 0x100 => _ = write!(out, "\\x{:02X}", u32::from(c)),
            c if u32::from(c) < 0x1_0000 => _ = write!(out, "\\u{:04X}", u32::from(c)),
            c => _ = write!(out, "\\U{:08X}", u32::from(c)),
        }
    }
    out.push('"');
    out
}

/// A literal block, with an indentation hint if it starts with a space, and its chomping indicator.
fn literal_block(whole: &str, indent: usize) -> String {
    let hint = if whole.starts_with([' ', '\n']) { INDENT.to_string() } else { String::new() };
    let chomp = match (whole.ends_with('\n'), whole.ends_with("\n\n") || whole == "\n") {
        (false, _) => "-",
        (true, false) => "",
        (true, true) => "+",
    };
    let mut out = format!("|{hint}{chomp}\n");
    let lines = whole.strip_suffix('\n').unwrap_or(whole);
    for line in lines.split('\n') {
        if !line.is_empty() {
            out.push_str(&" ".repeat(indent));
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

/// Natural order of keys: `a2` before `a10`.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let (left_digits, right_digits) = (digits(left), digits(right));
        if left_digits > 0 && right_digits > 0 {
            let (x, y) = (&left[..left_digits], &right[..right_digits]);
            let (short, long) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
            let order = short.len().cmp(&long.len()).then_with(|| short.cmp(long));
            if order != Ordering::Equal {
                return order;
            }
            (left, right) = (&left[left_digits..], &right[right_digits..]);
            continue;
        }
        match (left.chars().next(), right.chars().next()) {
            (None, None) => return a.cmp(b),
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(x), Some(y)) if x == y => {
                (left, right) = (&left[x.len_utf8()..], &right[y.len_utf8()..]);
            }
            (Some(x), Some(y)) => {
                // Letters come after everything else.
                return x.is_alphabetic().cmp(&y.is_alphabetic()).then_with(|| x.cmp(&y));
            }
        }
    }
}
