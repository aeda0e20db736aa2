//! Decoding the fields of a map with go-yaml's rules and error messages.

use thiserror::Error;

use super::suggest;
use crate::yaml::{Position, YamlNode};

/// Valid YAML that is not a valid Taskfile. Errors in several scalars of one map are reported together.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", self.text())]
pub struct DecodeError {
    pub messages: Vec<String>,
    pub position: Position,
}

impl DecodeError {
    pub fn new(node: &YamlNode, message: impl Into<String>) -> DecodeError {
        DecodeError { messages: vec![message.into()], position: node.position }
    }

    /// The node's kind cannot be decoded as `what`.
    pub fn kind(node: &YamlNode, what: &str) -> DecodeError {
        DecodeError::new(node, format!("cannot unmarshal {} into {what}", node.short_tag()))
    }

    fn text(&self) -> String {
        match self.messages.as_slice() {
            [one] => format!("err:  {one}"),
            many => many.iter().fold("errs:".to_owned(), |text, m| format!("{text}\n- {m}")),
        }
    }
}

/// A problem that does not keep the file from working.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskfileWarning {
    pub message: String,
    pub position: Position,
}

/// Collects warnings while a file is decoded.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pub warnings: Vec<TaskfileWarning>,
}

impl Decoder {
    /// The fields of a map, each key once; unknown keys become warnings.
    pub(super) fn fields<'n>(
        &mut self,
        node: &'n YamlNode,
        what: &str,
        known: &[&str],
    ) -> Result<MapFields<'n>, DecodeError> {
        let entries = node.entries().ok_or_else(|| DecodeError::kind(node, what))?;
        let mut fields =
            MapFields { node, found: Vec::with_capacity(entries.len()), errors: Vec::new(), stop: None };
        for (key, value) in entries.iter().filter(|(k, _)| k.key() != "<<") {
            let name = key.key();
            if let Some((_, _, first)) = fields.found.iter().find(|(n, _, _)| *n == name) {
                let message = format!(
                    "line {}: mapping key {name:?} already defined at line {}",
                    key.position.line, first.line
                );
                return Err(DecodeError { messages: vec![message], position: node.position });
            }
            fields.found.push((name, value, key.position));
            if !known.contains(&name) && !name.starts_with("x-") && !name.starts_with('.') {
                self.unknown_key(name, what, known, key.position);
            }
        }
        for (_, value) in entries.iter().filter(|(k, _)| k.key() == "<<") {
            fields.merge(value)?;
        }
        Ok(fields)
    }

    fn unknown_key(&mut self, name: &str, what: &str, known: &[&str], position: Position) {
        let hint = suggest::nearest(name, known.iter().copied())
            .map_or(String::new(), |near| format!("; did you mean {near:?}?"));
        self.warnings
            .push(TaskfileWarning { message: format!("unknown key {name:?} in {what}{hint}"), position });
    }
}

/// The fields of one map. Invalid scalars are collected and reported together by [`MapFields::finish`]; of errors in
/// nested parts only the first in file order is reported.
pub(super) struct MapFields<'n> {
    node: &'n YamlNode,
    found: Vec<(&'n str, &'n YamlNode, Position)>,
    errors: Vec<(Position, String)>,
    stop: Option<(Position, DecodeError)>,
}

impl<'n> MapFields<'n> {
    /// Keys of a merged map apply where the map itself does not set them.
    fn merge(&mut self, source: &'n YamlNode) -> Result<(), DecodeError> {
        for map in source.items().unwrap_or(std::slice::from_ref(source)) {
            let entries = map.entries().ok_or_else(|| {
                DecodeError::new(map, "map merge requires map or sequence of maps as the value")
            })?;
            for (key, value) in entries {
                if !self.found.iter().any(|(n, _, _)| *n == key.key()) {
                    self.found.push((key.key(), value, key.position));
                }
            }
        }
        Ok(())
    }

