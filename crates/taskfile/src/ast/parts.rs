//! The small parts of a task: files, conditions, required variables.

use crate::yaml::{Kind, Node};

use super::decode::{DecodeError, Decoder};

/// A pattern of files, taken in or taken out again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    pub pattern: String,
    pub exclude: bool,
}

/// A command that must succeed before the task may run, and what to say when it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Precondition {
    pub sh: String,
    pub message: String,
}

/// A variable the task cannot do without, and the values it may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Required {
    pub name: String,
    pub allowed: Allowed,
}

/// The values a required variable may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    Values(Vec<String>),
    /// A template expression that gives the list.
    Reference(String),
}

impl Decoder {
    pub(super) fn glob(&mut self, node: &Node) -> Result<Glob, DecodeError> {
        match &node.kind {
            Kind::Scalar { text, .. } => Ok(Glob { pattern: text.clone(), exclude: false }),
            Kind::List(_) => Err(DecodeError::kind(node, "glob")),
            Kind::Map(_) => {
                let mut fields = self.fields(node, "glob", &["exclude"])?;
                let pattern = fields.string("exclude");
                fields.finish()?;
                Ok(Glob { pattern, exclude: true })
            }
        }
    }

    pub(super) fn precondition(&mut self, node: &Node) -> Result<Precondition, DecodeError> {
        match &node.kind {
            Kind::Scalar { text, .. } => {
                Ok(Precondition { sh: text.clone(), message: format!("`{text}` failed") })
            }
            Kind::List(_) => Err(DecodeError::kind(node, "precondition")),
            Kind::Map(_) => {
                let mut fields = self.fields(node, "precondition", &["sh", "msg"])?;
                let sh = fields.string("sh");
                let message = fields.string("msg");
                fields.finish()?;
                let message = if message.is_empty() { format!("{sh} failed") } else { message };
                Ok(Precondition { sh, message })
            }
        }
    }

    pub(super) fn requires(&mut self, node: &Node) -> Result<Vec<Required>, DecodeError> {
        let mut fields = self.fields(node, "requires", &["vars"])?;
        let vars = fields.list("vars", "ast.VarsWithValidation", |n| self.required(n)).unwrap_or_default();
        fields.finish()?;
        Ok(vars)
    }

    fn required(&mut self, node: &Node) -> Result<Required, DecodeError> {
        match &node.kind {
            Kind::Scalar { text, .. } => {
                Ok(Required { name: text.clone(), allowed: Allowed::Values(Vec::new()) })
            }
            Kind::List(_) => Err(DecodeError::kind(node, "requires")),
            Kind::Map(_) => {
                let mut fields = self.fields(node, "requires", &["name", "enum"])?;
                let name = fields.string("name");
                let allowed = match fields.get("enum") {
                    Some(map) if map.entries().is_some() => {
                        let mut inner = self.fields(map, "enum", &["ref"])?;
                        let reference = inner.string("ref");
                        inner.finish()?;
                        Allowed::Reference(reference)
                    }
                    _ => Allowed::Values(fields.strings("enum")),
                };
                fields.finish()?;
                Ok(Required { name, allowed })
            }
        }
    }
}
