//! YAML as a tree that knows its places, as far as people need it to write data: no anchors, aliases or tags.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, StrInput};
use serde_json::Value;

/// Deeper than this nothing goes that a person writes; it also bounds how deep the reading recurses.
const DEPTH_MAX: usize = 32;

/// Line and column, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    pub line: usize,
    pub column: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Malformed {
    pub at: At,
    pub message: String,
}

#[derive(Debug)]
pub struct Placed {
    pub at: At,
    pub what: Tree,
}

#[derive(Debug)]
pub enum Tree {
    Leaf(Value),
    List(Vec<Placed>),
    /// In the file's order; no key is there twice.
    Map(Vec<(String, Placed)>),
}

impl Placed {
    pub fn into_value(self) -> Value {
        match self.what {
            Tree::Leaf(value) => value,
            Tree::List(items) => items.into_iter().map(Self::into_value).collect(),
            Tree::Map(entries) => entries.into_iter().map(|(key, value)| (key, value.into_value())).collect(),
        }
    }
}

/// The one document of a text; null when there is none.
pub fn parse(text: &str) -> Result<Placed, Malformed> {
    let mut reader = Reader { parser: Parser::new_from_str(text), last: At { line: 1, column: 1 } };
    let mut document = None;
    loop {
        let (event, at) = reader.next()?;
        match event {
            Event::StreamEnd => break,
            Event::DocumentStart(_) if document.is_some() => {
                return Err(malformed(at, "a second document begins here"));
            }
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {}
            event => document = Some(reader.node(event, at, 0)?),
        }
    }
    Ok(document.unwrap_or(Placed { at: At { line: 1, column: 1 }, what: Tree::Leaf(Value::Null) }))
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    last: At,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, At), Malformed> {
        match self.parser.next() {
            Some(Ok((event, Span { start, .. }))) => {
                self.last = place(&start);
                Ok((event, self.last))
            }
            Some(Err(error)) => Err(malformed(place(error.marker()), error.info())),
            None => Ok((Event::StreamEnd, self.last)),
        }
    }

    fn node(&mut self, event: Event<'a>, at: At, depth: usize) -> Result<Placed, Malformed> {
        if depth > DEPTH_MAX {
            return Err(malformed(at, "this is nested too deep"));
        }
        let what = match event {
            Event::Scalar(text, style, 0, None) => Tree::Leaf(scalar(&text, style)),
            Event::SequenceStart(0, None) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break Tree::List(items),
                        (event, at) => items.push(self.node(event, at, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(0, None) => self.map(depth)?,
            Event::StreamEnd => return Err(malformed(at, "the text ends in the middle")),
            _ => {
                return Err(malformed(at, "anchors, aliases and tags are not understood here; write it out"));
            }
        };
        Ok(Placed { at, what })
    }

    fn map(&mut self, depth: usize) -> Result<Tree, Malformed> {
        let mut entries: Vec<(String, Placed)> = Vec::new();
        loop {
            let key = match self.next()? {
                (Event::MappingEnd, _) => return Ok(Tree::Map(entries)),
                (Event::Scalar(text, ..), at) => (text.into_owned(), at),
                (_, at) => return Err(malformed(at, "a key has to be a text")),
            };
            if entries.iter().any(|(name, _)| *name == key.0) {
                return Err(malformed(key.1, format!("{} is there twice", key.0)));
            }
            let (event, at) = self.next()?;
            entries.push((key.0, self.node(event, at, depth + 1)?));
        }
    }
}

/// What is quoted is a text; of the rest, only what has one meaning is something else.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::from(text);
    }
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => Value::from(true),
        "false" => Value::from(false),
        text => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
    }
}

fn place(marker: &Marker) -> At {
    At { line: marker.line(), column: marker.col() + 1 }
}

fn malformed(at: At, message: impl Into<String>) -> Malformed {
    Malformed { at, message: message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_reads_as_the_same_json() {
        let tree = parse("a: [1, two, \"3\"]\nb:\n  - c: true\n    d: |\n      x\n").unwrap();
        assert_eq!(
            tree.into_value(),
            serde_json::json!({ "a": [1, "two", "3"], "b": [{ "c": true, "d": "x\n" }] })
        );
    }

    #[test]
    fn what_cannot_be_read_has_a_place() {
        for (text, line) in [("a: [1", 1), ("a: 1\na: 2", 2), ("a: &x 1", 1), ("a: 1\n---\nb: 2", 2)] {
            assert!(parse(text).unwrap_err().at.line >= line, "{text}");
        }
        assert!(parse(&("[".repeat(100) + &"]".repeat(100))).is_err());
    }
}
