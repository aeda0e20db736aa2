//! How each verb formats each kind of value.

use std::fmt::Write as _;

use super::super::val::{Result, Val};
use super::{FormatFlags, LimitedText};
use crate::go::escape::is_printable;
use crate::go::float;
use crate::go::literal;
use crate::go::time;

pub(super) fn write_value(
    out: &mut LimitedText,
    value: &Val,
    verb: char,
    flags: &FormatFlags,
    depth: usize,
) -> Result<()> {
    if verb == 'T' {
        return out.push(&pad(&value.type_name(), flags));
    }
    let go_syntax = verb == 'v' && flags.sharp;
    match value {
        Val::Invalid if verb == 'v' && depth == 0 => out.push("<no value>"),
        Val::Invalid | Val::Nil => match verb {
            _ if go_syntax && depth > 0 => out.push("interface {}(nil)"),
            'v' => out.push(&pad("<nil>", flags)),
            _ if depth > 0 => out.push(&pad("<nil>", flags)),
            _ => out.push(&format!("%!{verb}(<nil>)")),
        },
        Val::Root => out.push("map[]"),
        Val::Bool(b) => match verb {
            't' | 'v' => out.push(&pad(if *b { "true" } else { "false" }, flags)),
            _ => bad_verb(out, value, verb),
        },
        Val::Int(n) | Val::Int64(n) => write_int(out, value, *n, verb, flags),
        Val::Byte(n) => write_int(out, value, i64::from(*n), verb, flags),
        Val::Named(_, n, name) => match verb {
            'v' | 's' => out.push(&pad(name, flags)),
            _ => write_int(out, value, *n, verb, flags),
        },
        Val::Duration(n) => match verb {
            'v' | 's' => out.push(&pad(&time::format_duration(*n), flags)),
            _ => write_int(out, value, *n, verb, flags),
        },
        Val::Float(f) => write_float(out, value, *f, verb, flags),
        Val::Str(text) => write_text(out, value, text, verb, flags),
        Val::Time(time) => match verb {
            'v' | 's' => out.push(&pad(&time::display(time), flags)),
            'q' => out.push(&pad(&literal::quote(&time::display(time)), flags)),
            _ => bad_verb(out, value, verb),
        },
        Val::List(list) => {
            if go_syntax {
                out.push(&value.type_name())?;
            }
            out.push(if go_syntax { "{" } else { "[" })?;
            for (i, item) in list.items.iter().enumerate() {
                if i > 0 {
                    out.push(if go_syntax { ", " } else { " " })?;
                }
                write_value(out, item, verb, flags, depth + 1)?;
            }
            out.push(if go_syntax { "}" } else { "]" })
        }
        Val::Dict(dict) => {
            out.push(&if go_syntax { format!("{}{{", value.type_name()) } else { "map[".to_owned() })?;
            for (i, (key, item)) in dict.sorted().into_iter().enumerate() {
                if i > 0 {
                    out.push(if go_syntax { ", " } else { " " })?;
                }
                write_value(out, &Val::text(key), verb, flags, depth + 1)?;
                out.push(":")?;
                write_value(out, &item, verb, flags, depth + 1)?;
            }
            out.push(if go_syntax { "}" } else { "]" })
        }
    }
}

/// `%!d(string=x)`
fn bad_verb(out: &mut LimitedText, value: &Val, verb: char) -> Result<()> {
    out.push(&format!("%!{verb}({}=", value.type_name()))?;
    write_value(out, value, 'v', &FormatFlags::default(), 1)?;
    out.push(")")
}

fn pad(text: &str, flags: &FormatFlags) -> String {
    let Some(width) = flags.width else { return text.to_owned() };
    let missing = width.saturating_sub(text.chars().count());
    if missing == 0 {
        text.to_owned()
    } else if flags.minus {
        format!("{text}{}", " ".repeat(missing))
    } else {
        format!("{}{text}", if flags.zero { "0" } else { " " }.repeat(missing))
    }
}

