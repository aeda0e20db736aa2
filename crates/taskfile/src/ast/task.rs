//! A task as written.

use std::sync::Arc;

use indexmap::IndexMap;

use crate::yaml::{Position, YamlKind, YamlNode};

use super::command::{CommandAst, Dependency};
use super::decode::{DecodeError, Decoder};
use super::parts::{Glob, Precondition, RequiredVar};
use super::platform::Platform;
use super::var::Vars;

/// Where a task is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskLocation {
    pub taskfile: String,
    pub position: Position,
}

#[derive(Debug, Clone, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the format")]
pub struct TaskAst {
    pub name: String,
    pub commands: Vec<CommandAst>,
    pub deps: Vec<Dependency>,
    pub label: String,
    pub desc: String,
    pub prompts: Vec<String>,
    pub summary: String,
    pub aliases: Vec<String>,
    pub sources: Vec<Glob>,
    pub generates: Vec<Glob>,
    pub status: Vec<String>,
    pub preconditions: Vec<Precondition>,
    pub requires: Vec<RequiredVar>,
    pub dir: String,
    pub set: Vec<String>,
    pub shopt: Vec<String>,
    pub vars: Vars,
    pub env: Vars,
    pub dotenv: Vec<String>,
    pub silent: Option<bool>,
    pub interactive: bool,
    pub internal: bool,
    pub method: String,
    pub prefix: String,
    pub ignore_error: bool,
    pub run: String,
    pub platforms: Vec<Platform>,
    pub condition: String,
    pub watch: bool,
    pub failfast: bool,
    pub use_gitignore: Option<bool>,
    pub location: TaskLocation,
    // Added by includes, from the innermost to the root.
    pub namespace: String,
    pub include_vars: Vars,
    /// Shared by all tasks of a file.
    pub included_taskfile_vars: Arc<Vars>,
}

#[rustfmt::skip]
const KEYS: &[&str] = &[
    "cmds", "cmd", "deps", "label", "desc", "prompt", "summary", "aliases", "sources", "generates",
    "status", "preconditions", "dir", "set", "shopt", "vars", "env", "dotenv", "silent", "interactive",
    "internal", "method", "prefix", "ignore_error", "run", "platforms", "if", "requires", "watch",
    "failfast", "use_gitignore",
];

impl Decoder {
    pub(super) fn tasks(&mut self, node: &YamlNode) -> Result<IndexMap<String, TaskAst>, DecodeError> {
        let entries = node.entries().ok_or_else(|| DecodeError::kind(node, "tasks"))?;
        let mut tasks = IndexMap::with_capacity(entries.len());
        for (key, value) in entries {
            let mut task = self.task(value)?;
            key.key().clone_into(&mut task.name);
            task.location.position = key.position;
            tasks.insert(task.name.clone(), task);
        }
        Ok(tasks)
    }

    fn task(&mut self, node: &YamlNode) -> Result<TaskAst, DecodeError> {
        match &node.kind {
            YamlKind::Scalar { .. } if node.is_null() => Ok(TaskAst::default()),
            YamlKind::Scalar { text, .. } => {
                Ok(TaskAst { commands: vec![CommandAst::shell(text.clone())], ..TaskAst::default() })
            }
            YamlKind::List(items) => {
                let commands = items
                    .iter()
                    .filter(|i| !i.is_null())
                    .map(|i| self.command(i))
                    .collect::<Result<_, _>>()?;
                Ok(TaskAst { commands, ..TaskAst::default() })
            }
            YamlKind::Map(_) => self.task_map(node),
        }
    }

    fn task_map(&mut self, node: &YamlNode) -> Result<TaskAst, DecodeError> {
        let mut fields = self.fields(node, "task", KEYS)?;
        let several = fields.list("cmds", "ast.Cmd", |n| self.command(n));
        let single = fields.part("cmd", |n| self.command(n));
        let both = several.is_some() && single.is_some();
        let requires = self.requires(&mut fields);
        let task = TaskAst {
            commands: several.or_else(|| single.map(|c| vec![c])).unwrap_or_default(),
            deps: fields.list("deps", "ast.Dep", |n| self.dependency(n)).unwrap_or_default(),
            label: fields.string("label"),
            desc: fields.string("desc"),
            prompts: fields.part("prompt", prompts).unwrap_or_default(),
            summary: fields.string("summary"),
            aliases: fields.strings("aliases"),
            sources: fields.list("sources", "ast.Glob", |n| self.glob(n)).unwrap_or_default(),
            generates: fields.list("generates", "ast.Glob", |n| self.glob(n)).unwrap_or_default(),
            status: fields.strings("status"),
            preconditions: fields
                .list("preconditions", "ast.Precondition", |n| self.precondition(n))
                .unwrap_or_default(),
            requires,
            dir: fields.string("dir"),
            set: fields.strings("set"),
            shopt: fields.strings("shopt"),
            vars: fields.part("vars", |n| self.vars(n)).unwrap_or_default(),
            env: fields.part("env", |n| self.vars(n)).unwrap_or_default(),
            dotenv: fields.strings("dotenv"),
            silent: fields.optional_bool("silent"),
            interactive: fields.bool("interactive"),
            internal: fields.bool("internal"),
            method: fields.string("method"),
            prefix: fields.string("prefix"),
            ignore_error: fields.bool("ignore_error"),
            run: fields.string("run"),
            platforms: fields.list("platforms", "ast.Platform", |n| self.platform(n)).unwrap_or_default(),
            condition: fields.string("if"),
            watch: fields.bool("watch"),
            failfast: fields.bool("failfast"),
            use_gitignore: fields.optional_bool("use_gitignore"),
            ..TaskAst::default()
        };
        fields.finish()?;
        if both {
            return Err(DecodeError::new(node, "task cannot have both cmd and cmds"));
        }
        Ok(task)
    }
}

/// One prompt or several.
fn prompts(node: &YamlNode) -> Result<Vec<String>, DecodeError> {
    match &node.kind {
        YamlKind::Scalar { text, .. } => Ok(vec![text.clone()]),
        YamlKind::List(items) => Ok(items.iter().filter_map(|i| i.text().map(str::to_owned)).collect()),
        YamlKind::Map(_) => Err(DecodeError::kind(node, "prompt")),
    }
}
