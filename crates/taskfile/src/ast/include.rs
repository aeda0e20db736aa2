//! An included Taskfile.

use crate::yaml::{YamlKind, YamlNode};

use super::decode::{DecodeError, Decoder};
use super::var::Vars;

#[derive(Debug, Clone, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the format")]
pub struct Include {
    pub namespace: String,
    pub taskfile: String,
    pub dir: String,
    pub optional: bool,
    pub internal: bool,
    pub flatten: bool,
    pub aliases: Vec<String>,
    pub excludes: Vec<String>,
    pub vars: Vars,
    pub checksum: String,
    /// Written as a map; `dir` and `vars` apply only then.
    pub advanced: bool,
}

const KEYS: &[&str] =
    &["taskfile", "dir", "optional", "internal", "flatten", "aliases", "excludes", "vars", "checksum"];

impl Decoder {
    pub(super) fn includes(&mut self, node: &YamlNode) -> Result<Vec<Include>, DecodeError> {
        let entries = node.entries().ok_or_else(|| DecodeError::kind(node, "includes"))?;
        let mut includes: Vec<Include> = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let include = Include { namespace: key.key().to_owned(), ..self.include(value)? };
            match includes.iter_mut().find(|i| i.namespace == include.namespace) {
                Some(earlier) => *earlier = include,
                None => includes.push(include),
            }
        }
        Ok(includes)
    }

    fn include(&mut self, node: &YamlNode) -> Result<Include, DecodeError> {
        match &node.kind {
            YamlKind::Scalar { .. } if node.is_null() => {
                Err(DecodeError::new(node, "include must specify taskfile or dir"))
            }
            YamlKind::Scalar { text, .. } => Ok(Include { taskfile: text.clone(), ..Include::default() }),
            YamlKind::List(_) => Err(DecodeError::kind(node, "include")),
            YamlKind::Map(_) => {
                let mut fields = self.fields(node, "include", KEYS)?;
                let include = Include {
                    namespace: String::new(),
                    taskfile: fields.string("taskfile"),
                    dir: fields.string("dir"),
                    optional: fields.bool("optional"),
                    internal: fields.bool("internal"),
                    flatten: fields.bool("flatten"),
                    aliases: fields.strings("aliases"),
                    excludes: fields.strings("excludes"),
                    vars: fields.part("vars", |n| self.vars(n)).unwrap_or_default(),
                    checksum: fields.string("checksum"),
                    advanced: true,
                };
                fields.finish()?;
                if include.taskfile.is_empty() && include.dir.is_empty() {
                    return Err(DecodeError::new(node, "include must specify taskfile or dir"));
                }
                Ok(include)
            }
        }
    }
}
