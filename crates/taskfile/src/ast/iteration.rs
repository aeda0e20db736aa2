//! What a `for:` iterates over.

use indexmap::IndexMap;

use crate::go::Value;
use crate::yaml::{YamlKind, YamlNode};

use super::decode::{DecodeError, Decoder};

#[derive(Debug, Clone, PartialEq)]
pub enum Iteration {
    /// Literal values; templates in them are not rendered.
    List(Vec<Value>),
    /// The files of `sources` or `generates`; any other word yields nothing.
    Files(String),
    /// A variable: a list, a map, or a string split at `split` or at whitespace.
    Var { name: String, split: String, item_name: String },
    /// Every combination of the rows.
    Matrix { rows: IndexMap<String, MatrixRow>, item_name: String },
}

#[derive(Debug, Clone, PartialEq)]
pub enum MatrixRow {
    Values(Vec<Value>),
    Reference(String),
}

impl Iteration {
    /// The variable that holds the current item in templates.
    pub fn item_name(&self) -> &str {
        match self {
            Iteration::Var { item_name, .. } | Iteration::Matrix { item_name, .. }
                if !item_name.is_empty() =>
            {
                item_name
            }
            _ => "ITEM",
        }
    }
}

impl Decoder {
    pub(super) fn iteration(&mut self, node: &YamlNode) -> Result<Iteration, DecodeError> {
        match &node.kind {
            YamlKind::Scalar { text, .. } => Ok(Iteration::Files(text.clone())),
            YamlKind::List(items) => Ok(Iteration::List(items.iter().map(YamlNode::value).collect())),
            YamlKind::Map(_) => {
                let mut fields = self.fields(node, "for", &["matrix", "var", "split", "as"])?;
                let rows = fields.part("matrix", |n| self.matrix(n)).unwrap_or_default();
                let name = fields.string("var");
                let split = fields.string("split");
                let item_name = fields.string("as");
                fields.finish()?;
                match (name.is_empty(), rows.is_empty()) {
                    (true, true) => Err(DecodeError::new(node, "invalid keys in for")),
                    (false, false) => Err(DecodeError::new(node, "cannot use both var and matrix in for")),
                    (false, true) => Ok(Iteration::Var { name, split, item_name }),
                    (true, false) => Ok(Iteration::Matrix { rows, item_name }),
                }
            }
        }
    }

    fn matrix(&mut self, node: &YamlNode) -> Result<IndexMap<String, MatrixRow>, DecodeError> {
        let entries = node.entries().ok_or_else(|| DecodeError::kind(node, "matrix"))?;
        let mut rows = IndexMap::new();
        for (key, value) in entries {
            let row = match &value.kind {
                YamlKind::List(items) => MatrixRow::Values(items.iter().map(YamlNode::value).collect()),
                YamlKind::Map(_) => {
                    let mut fields = self.fields(value, "matrix", &["ref"])?;
                    let reference = fields.string("ref");
                    fields.finish()?;
                    MatrixRow::Reference(reference)
                }
                YamlKind::Scalar { .. } => {
                    return Err(DecodeError::new(value, "matrix values must be an array or a reference"));
                }
            };
            rows.insert(key.key().to_owned(), row);
        }
        Ok(rows)
    }
}
