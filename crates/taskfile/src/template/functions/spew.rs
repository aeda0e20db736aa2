//! go-task's `spew`: dumps a value with its types.

use std::fmt::Write as _;

use super::super::limits::TEXT_MAX;
use super::super::val::{Result, Val};
use super::ParamType::Any;
use super::{Function, arg, fixed};
use crate::go::float;
use crate::go::literal;

pub(super) const FUNCTIONS: &[Function] = &[fixed("spew", &[Any], |_, args| {
    let mut out = String::new();
    dump(&mut out, arg(args, 0), 0)?;
    out.push('\n');
    Ok(Val::text(out))
})];

fn dump(out: &mut String, value: &Val, depth: usize) -> Result<()> {
    if out.len() > TEXT_MAX {
        return Err(format!("a text of more than {TEXT_MAX} bytes"));
    }
    let kind = match value {
        Val::Invalid | Val::Nil => "interface {}".to_owned(),
        other => other.type_name(),
    };
    _ = write!(out, "({kind}) ");
    match value {
        Val::Str(text) => {
            if !text.is_empty() {
                _ = write!(out, "(len={}) ", text.len());
            }
            out.push_str(&literal::quote(text));
        }
        Val::Float(f) => out.push_str(&float::display(*f)),
        Val::List(list) => {
            let count = list.items.len();
            if count > 0 {
                _ = write!(out, "(len={count} cap={count}) ");
            }
            out.push_str("{\n");
            for (i, item) in list.items.iter().enumerate() {
                out.push_str(&" ".repeat(depth + 1));
                dump(out, item, depth + 1)?;
                out.push_str(if i + 1 < count { ",\n" } else { "\n" });
            }
            _ = write!(out, "{}}}", " ".repeat(depth));
        }
        Val::Dict(dict) => {
            let entries = dict.sorted();
            if !entries.is_empty() {
                _ = write!(out, "(len={}) ", entries.len());
            }
            out.push_str("{\n");
            for (i, (key, item)) in entries.iter().enumerate() {
                out.push_str(&" ".repeat(depth + 1));
                dump(out, &Val::text(key.as_str()), depth + 1)?;
                out.push_str(": ");
                dump(out, item, depth + 1)?;
                out.push_str(if i + 1 < entries.len() { ",\n" } else { "\n" });
            }
            _ = write!(out, "{}}}", " ".repeat(depth));
        }
        other => out.push_str(&super::super::print::display(other)?.replace("<no value>", "<nil>")),
    }
    Ok(())
}
