//! go-task's functions for YAML: [`emit`] writes it, the crate's YAML tree reads it.

mod emit;
mod scalar;

use indexmap::IndexMap;

use super::super::val::{Result, Val};
use super::ParamType::{Any, Str};
use super::{Function, arg, fixed, strval, text};
use crate::yaml::{self, YamlKind, YamlNode};

pub(super) const FUNCTIONS: &[Function] = &[
    fixed("fromYaml", &[Str], |_, args| Ok(read(text(args, 0)).unwrap_or(Val::Nil))),
    fixed("mustFromYaml", &[Str], |_, args| read(text(args, 0))),
    fixed("toYaml", &[Any], |_, args| emit::document(arg(args, 0)).map(Val::text)),
    fixed("mustToYaml", &[Any], |_, args| emit::document(arg(args, 0)).map(Val::text)),
];

/// The first document of a text.
fn read(whole: &str) -> Result<Val> {
    let root = yaml::parse(whole).map_err(|error| error.to_string())?;
    root.as_ref().map_or(Ok(Val::Nil), convert)
}

fn convert(node: &YamlNode) -> Result<Val> {
    let pairs = match &node.kind {
        YamlKind::Scalar { text, plain } => {
            return Ok(scalar::resolve(text, *plain, node.tag.as_deref()));
        }
        YamlKind::List(items) => return Val::list(items.iter().map(convert).collect::<Result<_>>()?),
        YamlKind::Map(pairs) => pairs,
    };
    let (mut entries, mut merged) = (IndexMap::new(), Vec::new());
    for (key, value) in pairs {
        let value = convert(value)?;
        if matches!(&key.kind, YamlKind::Scalar { text, plain: true } if text == "<<") {
            merged.push(value);
        } else {
            entries.insert(strval(&convert(key)?)?, value);
        }
    }
    Val::dict(merge(entries, &merged))
}

/// Adds merged entries; the map's own entries win.
fn merge(mut entries: IndexMap<String, Val>, merged: &[Val]) -> IndexMap<String, Val> {
    for value in merged {
        match value {
            Val::Dict(dict) => {
                for (key, value) in dict.entries.borrow().iter() {
                    entries.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
            Val::List(list) => entries = merge(entries, &list.items),
            _ => {}
        }
    }
    entries
}
