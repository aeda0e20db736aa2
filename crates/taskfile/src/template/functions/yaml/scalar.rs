//! What a plain YAML scalar means, by the rules of the reader go-task uses: YAML 1.2 with the octal
//! numbers and underscores of 1.1, but without its yes and no.

use std::rc::Rc;

use jiff::tz::TimeZone;

use super::super::super::val::Val;
use crate::go::float;
use crate::go::literal;
use crate::go::time;

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
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Val::Nil,
        "true" | "True" | "TRUE" => return Val::Bool(true),
        "false" | "False" | "FALSE" => return Val::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Val::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Val::Float(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Val::Float(f64::NAN),
        _ => {}
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
        return Val::text(text);
    }
    if let Some(time) = timestamp(text) {
        return time;
    }
    let digits = text.replace('_', "");
    if let Some(number) = literal::parse_int(&digits) {
        return Val::Int(number);
    }
    let decimal = digits.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
    match float::parse(&digits) {
        Some(number) if decimal && digits.contains(|c: char| c.is_ascii_digit()) => Val::Float(number),
        _ => Val::text(text),
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