fn write_text(out: &mut LimitedText, value: &Val, text: &str, verb: char, flags: &FormatFlags) -> Result<()> {
    let cut: String = match flags.precision {
        Some(precision) => text.chars().take(precision).collect(),
        None => text.to_owned(),
    };
    match verb {
        'v' if flags.sharp => out.push(&pad(&literal::quote(&cut), flags)),
        'v' | 's' => out.push(&pad(&cut, flags)),
        'q' if flags.sharp && !cut.contains('`') && cut.chars().all(|c| is_printable(c) || c == '\t') => {
            out.push(&pad(&format!("`{cut}`"), flags))
        }
        'q' if flags.plus => out.push(&pad(&literal::quote_ascii(&cut), flags)),
        'q' => out.push(&pad(&literal::quote(&cut), flags)),
        'x' | 'X' => {
            let bytes = &text.as_bytes()[..flags.precision.unwrap_or(text.len()).min(text.len())];
            out.push(&pad(&hex(bytes, verb == 'X', flags), flags))
        }
        _ => bad_verb(out, value, verb),
    }
}

fn hex(bytes: &[u8], upper: bool, flags: &FormatFlags) -> String {
    let prefix = match (flags.sharp, upper) {
        (true, false) => "0x",
        (true, true) => "0X",
        (false, _) => "",
    };
    let mut out = String::new();
    for (i, byte) in bytes.iter().enumerate() {
        if i > 0 && flags.space {
            out.push(' ');
        }
        if i == 0 || flags.space {
            out.push_str(prefix);
        }
        _ = if upper { write!(out, "{byte:02X}") } else { write!(out, "{byte:02x}") };
    }
    out
}

fn write_int(out: &mut LimitedText, value: &Val, number: i64, verb: char, flags: &FormatFlags) -> Result<()> {
    let character = || u32::try_from(number).ok().and_then(char::from_u32).unwrap_or('\u{FFFD}');
    let magnitude = number.unsigned_abs();
    let digits = match verb {
        'd' | 'v' => magnitude.to_string(),
        'b' if flags.sharp => format!("0b{magnitude:b}"),
        'b' => format!("{magnitude:b}"),
        'o' if flags.sharp => format!("0{magnitude:o}"),
        'o' => format!("{magnitude:o}"),
        'O' => format!("0o{magnitude:o}"),
        'x' if flags.sharp => format!("{magnitude:#x}"),
        'x' => format!("{magnitude:x}"),
        'X' if flags.sharp => format!("0X{magnitude:X}"),
        'X' => format!("{magnitude:X}"),
        'c' => return out.push(&pad(&character().to_string(), flags)),
        'q' => return out.push(&pad(&literal::quote_char(character()), flags)),
        'U' if flags.sharp => return out.push(&pad(&literal::code_point(character()), flags)),
        'U' => return out.push(&pad(&format!("U+{magnitude:04X}"), flags)),
        _ => return bad_verb(out, value, verb),
    };
    let digits = match flags.precision {
        Some(0) if number == 0 => String::new(),
        Some(precision) => format!("{digits:0>precision$}"),
        None => digits,
    };
    // As in Go, a precision disables zero padding.
    let flags = FormatFlags { zero: flags.zero && flags.precision.is_none(), ..*flags };
    out.push(&signed(&digits, number < 0, &flags))
}

fn signed(digits: &str, negative: bool, flags: &FormatFlags) -> String {
    let sign = match (negative, flags.plus, flags.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    };
    if flags.zero && !sign.is_empty() {
        let width = flags.width.map(|width| width.saturating_sub(sign.len()));
        return format!("{sign}{}", pad(digits, &FormatFlags { width, ..*flags }));
    }
    pad(&format!("{sign}{digits}"), flags)
}

fn write_float(
    out: &mut LimitedText,
    value: &Val,
    number: f64,
    verb: char,
    flags: &FormatFlags,
) -> Result<()> {
    if !matches!(verb, 'v' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G') {
        return bad_verb(out, value, verb);
    }
    if !number.is_finite() {
        let shown = if number.is_nan() { "NaN" } else { "Inf" };
        let plus = flags.plus || number == f64::INFINITY && !flags.space;
        let flags = FormatFlags { zero: false, plus: plus && !number.is_nan(), ..*flags };
        return out.push(&signed(shown, number == f64::NEG_INFINITY, &flags));
    }
    let magnitude = number.abs();
    let upper = verb.is_ascii_uppercase();
    let letter = if upper { "E" } else { "e" };
    let digits = match (verb, flags.precision) {
        ('f' | 'F', precision) => format!("{magnitude:.*}", precision.unwrap_or(6)),
        ('e' | 'E', precision) => float::scientific(magnitude, precision.unwrap_or(6), letter),
        (_, None) => float::general(magnitude, letter),
        (_, Some(precision)) => float::general_rounded(magnitude, precision, letter),
    };
    out.push(&signed(&digits, number.is_sign_negative(), flags))
}
