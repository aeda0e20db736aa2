//! Resolves scalars by the rules of go-yaml, which go-task uses.

use crate::go::{Map, Value};

use super::node::{YamlKind, YamlNode};

impl YamlNode {
    /// The tag as error messages show it.
    pub fn short_tag(&self) -> &'static str {
        match (&self.kind, self.tag.as_deref()) {
            (YamlKind::List(_), _) => "!!seq",
            (YamlKind::Map(_), _) => "!!map",
            (YamlKind::Scalar { .. }, Some("str" | "binary")) => "!!str",
            (YamlKind::Scalar { text, plain }, tag) => {
                if !*plain && tag.is_none() {
                    return "!!str";
                }
                match resolve_plain(text) {
                    Value::Nil => "!!null",
                    Value::Bool(_) => "!!bool",
                    Value::Int(_) => "!!int",
                    Value::Float(_) => "!!float",
                    _ => "!!str",
                }
            }
        }
    }

    /// The node as a variable's value.
    pub fn value(&self) -> Value {
        match &self.kind {
            YamlKind::Scalar { text, plain } => {
                let is_text =
                    matches!(self.tag.as_deref(), Some("str" | "binary")) || (!*plain && self.tag.is_none());
                if is_text { Value::Str(text.clone()) } else { resolve_plain(text) }
            }
            YamlKind::List(items) => Value::List(items.iter().map(YamlNode::value).collect()),
            YamlKind::Map(pairs) => Value::Map(map_value(pairs)),
        }
    }

    /// A boolean, including the YAML 1.1 words that go-yaml still accepts.
    pub fn bool(&self) -> Option<bool> {
        let YamlKind::Scalar { text, .. } = &self.kind else { return None };
        match self.value() {
            Value::Bool(b) => Some(b),
            Value::Str(_) => match text.as_str() {
                "y" | "Y" | "yes" | "on" => Some(true),
                "n" | "N" | "no" | "off" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A map value; keys of the map win over those merged with `<<`.
fn map_value(pairs: &[(YamlNode, YamlNode)]) -> Map {
    let mut map = Map::new();
    for (key, value) in pairs.iter().filter(|(k, _)| k.key() == "<<") {
        let _ = key;
        for source in value.items().unwrap_or(std::slice::from_ref(value)) {
            for (k, v) in source.entries().unwrap_or_default() {
                if !map.contains_key(k.key()) {
                    map.insert(k.key().to_owned(), v.value());
                }
            }
        }
    }
    for (key, value) in pairs.iter().filter(|(k, _)| k.key() != "<<") {
        map.insert(key.key().to_owned(), value.value());
    }
    map
}

/// The value of a plain scalar.
pub(crate) fn resolve_plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Nil,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Value::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Value::Float(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        _ => {}
    }
    let numeric = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    if !numeric {
        return Value::Str(text.to_owned());
    }
    let plain: String = text.chars().filter(|c| *c != '_').collect();
    if let Some(int) = integer(&plain) {
        return Value::Int(int);
    }
    if is_float(&plain)
        && let Ok(float) = plain.parse::<f64>()
        && float.is_finite()
    {
        return Value::Float(float);
    }
    Value::Str(text.to_owned())
}

/// Decimal, `0x`, `0o`, `0b`, and old-style octal with a leading zero.
fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        _ if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let magnitude = i128::from(u64::from_str_radix(digits, radix).ok()?);
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}

/// Whether this is a YAML float: digits with a point or an exponent.
fn is_float(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let points = mantissa.bytes().filter(|b| *b == b'.').count();
    let exponent_ok = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['+', '-']).unwrap_or(e);
        !e.is_empty() && e.bytes().all(|b| b.is_ascii_digit())
    });
    digits > 0 && points <= 1 && digits + points == mantissa.len() && exponent_ok
}
