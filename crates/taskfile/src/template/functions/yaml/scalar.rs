//! Resolves YAML scalars for `fromYaml`: go-yaml's rules, plus timestamps.

use std::rc::Rc;

use jiff::tz::TimeZone;

use super::super::super::val::Val;
use crate::go::time;
use crate::go::{Value, float};
use crate::yaml;

pub(super) fn resolve(text: &str, plain: bool, tag: Option<&str>) -> Val {
    match tag {
        Some("str") => return Val::text(text),
        Some("float") => {
            if let Some(number) = float::parse(text) {
                return Val::Float(number);
            }
        }
        _ if !plain => return Val::text(text),
        _ => {}
    }
    match yaml::resolve_plain(text) {
        Value::Nil => Val::Nil,
        Value::Bool(flag) => Val::Bool(flag),
        Value::Int(number) => Val::Int(number),
        Value::Float(number) => Val::Float(number),
        _ => timestamp(text).unwrap_or_else(|| Val::text(text)),
    }
}

fn timestamp(text: &str) -> Option<Val> {
    const LAYOUTS: [&str; 4] = [
        "2006-1-2T15:4:5.999999999Z07:00",
        "2006-1-2t15:4:5.999999999Z07:00",
        "2006-1-2 15:4:5.999999999",
        "2006-1-2",
    ];
    let starts_with_year = text.len() > 4 && text.as_bytes()[..4].iter().all(u8::is_ascii_digit);
    if !starts_with_year || text.as_bytes()[4] != b'-' {
        return None;
    }
    LAYOUTS
        .iter()
        .find_map(|layout| time::parse(layout, text, &TimeZone::UTC).ok())
        .map(|time| Val::Time(Rc::new(time)))
}
