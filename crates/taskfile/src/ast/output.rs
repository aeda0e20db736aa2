//! The output style of a Taskfile.

use crate::yaml::{YamlKind, YamlNode};

use super::decode::{DecodeError, Decoder};

/// An output style as written; the name is checked when it is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputStyle {
    pub name: String,
    pub group_begin: String,
    pub group_end: String,
    pub group_error_only: bool,
}

impl OutputStyle {
    pub fn is_set(&self) -> bool {
        !self.name.is_empty()
    }
}

impl Decoder {
    pub(super) fn output(&mut self, node: &YamlNode) -> Result<OutputStyle, DecodeError> {
        match &node.kind {
            YamlKind::Scalar { text, .. } => Ok(OutputStyle { name: text.clone(), ..OutputStyle::default() }),
            YamlKind::List(_) => Err(DecodeError::kind(node, "output")),
            YamlKind::Map(_) => {
                let outer = self.fields(node, "output", &["group"])?;
                let Some(group) = outer.get("group") else {
                    return Err(DecodeError::new(
                        node,
                        "output style must have the \"group\" key when in mapping form",
                    ));
                };
                let mut fields = self.fields(group, "ast.OutputGroup", &["begin", "end", "error_only"])?;
                let style = OutputStyle {
                    name: "group".to_owned(),
                    group_begin: fields.string("begin"),
                    group_end: fields.string("end"),
                    group_error_only: fields.bool("error_only"),
                };
                fields.finish().map_err(|e| DecodeError { position: node.position, ..e })?;
                Ok(style)
            }
        }
    }
}
