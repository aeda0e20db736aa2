//! Builds the tree from the scanner's events.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Tag};

use super::error::YamlError;
use super::node::{Position, YamlKind, YamlNode};

/// The nesting limit, because decoding recurses. Real Taskfiles stay below twenty.
pub const MAX_DEPTH: usize = 100;

/// The limit on nodes with aliases expanded, so that aliases of aliases cannot exhaust memory.
pub const MAX_NODES: usize = 200_000;

/// The nesting limit of [`parse_strict`].
const MAX_STRICT_DEPTH: usize = 32;

/// Parses the first document of a text; `None` if there is none.
pub fn parse(text: &str) -> Result<Option<YamlNode>, YamlError> {
    let mut builder = Builder::new(text, false);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|e| builder.syntax_error(&e))?;
        if let Some(root) = builder.take(event, span.start)? {
            return Ok(Some(root));
        }
    }
    Ok(None)
}

/// Parses a text that holds one document at most, with text keys and without anchors, aliases and tags: the subset
/// for files where these would only hide mistakes. Syntax errors are in the scanner's words, not go-yaml's.
pub fn parse_strict(text: &str) -> Result<Option<YamlNode>, YamlError> {
    let mut builder = Builder::new(text, true);
    let mut root = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|e| YamlError::at(position(*e.marker()), e.info().to_owned()))?;
        if root.is_some() && matches!(event, Event::DocumentStart(_)) {
            return Err(YamlError::at(
                position(span.start),
                "a second document begins here; one file holds one",
            ));
        }
        root = builder.take(event, span.start)?.or(root);
    }
    Ok(root)
}

/// What [`parse_strict`] does not support in this event.
fn unsupported(event: &Event<'_>) -> Option<String> {
    let (anchor, tag) = match event {
        Event::Scalar(_, _, anchor, tag)
        | Event::SequenceStart(anchor, tag)
        | Event::MappingStart(anchor, tag) => (*anchor, tag.as_deref()),
        Event::Alias(_) => return Some("aliases (*name) are not supported here; write it out".to_owned()),
        _ => return None,
    };
    let tag = tag.map(|tag| format!("the tag {}{} is not supported here", tag.handle, tag.suffix));
    if anchor == 0 { tag } else { Some("anchors (&name) are not supported here; write it out".to_owned()) }
}

/// A list or map that is still open.
struct OpenNode {
    position: Position,
    tag: Option<String>,
    anchor: usize,
    children: Vec<YamlNode>,
    is_map: bool,
}

