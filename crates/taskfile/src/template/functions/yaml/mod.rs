//! go-task's functions for YAML: read into values here, written in [`emit`].

mod emit;
mod scalar;

use std::collections::HashMap;

use indexmap::IndexMap;
use saphyr_parser::{Event, Parser, ScalarStyle};

use super::super::limits::VALUE_DEPTH_MAX;
use super::super::val::{Outcome, Val};
use super::Type::{Any, Str};
use super::{Function, arg, fixed, strval, text};

pub(super) const FUNCTIONS: &[Function] = &[
    fixed("fromYaml", &[Str], |_, args| Ok(read(text(args, 0)).unwrap_or(Val::Nil))),
    fixed("mustFromYaml", &[Str], |_, args| read(text(args, 0))),
    fixed("toYaml", &[Any], |_, args| emit::document(arg(args, 0)).map(Val::text)),
    fixed("mustToYaml", &[Any], |_, args| emit::document(arg(args, 0)).map(Val::text)),
];

/// The first document of a text.
fn read(whole: &str) -> Outcome<Val> {
    let mut reader = Reader::default();
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
enum Open {
    List { anchor: usize, items: Vec<Val> },
    Map { anchor: usize, entries: IndexMap<String, Val>, merged: Vec<Val>, key: Option<Key> },
}

enum Key {
    Name(String),
    /// `<<`: the entries of the value are taken over.
    Merge,
}

#[derive(Default)]
struct Reader {
    open: Vec<Open>,
    anchors: HashMap<usize, Val>,
    done: Option<Val>,
}

impl Reader {
    fn take(&mut self, event: Event<'_>) -> Outcome<()> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                let suffix = tag.as_ref().map(|tag| tag.suffix.as_str());
                let merges =
                    plain && text == "<<" && matches!(self.open.last(), Some(Open::Map { key: None, .. }));
                if merges && let Some(Open::Map { key, .. }) = self.open.last_mut() {
                    *key = Some(Key::Merge);
                    return Ok(());
                }
                self.close(anchor, scalar::resolve(&text, plain, suffix))
            }
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor).cloned().ok_or("yaml: unknown anchor referenced")?;
                self.close(0, value)
            }
            Event::SequenceStart(anchor, _) => self.open(Open::List { anchor, items: Vec::new() }),
            Event::MappingStart(anchor, _) => {
                self.open(Open::Map { anchor, entries: IndexMap::new(), merged: Vec::new(), key: None })
            }
            Event::SequenceEnd => match self.open.pop() {
                Some(Open::List { anchor, items }) => self.close(anchor, Val::list(items)?),
                _ => Ok(()),
            },
            Event::MappingEnd => match self.open.pop() {
                Some(Open::Map { anchor, entries, merged, .. }) => {
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

    fn open(&mut self, open: Open) -> Outcome<()> {
        if self.open.len() >= VALUE_DEPTH_MAX {
            return Err(format!("lists and maps nested more than {VALUE_DEPTH_MAX} deep"));
        }
        self.open.push(open);
        Ok(())
    }

    /// A value is complete: it goes into what is open around it.
    fn close(&mut self, anchor: usize, value: Val) -> Outcome<()> {
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut() {
            None => self.done = Some(value),
            Some(Open::List { items, .. }) => items.push(value),
            Some(Open::Map { entries, merged, key, .. }) => match key.take() {
                None => *key = Some(Key::Name(strval(&value)?)),
                Some(Key::Name(name)) => _ = entries.insert(name, value),
                Some(Key::Merge) => merged.push(value),
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
