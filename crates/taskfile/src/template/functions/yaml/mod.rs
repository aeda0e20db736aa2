//! go-task's functions for YAML: read into values here, written in [`emit`].

mod emit;
mod scalar;

use std::collections::HashMap;

use indexmap::IndexMap;
use saphyr_parser::{Event, Parser, ScalarStyle};

use super::super::limits::VALUE_DEPTH_MAX;
use super::super::val::{Result, Val};
use super::ParamType::{Any, Str};
use super::{Function, arg, fixed, strval, text};

pub(super) const FUNCTIONS: &[Function] = &[
    fixed("fromYaml", &[Str], |_, args| Ok(read(text(args, 0)).unwrap_or(Val::Nil))),
    fixed("mustFromYaml", &[Str], |_, args| read(text(args, 0))),
    fixed("toYaml", &[Any], |_, args| emit::document(arg(args, 0)).map(Val::text)),
    fixed("mustToYaml", &[Any], |_, args| emit::document(arg(args, 0)).map(Val::text)),
];

/// The first document of a text.
fn read(whole: &str) -> Result<Val> {
    let mut reader = YamlReader::default();
    for event in Parser::new_from_str(whole) {
        let (event, _) = event.map_err(|error| format!("yaml: {}", error.info()))?;
        if matches!(event, Event::DocumentEnd) {
            break;
        }
        reader.take(event)?;
    }
    Ok(reader.done.unwrap_or(Val::Nil))
}

/// A list or map that is not closed yet.
enum OpenCollection {
    List { anchor: usize, items: Vec<Val> },
    Map { anchor: usize, entries: IndexMap<String, Val>, merged: Vec<Val>, key: Option<MapKey> },
}

enum MapKey {
    Name(String),
    /// `<<`: the entries of the value are taken over.
    Merge,
}

#[derive(Default)]
struct YamlReader {
    open: Vec<OpenCollection>,
    anchors: HashMap<usize, Val>,
    done: Option<Val>,
}

impl YamlReader {
    fn take(&mut self, event: Event<'_>) -> Result<()> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                let suffix = tag.as_ref().map(|tag| tag.suffix.as_str());
                let merges = plain
                    && text == "<<"
                    && matches!(self.open.last(), Some(OpenCollection::Map { key: None, .. }));
                if merges && let Some(OpenCollection::Map { key, .. }) = self.open.last_mut() {
                    *key = Some(MapKey::Merge);
                    return Ok(());
                }
                self.close(anchor, scalar::resolve(&text, plain, suffix))
            }
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor).cloned().ok_or("yaml: unknown anchor referenced")?;
                self.close(0, value)
            }
            Event::SequenceStart(anchor, _) => self.open(OpenCollection::List { anchor, items: Vec::new() }),
            Event::MappingStart(anchor, _) => self.open(OpenCollection::Map {
                anchor,
                entries: IndexMap::new(),
                merged: Vec::new(),
                key: None,
            }),
            Event::SequenceEnd => match self.open.pop() {
                Some(OpenCollection::List { anchor, items }) => self.close(anchor, Val::list(items)?),
                _ => Ok(()),
            },
            Event::MappingEnd => match self.open.pop() {
                Some(OpenCollection::Map { anchor, entries, merged, .. }) => {
                    self.close(anchor, Val::dict(merge(entries, &merged))?)
                }
                _ => Ok(()),
            },
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn open(&mut self, open: OpenCollection) -> Result<()> {
        if self.open.len() >= VALUE_DEPTH_MAX {
            return Err(format!("lists and maps nested more than {VALUE_DEPTH_MAX} deep"));
        }
        self.open.push(open);
        Ok(())
    }

    /// A value is complete: it goes into what is open around it.
    fn close(&mut self, anchor: usize, value: Val) -> Result<()> {
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut() {
            None => self.done = Some(value),
            Some(OpenCollection::List { items, .. }) => items.push(value),
            Some(OpenCollection::Map { entries, merged, key, .. }) => match key.take() {
                None => *key = Some(MapKey::Name(strval(&value)?)),
                Some(MapKey::Name(name)) => _ = entries.insert(name, value),
                Some(MapKey::Merge) => merged.push(value),
            },
        }
        Ok(())
    }
}

/// What a map has itself comes before what is merged into it.
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
