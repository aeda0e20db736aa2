//! A YAML document as a tree in which everything knows its place.
//!
//! Only what people write down for Baton: mappings with text keys, lists and scalars of the core schema, in which `yes` and
//! `no` are texts and not booleans. Anchors, aliases and tags are refused by name, not ignored.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};

/// Deeper than this nothing goes that a person writes. It also bounds how deep anything here recurses.
const DEPTH_MAX: usize = 32;

/// Line and column, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    pub line: usize,
    pub column: usize,
}

impl At {
    pub const START: Self = Self { line: 1, column: 1 };

    fn of(marker: &Marker) -> Self {
        Self { line: marker.line(), column: marker.col() + 1 }
    }
}

/// What stands at one place.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<(At, Node)>),
    Map(Vec<Entry>),
}

/// One line of a mapping, in the file's order. A key that is written twice is there twice.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub at: At,
    pub key: String,
    pub value: Node,
}

/// Why there is no tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    pub at: At,
    pub message: String,
}

/// Something that is not finished yet.
enum Open {
    List(At, Vec<(At, Node)>),
    Map { at: At, entries: Vec<Entry>, key: Option<(At, String)> },
}

/// The one document of `text`. An empty one is null.
pub fn parse(text: &str) -> Result<Node, Malformed> {
    let mut open: Vec<Open> = Vec::new();
    let mut document = None;
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|error| malformed(At::of(error.marker()), error.info().to_owned()))?;
        let at = At::of(&span.start);
        let finished = match event {
            Event::SequenceStart(anchor, tag) => {
                refuse(at, anchor, tag.as_deref())?;
                open.push(Open::List(at, Vec::new()));
                None
            }
            Event::MappingStart(anchor, tag) => {
                refuse(at, anchor, tag.as_deref())?;
                open.push(Open::Map { at, entries: Vec::new(), key: None });
                None
            }
            Event::Scalar(text, style, anchor, tag) => {
                refuse(at, anchor, tag.as_deref())?;
                Some((at, scalar(&text, style)))
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(Open::close),
            Event::Alias(_) => {
                return Err(malformed(at, "aliases (*name) are not supported here; write it out"));
            }
            Event::DocumentStart(_) if document.is_some() => {
                return Err(malformed(at, "a second document begins here; one file holds one"));
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => None,
        };
        if open.len() > DEPTH_MAX {
            return Err(malformed(at, format!("this is nested more than {DEPTH_MAX} deep")));
        }
        let Some((at, node)) = finished else { continue };
        match open.last_mut() {
            Some(outer) => outer.take(at, node)?,
            None => document = Some(node),
        }
    }
    Ok(document.unwrap_or(Node::Null))
}

impl Open {
    fn close(self) -> (At, Node) {
        match self {
            Self::List(at, items) => (at, Node::List(items)),
            Self::Map { at, entries, .. } => (at, Node::Map(entries)),
        }
    }

    fn take(&mut self, at: At, node: Node) -> Result<(), Malformed> {
        match self {
            Self::List(_, items) => items.push((at, node)),
            Self::Map { entries, key, .. } => {
                if let Some((at, key)) = key.take() {
                    entries.push(Entry { at, key, value: node });
                } else {
                    let text = node.as_key().ok_or_else(|| malformed(at, "a key must be a text"))?;
                    *key = Some((at, text));
                }
            }
        }
        Ok(())
    }
}

impl Node {
    /// A key is the text that stands there, whatever else it could be read as.
    fn as_key(&self) -> Option<String> {
        match self {
            Self::Null => Some(String::new()),
            Self::Bool(value) => Some(value.to_string()),
            Self::Int(value) => Some(value.to_string()),
            Self::Float(value) => Some(value.to_string()),
            Self::Text(text) => Some(text.clone()),
            Self::List(_) | Self::Map(_) => None,
        }
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Node {
    if style != ScalarStyle::Plain {
        return Node::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Node::Null,
        "true" | "True" | "TRUE" => Node::Bool(true),
        "false" | "False" | "FALSE" => Node::Bool(false),
        _ => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(value), _) => Node::Int(value),
            (Err(_), Ok(value)) if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
                Node::Float(value)
            }
            (Err(_), _) => Node::Text(text.to_owned()),
        },
    }
}

fn refuse(at: At, anchor: usize, tag: Option<&Tag>) -> Result<(), Malformed> {
    if anchor != 0 {
        return Err(malformed(at, "anchors (&name) are not supported here; write it out"));
    }
    match tag {
        Some(tag) => {
            Err(malformed(at, format!("the tag {}{} is not supported here", tag.handle, tag.suffix)))
        }
        None => Ok(()),
    }
}

fn malformed(at: At, message: impl Into<String>) -> Malformed {
    Malformed { at, message: message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_and_no_are_texts_and_every_key_knows_its_place() {
        let Node::Map(entries) = parse("gate:\n  yes: planned\n  no: on\nfresh: true\nvisits: 3\n").unwrap()
        else {
            panic!("a mapping")
        };
        assert_eq!(entries[0].at, At { line: 1, column: 1 });
        let Node::Map(gate) = &entries[0].value else { panic!("a mapping") };
        assert_eq!((gate[1].key.as_str(), gate[1].at), ("no", At { line: 3, column: 3 }));
        assert_eq!(gate[1].value, Node::Text("on".to_owned()));
        assert_eq!((&entries[1].value, &entries[2].value), (&Node::Bool(true), &Node::Int(3)));
    }

    #[test]
    fn what_is_not_supported_is_named_with_its_place() {
        for (text, line, said) in [
            ("a: &x 1", 1, "anchors"),
            ("a: 1\nb: *x", 2, ""),
            ("a: !!set 1", 1, "tag"),
            ("a: 1\n---\nb: 2", 2, "second document"),
            ("a: [1", 1, ""),
            ("? [a]\n: 1", 1, "key"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.at.line >= line && error.message.contains(said), "{text}: {error:?}");
        }
        let deep = "[".repeat(100) + &"]".repeat(100);
        assert!(parse(&deep).unwrap_err().message.contains("nested"));
    }
}