    /// The value of a key that is present and not null.
    pub(super) fn get(&self, name: &str) -> Option<&'n YamlNode> {
        self.found
            .iter()
            .find(|(n, _, _)| *n == name)
            .map(|(_, node, _)| *node)
            .filter(|node| !node.is_null())
    }

    /// The first key of the map, even if its value is null.
    pub(super) fn first_key(&self) -> Option<&'n str> {
        self.found.first().map(|(n, _, _)| *n)
    }

    pub(super) fn mismatch(&mut self, node: &YamlNode, into: &str) {
        let value = match node.short_tag() {
            "!!seq" | "!!map" => String::new(),
            _ => {
                let text = node.key();
                match text.char_indices().nth(7) {
                    Some((cut, _)) if text.len() > 10 => format!(" `{}...`", &text[..cut]),
                    _ => format!(" `{text}`"),
                }
            }
        };
        let line = node.position.line;
        self.errors.push((
            node.position,
            format!("line {line}: cannot unmarshal {}{value} into {into}", node.short_tag()),
        ));
    }

    pub(super) fn string(&mut self, name: &str) -> String {
        self.optional_string(name).unwrap_or_default()
    }

    pub(super) fn optional_string(&mut self, name: &str) -> Option<String> {
        let node = self.get(name)?;
        if let Some(text) = node.text() {
            return Some(text.to_owned());
        }
        self.mismatch(node, "string");
        None
    }

    pub(super) fn bool(&mut self, name: &str) -> bool {
        self.optional_bool(name).unwrap_or(false)
    }

    pub(super) fn optional_bool(&mut self, name: &str) -> Option<bool> {
        let node = self.get(name)?;
        let value = node.bool();
        if value.is_none() {
            self.mismatch(node, "bool");
        }
        value
    }

    pub(super) fn strings(&mut self, name: &str) -> Vec<String> {
        let Some(node) = self.get(name) else { return Vec::new() };
        let Some(items) = node.items() else {
            self.mismatch(node, "[]string");
            return Vec::new();
        };
        let mut strings = Vec::with_capacity(items.len());
        for item in items {
            match item.text() {
                Some(text) => strings.push(text.to_owned()),
                None if item.is_null() => strings.push(String::new()),
                None => self.mismatch(item, "string"),
            }
        }
        strings
    }

    /// A list of nested parts; nulls are skipped, as in go-task.
    pub(super) fn list<T>(
        &mut self,
        name: &str,
        go_type: &str,
        mut decode: impl FnMut(&'n YamlNode) -> Result<T, DecodeError>,
    ) -> Option<Vec<T>> {
        let node = self.get(name)?;
        let Some(items) = node.items() else {
            self.mismatch(node, &format!("[]*{go_type}"));
            return None;
        };
        let mut parts = Vec::with_capacity(items.len());
        for item in items.iter().filter(|i| !i.is_null()) {
            match decode(item) {
                Ok(part) => parts.push(part),
                Err(error) => {
                    self.stop_at(item.position, error);
                    break;
                }
            }
        }
        Some(parts)
    }

    /// One nested part.
    pub(super) fn part<T>(
        &mut self,
        name: &str,
        decode: impl FnOnce(&'n YamlNode) -> Result<T, DecodeError>,
    ) -> Option<T> {
        let node = self.get(name)?;
        match decode(node) {
            Ok(part) => Some(part),
            Err(error) => {
                self.stop_at(node.position, error);
                None
            }
        }
    }

    fn stop_at(&mut self, position: Position, error: DecodeError) {
        if self.stop.as_ref().is_none_or(|(at, _)| position < *at) {
            self.stop = Some((position, error));
        }
    }

    /// Fails if any field read so far was invalid.
    pub(super) fn finish(mut self) -> Result<(), DecodeError> {
        if let Some((_, error)) = self.stop {
            return Err(error);
        }
        if self.errors.is_empty() {
            return Ok(());
        }
        self.errors.sort_by_key(|(position, _)| *position);
        let messages = self.errors.into_iter().map(|(_, m)| m).collect();
        Err(DecodeError { messages, position: self.node.position })
    }
}
