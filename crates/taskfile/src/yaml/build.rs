//! Builds the tree from the scanner's events.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Tag};

use super::error::YamlError;
use super::node::{Position, YamlKind, YamlNode};

/// The nesting limit, because decoding recurses. Real Taskfiles stay below twenty.
pub const MAX_DEPTH: usize = 100;

/// The limit on nodes with aliases expanded, so that aliases of aliases cannot exhaust memory.
pub const MAX_NODES: usize = 200_000;

/// Parses the first document of a text; `None` if there is none.
pub fn parse(text: &str) -> Result<Option<YamlNode>, YamlError> {
    let mut builder = Builder { text, open: Vec::new(), anchors: HashMap::new(), nodes: 0 };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|e| builder.syntax_error(&e))?;
        if let Some(root) = builder.take(event, span.start)? {
            return Ok(Some(root));
        }
    }
    Ok(None)
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
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, at: Marker) -> Result<Option<YamlNode>, YamlError> {
        let position = position(at);
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
        if self.open.len() >= MAX_DEPTH {
            return Err(YamlError::at(
                position,
                format!("line {}: nested more than {MAX_DEPTH} levels deep", position.line),
            ));
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
