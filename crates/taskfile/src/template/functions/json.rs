//! JSON as Go's encoding/json writes it: keys sorted, `<`, `>` and `&` escaped unless asked otherwise.

use super::super::limits::TEXT_MAX;
use super::super::val::{Result, Val};
use super::ParamType::{Any, Str};
use super::{Function, arg, fixed, text};
use crate::go::escape::push_json;
use crate::go::float;
use crate::go::literal;
use crate::go::time;

pub(super) const FUNCTIONS: &[Function] = &[
    fixed("fromJson", &[Str], |_, args| Ok(parse(text(args, 0)).unwrap_or(Val::Nil))),
    fixed("mustFromJson", &[Str], |_, args| parse(text(args, 0))),
    fixed("toJson", &[Any], |_, args| to_json(arg(args, 0), &COMPACT)),
    fixed("mustToJson", &[Any], |_, args| to_json(arg(args, 0), &COMPACT)),
    fixed("toPrettyJson", &[Any], |_, args| to_json(arg(args, 0), &PRETTY)),
    fixed("mustToPrettyJson", &[Any], |_, args| to_json(arg(args, 0), &PRETTY)),
    fixed("toRawJson", &[Any], |_, args| to_json(arg(args, 0), &RAW)),
    fixed("mustToRawJson", &[Any], |_, args| to_json(arg(args, 0), &RAW)),
];

fn parse(whole: &str) -> Result<Val> {
    let parsed: serde_json::Value = serde_json::from_str(whole).map_err(|error| message(whole, &error))?;
    convert(parsed)
}

/// Go's two most common messages; the rest are `serde_json`'s.
fn message(whole: &str, error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let line = whole.lines().nth(error.line().saturating_sub(1)).unwrap_or("");
    match line.chars().nth(error.column().saturating_sub(1)) {
        Some(c)
            if error.to_string().starts_with("expected value")
                || error.to_string().starts_with("expected ident") =>
        {
            format!("invalid character {} looking for beginning of value", literal::quote_char(c))
        }
        _ => error.to_string(),
    }
}

fn convert(value: serde_json::Value) -> Result<Val> {
    Ok(match value {
        serde_json::Value::Null => Val::Nil,
        serde_json::Value::Bool(b) => Val::Bool(b),
        serde_json::Value::Number(number) => Val::Float(number.as_f64().unwrap_or(f64::NAN)),
        serde_json::Value::String(text) => Val::text(text),
        serde_json::Value::Array(items) => Val::list(items.into_iter().map(convert).collect::<Result<_>>()?)?,
        serde_json::Value::Object(entries) => Val::dict(
            entries.into_iter().map(|(key, value)| Ok((key, convert(value)?))).collect::<Result<_>>()?,
        )?,
    })
}

struct JsonStyle {
    /// Indent by two spaces instead of writing one line.
    indented: bool,
    escape_html: bool,
}

const COMPACT: JsonStyle = JsonStyle { indented: false, escape_html: true };
const PRETTY: JsonStyle = JsonStyle { indented: true, escape_html: true };
const RAW: JsonStyle = JsonStyle { indented: false, escape_html: false };

fn to_json(value: &Val, style: &JsonStyle) -> Result<Val> {
    let mut out = String::new();
    write(&mut out, value, style, 0)?;
    Ok(Val::text(out))
}

fn write(out: &mut String, value: &Val, style: &JsonStyle, depth: usize) -> Result<()> {
    if out.len() > TEXT_MAX {
        return Err(format!("a text of more than {TEXT_MAX} bytes"));
    }
    match value {
        Val::Invalid | Val::Nil | Val::Root => out.push_str("null"),
        Val::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Val::Int(n) | Val::Int64(n) | Val::Named(_, n, _) | Val::Duration(n) => out.push_str(&n.to_string()),
        Val::Byte(n) => out.push_str(&n.to_string()),
        Val::Float(f) if !f.is_finite() => {
            return Err(format!("json: unsupported value: {}", float::display(*f)));
        }
        Val::Float(f) => out.push_str(&number(*f)),
        Val::Str(text) => push_json(out, text, style.escape_html),
        Val::Time(time) => push_json(out, &time::rfc3339(time), style.escape_html),
        Val::List(list) => {
            out.push('[');
            for (i, item) in list.items.iter().enumerate() {
                separate(out, i, style, depth + 1);
                write(out, item, style, depth + 1)?;
            }
            close(out, list.items.is_empty(), style, depth);
            out.push(']');
        }
        Val::Dict(dict) => {
            out.push('{');
            let entries = dict.sorted();
            for (i, (key, item)) in entries.iter().enumerate() {
                separate(out, i, style, depth + 1);
                push_json(out, key, style.escape_html);
                out.push_str(if style.indented { ": " } else { ":" });
                write(out, item, style, depth + 1)?;
            }
            close(out, entries.is_empty(), style, depth);
            out.push('}');
        }
    }
    Ok(())
}

fn separate(out: &mut String, i: usize, style: &JsonStyle, depth: usize) {
    if i > 0 {
        out.push(',');
    }
    if style.indented {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    }
}

fn close(out: &mut String, empty: bool, style: &JsonStyle, depth: usize) {
    if style.indented && !empty {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    }
}

/// As in ECMAScript: plain digits from 1e-6 to 1e21, otherwise an exponent without leading zeros.
fn number(f: f64) -> String {
    let magnitude = f.abs();
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        let text = format!("{f:e}");
        return if text.contains("e-") { text } else { text.replace('e', "e+") };
    }
    format!("{f}")
}
