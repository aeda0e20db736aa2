//! The small parts of a task: files, conditions, required variables.

use crate::yaml::{YamlKind, YamlNode};

use super::decode::{DecodeError, Decoder, MapFields};

/// A file pattern that includes or excludes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    pub pattern: String,
    pub exclude: bool,
}

/// A command that must succeed before the task may run, and the message if it fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Precondition {
    pub sh: String,
    pub message: String,
}

/// A variable the task requires, and its allowed values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredVar {
    pub name: String,
    pub allowed: AllowedValues,
}

/// The allowed values of a required variable; an empty list allows any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedValues {
    Values(Vec<String>),
    /// A template expression that evaluates to the list.
    Reference(String),
}

impl Decoder {
    pub(super) fn glob(&mut self, node: &YamlNode) -> Result<Glob, DecodeError> {
        match &node.kind {
            YamlKind::Scalar { text, .. } => Ok(Glob { pattern: text.clone(), exclude: false }),
            YamlKind::List(_) => Err(DecodeError::kind(node, "glob")),
            YamlKind::Map(_) => {
                let mut fields = self.fields(node, "glob", &["exclude"])?;
                let pattern = fields.string("exclude");
                fields.finish()?;
                Ok(Glob { pattern, exclude: true })
            }
        }
    }

    pub(super) fn precondition(&mut self, node: &YamlNode) -> Result<Precondition, DecodeError> {
        match &node.kind {
            YamlKind::Scalar { text, .. } => {
                Ok(Precondition { sh: text.clone(), message: format!("`{text}` failed") })
            }
            YamlKind::List(_) => Err(DecodeError::kind(node, "precondition")),
            YamlKind::Map(_) => {
                let mut fields = self.fields(node, "precondition", &["sh", "msg"])?;
                let sh = fields.string("sh");
                let message = fields.string("msg");
                fields.finish()?;
                let message = if message.is_empty() { format!("{sh} failed") } else { message };
                Ok(Precondition { sh, message })
            }
        }
    }

    /// The variables of `requires:`. go-task has no decoder of its own for it, so its errors are reported as the task's.
    pub(super) fn requires(&mut self, task: &mut MapFields<'_>) -> Vec<RequiredVar> {
        let Some(node) = task.get("requires") else { return Vec::new() };
        let Some(entries) = node.entries() else {
            task.mismatch(node, "ast.Requires");
            return Vec::new();
        };
        let vars = entries.iter().find(|(key, _)| key.key() == "vars").map(|(_, vars)| vars);
        match vars.filter(|v| !v.is_null()) {
            None => Vec::new(),
            Some(vars) if vars.items().is_none() => {
                task.mismatch(vars, "[]*ast.VarsWithValidation");
                Vec::new()
            }
            Some(_) => task
                .part("requires", |n| {
                    let mut fields = self.fields(n, "requires", &["vars"])?;
                    let vars = fields.list("vars", "ast.VarsWithValidation", |n| self.required(n));
                    fields.finish()?;
                    Ok(vars.unwrap_or_default())
                })
                .unwrap_or_default(),
        }
    }

    fn required(&mut self, node: &YamlNode) -> Result<RequiredVar, DecodeError> {
        match &node.kind {
            YamlKind::Scalar { text, .. } => {
                Ok(RequiredVar { name: text.clone(), allowed: AllowedValues::Values(Vec::new()) })
            }
            YamlKind::List(_) => Err(DecodeError::kind(node, "requires")),
            YamlKind::Map(_) => {
                let mut fields = self.fields(node, "requires", &["name", "enum"])?;
                let name = fields.string("name");
                let allowed = match fields.get("enum") {
                    Some(map) if map.entries().is_some() => {
                        let mut inner = self.fields(map, "enum", &["ref"])?;
                        let reference = inner.string("ref");
                        inner.finish()?;
                        AllowedValues::Reference(reference)
                    }
                    _ => AllowedValues::Values(fields.strings("enum")),
                };
                fields.finish()?;
                Ok(RequiredVar { name, allowed })
            }
        }
    }
}