struct Builder<'t> {
    text: &'t str,
    open: Vec<OpenNode>,
    anchors: HashMap<usize, YamlNode>,
    nodes: usize,
    is_strict: bool,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str, is_strict: bool) -> Builder<'t> {
        Builder { text, open: Vec::new(), anchors: HashMap::new(), nodes: 0, is_strict }
    }

    fn take(&mut self, event: Event<'_>, at: Marker) -> Result<Option<YamlNode>, YamlError> {
        let position = position(at);
        if self.is_strict
            && let Some(message) = unsupported(&event)
        {
            return Err(YamlError::at(position, message));
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let kind = YamlKind::Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain };
                self.finish(YamlNode::new(position, short(tag.as_deref()), kind), anchor)
            }
            Event::SequenceStart(anchor, tag) => self.start(position, short(tag.as_deref()), anchor, false),
            Event::MappingStart(anchor, tag) => self.start(position, short(tag.as_deref()), anchor, true),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor) else {
                    return Err(YamlError::at(
                        position,
                        format!("anchor '{}' value contains itself", self.word_at(at)),
                    ));
                };
                let mut node = node.clone();
                node.position = position;
                self.finish(node, 0)
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(None),
        }
    }

    fn start(
        &mut self,
        position: Position,
        tag: Option<String>,
        anchor: usize,
        is_map: bool,
    ) -> Result<Option<YamlNode>, YamlError> {
        if self.is_strict && self.open.len() >= MAX_STRICT_DEPTH {
            let message = format!("nested more than {MAX_STRICT_DEPTH} levels deep");
            return Err(YamlError::at(position, message));
        }
        if self.open.len() >= MAX_DEPTH {
            let message = format!("line {}: nested more than {MAX_DEPTH} levels deep", position.line);
            return Err(YamlError::at(position, message));
        }
        self.open.push(OpenNode { position, tag, anchor, children: Vec::new(), is_map });
        Ok(None)
    }

    fn end(&mut self) -> Result<Option<YamlNode>, YamlError> {
        let Some(open) = self.open.pop() else { return Ok(None) };
        let kind = if open.is_map {
            let mut pairs = Vec::with_capacity(open.children.len() / 2);
            let mut children = open.children.into_iter();
            while let (Some(key), Some(value)) = (children.next(), children.next()) {
                if self.is_strict && !key.is_scalar() {
                    return Err(YamlError::at(key.position, "a key must be a string"));
                }
                pairs.push((key, value));
            }
            YamlKind::Map(pairs)
        } else {
            YamlKind::List(open.children)
        };
        self.finish(YamlNode::new(open.position, open.tag, kind), open.anchor)
    }

    /// Adds a complete node to the enclosing collection; without one it is the document.
    fn finish(&mut self, node: YamlNode, anchor: usize) -> Result<Option<YamlNode>, YamlError> {
        self.nodes += if node.is_scalar() || anchor > 0 { node.weight } else { 1 };
        if self.nodes > MAX_NODES || node.weight > MAX_NODES {
            return Err(YamlError::at(node.position, "document contains excessive aliasing"));
        }
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut() {
            Some(parent) => {
                parent.children.push(node);
                Ok(None)
            }
            None => Ok(Some(node)),
        }
    }

    /// The scanner's error in go-yaml's words: an error in a collection names the line before the one where the
    /// collection began, anything else the line of the error.
    fn syntax_error(&self, error: &ScanError) -> YamlError {
        let at = position(*error.marker());
        let info = error.info();
        if info.contains("unknown anchor") {
            return YamlError::at(
                at,
                format!("unknown anchor '{}' referenced", self.word_at(*error.marker())),
            );
        }
        let context = self.open.last().map_or(at.line, |open| open.position.line);
        let (line, words) = if info.contains("flow sequence") {
            (context - 1, "did not find expected ',' or ']'")
        } else if info.contains("flow mapping") {
            (context - 1, "did not find expected ',' or '}'")
        } else if info.contains("did not find expected key") {
            (context - 1, "did not find expected key")
        } else if info.contains("expected '-' indicator") {
            (context - 1, "did not find expected '-' indicator")
        } else if info.contains("did not find expected node content") {
            (context - 1, "did not find expected node content")
        } else if info.contains("quoted scalar, found unexpected end") {
            (at.line, "found unexpected end of stream")
        } else if info.contains("unknown escape") {
            (at.line, "found unknown escape character")
        } else if info.contains("tab") || info.starts_with("unexpected character") {
            (at.line, "found character that cannot start any token")
        } else if info.contains("mapping values") {
            (at.line, "mapping values are not allowed in this context")
        } else if info.contains("simple key") {
            (self.last_line_before(at.line), "could not find expected ':'")
        } else {
            (at.line, info)
        };
        // go-yaml counts lines from zero here and does not name the first one.
        let is_first = line == 0 || (line == 1 && at.line == 1);
        let message = if is_first { words.to_owned() } else { format!("line {line}: {words}") };
        YamlError::at(at, message)
    }

    /// The last non-blank line before `line`, where the unterminated key began.
    fn last_line_before(&self, line: usize) -> usize {
        let before = self.text.lines().take(line.saturating_sub(1)).enumerate();
        before.filter(|(_, text)| !text.trim().is_empty()).last().map_or(line, |(index, _)| index + 1)
    }

    /// The name after a `*`, for errors about aliases.
    fn word_at(&self, at: Marker) -> String {
        let rest = self.text.chars().skip(at.index()).skip_while(|c| *c == '*');
        rest.take_while(|c| !c.is_whitespace() && !"[]{},".contains(*c)).collect()
    }
}

fn position(at: Marker) -> Position {
    Position { line: at.line(), column: at.col() + 1 }
}

fn short(tag: Option<&Tag>) -> Option<String> {
    tag.filter(|t| t.is_yaml_core_schema()).map(|t| t.suffix.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::go::Value;

    #[test]
    fn strict_yaml_has_positions_and_keeps_yes_and_no_as_strings() {
        let root = parse_strict("gate:\n  yes: planned\n  no: on\nvisits: 3\n").unwrap().unwrap();
        let [(gate, inner), (_, visits)] = root.entries().unwrap() else { panic!("two entries") };
        assert_eq!(gate.position, Position { line: 1, column: 1 });
        let (key, value) = &inner.entries().unwrap()[1];
        assert_eq!((key.key(), key.position), ("no", Position { line: 3, column: 3 }));
        assert_eq!((value.value(), visits.value()), (Value::from("on"), Value::Int(3)));
        assert!(parse_strict("").unwrap().is_none());
    }

    #[test]
    fn strict_yaml_rejects_what_it_does_not_support() {
        for (text, line, message) in [
            ("a: &x 1", 1, "anchors"),
            ("a: 1\nb: *x", 2, ""),
            ("a: !!set 1", 1, "tag"),
            ("a: 1\n---\nb: 2", 2, "second document"),
            ("a: [1", 1, ""),
            ("? [a]\n: 1", 1, "key"),
        ] {
            let error = parse_strict(text).unwrap_err();
            assert!(error.position.line >= line && error.message.contains(message), "{text}: {error:?}");
        }
        let deep = "[".repeat(100) + &"]".repeat(100);
        assert!(parse_strict(&deep).unwrap_err().message.contains("nested"));
    }
}
