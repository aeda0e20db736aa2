//! A whole Taskfile as written.

use indexmap::IndexMap;

use crate::yaml::{YamlKind, YamlNode};

use super::decode::{DecodeError, Decoder, TaskfileWarning};
use super::include::Include;
use super::output::OutputStyle;
use super::task::TaskAst;
use super::var::Vars;
use super::version::SchemaVersion;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskfileAst {
    /// The path of the file.
    pub location: String,
    pub version: Option<SchemaVersion>,
    pub output: OutputStyle,
    pub method: String,
    pub includes: Vec<Include>,
    pub set: Vec<String>,
    pub shopt: Vec<String>,
    pub vars: Vars,
    pub env: Vars,
    pub tasks: IndexMap<String, TaskAst>,
    pub silent: bool,
    pub dotenv: Vec<String>,
    pub run: String,
    pub use_gitignore: bool,
}

#[rustfmt::skip]
const KEYS: &[&str] = &[
    "version", "output", "method", "includes", "set", "shopt", "vars", "env", "tasks", "silent",
    "dotenv", "run", "interval", "use_gitignore",
];

impl TaskfileAst {
    /// Decodes a document; a missing one is an empty Taskfile.
    pub fn decode(
        root: Option<&YamlNode>,
        location: &str,
    ) -> Result<(TaskfileAst, Vec<TaskfileWarning>), DecodeError> {
        let mut decoder = Decoder::default();
        let mut file = match root {
            Some(node) if !node.is_null() => decoder.taskfile(node)?,
            _ => TaskfileAst::default(),
        };
        location.clone_into(&mut file.location);
        for task in file.tasks.values_mut() {
            location.clone_into(&mut task.location.taskfile);
            // The file's setting is the default for its tasks.
            task.use_gitignore = task.use_gitignore.or(Some(file.use_gitignore));
        }
        Ok((file, decoder.warnings))
    }
}

impl Decoder {
    fn taskfile(&mut self, node: &YamlNode) -> Result<TaskfileAst, DecodeError> {
        if !matches!(node.kind, YamlKind::Map(_)) {
            return Err(DecodeError::kind(node, "taskfile"));
        }
        let mut fields = self.fields(node, "taskfile", KEYS)?;
        let version = fields.optional_string("version");
        let file = TaskfileAst {
            location: String::new(),
            version: version.as_deref().and_then(SchemaVersion::parse),
            output: fields.part("output", |n| self.output(n)).unwrap_or_default(),
            method: fields.string("method"),
            includes: fields.part("includes", |n| self.includes(n)).unwrap_or_default(),
            set: fields.strings("set"),
            shopt: fields.strings("shopt"),
            vars: fields.part("vars", |n| self.vars(n)).unwrap_or_default(),
            env: fields.part("env", |n| self.vars(n)).unwrap_or_default(),
            tasks: fields.part("tasks", |n| self.tasks(n)).unwrap_or_default(),
            silent: fields.bool("silent"),
            dotenv: fields.strings("dotenv"),
            run: fields.string("run"),
            use_gitignore: fields.bool("use_gitignore"),
        };
        if version.is_some() && file.version.is_none() {
            return Err(DecodeError::new(node, "invalid semantic version"));
        }
        fields.finish()?;
        Ok(file)
    }
}
