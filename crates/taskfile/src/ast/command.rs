//! The commands and dependencies of a task.

use std::time::Duration;

use crate::go::time::parse_timeout;
use crate::yaml::{YamlKind, YamlNode};

use super::decode::{DecodeError, Decoder, MapFields};
use super::iteration::Iteration;
use super::platform::Platform;
use super::var::Vars;

/// What a command does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    Shell(String),
    Call { task: String, vars: Vars },
}

#[derive(Debug, Clone, PartialEq)]
pub struct CommandAst {
    pub action: Action,
    pub iteration: Option<Iteration>,
    pub condition: String,
    pub silent: bool,
    pub set: Vec<String>,
    pub shopt: Vec<String>,
    pub ignore_error: bool,
    /// Runs when the task ends, successfully or not, in reverse order.
    pub deferred: bool,
    pub platforms: Vec<Platform>,
    pub timeout: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Dependency {
    pub task: String,
    pub vars: Vars,
    pub iteration: Option<Iteration>,
    pub silent: bool,
    pub timeout: Option<Duration>,
    pub condition: String,
}

#[rustfmt::skip]
const COMMAND_KEYS: &[&str] = &[
    "cmd", "task", "for", "silent", "set", "shopt", "vars", "ignore_error", "defer", "platforms", "if",
    "timeout",
];
const DEFER_KEYS: &[&str] = &["cmd", "task", "vars", "silent"];
const DEPENDENCY_KEYS: &[&str] = &["task", "for", "vars", "silent", "timeout", "if"];

impl CommandAst {
    pub fn shell(text: impl Into<String>) -> CommandAst {
        CommandAst::from_action(Action::Shell(text.into()))
    }

    fn from_action(action: Action) -> CommandAst {
        CommandAst {
            action,
            iteration: None,
            condition: String::new(),
            silent: false,
            set: Vec::new(),
            shopt: Vec::new(),
            ignore_error: false,
            deferred: false,
            platforms: Vec::new(),
            timeout: None,
        }
    }
}

impl Decoder {
    pub(super) fn command(&mut self, node: &YamlNode) -> Result<CommandAst, DecodeError> {
        match &node.kind {
            YamlKind::Scalar { text, .. } => Ok(CommandAst::shell(text.clone())),
            YamlKind::List(_) => Err(DecodeError::kind(node, "command")),
            YamlKind::Map(_) => self.command_map(node),
        }
    }

    fn command_map(&mut self, node: &YamlNode) -> Result<CommandAst, DecodeError> {
        let mut fields = self.fields(node, "command", COMMAND_KEYS)?;
        let shell = fields.string("cmd");
        let task = fields.string("task");
        let mut command = CommandAst {
            iteration: fields.part("for", |n| self.iteration(n)),
            condition: fields.string("if"),
            silent: fields.bool("silent"),
            set: fields.strings("set"),
            shopt: fields.strings("shopt"),
            ignore_error: fields.bool("ignore_error"),
            platforms: fields.list("platforms", "ast.Platform", |n| self.platform(n)).unwrap_or_default(),
            ..CommandAst::shell("")
        };
        let vars = fields.part("vars", |n| self.vars(n)).unwrap_or_default();
        let deferred = fields.part("defer", |n| self.deferred(n));
        let timeout = timeout(&mut fields, node);
        fields.finish()?;
        command.timeout = timeout?;
        if let Some((action, silent)) = deferred {
            let silent = silent || (command.silent && matches!(action, Action::Shell(_)));
            return Ok(CommandAst {
                deferred: true,
                silent,
                timeout: command.timeout,
                ..CommandAst::from_action(action)
            });
        }
        command.action = match (task.is_empty(), shell.is_empty()) {
            (false, _) => Action::Call { task, vars },
            (true, false) => Action::Shell(shell),
            (true, true) => return Err(DecodeError::new(node, "invalid keys in command")),
        };
        Ok(command)
    }

    /// The action of a `defer:` and whether it is silent.
    fn deferred(&mut self, node: &YamlNode) -> Result<(Action, bool), DecodeError> {
        match &node.kind {
            YamlKind::Scalar { text, .. } => Ok((Action::Shell(text.clone()), false)),
            YamlKind::List(_) => Err(DecodeError::kind(node, "defer")),
            YamlKind::Map(_) => {
                let mut fields = self.fields(node, "defer", DEFER_KEYS)?;
                let shell = fields.string("cmd");
                let task = fields.string("task");
                let vars = fields.part("vars", |n| self.vars(n)).unwrap_or_default();
                let silent = fields.bool("silent");
                fields.finish()?;
                let action =
                    if shell.is_empty() { Action::Call { task, vars } } else { Action::Shell(shell) };
                Ok((action, silent))
            }
        }
    }

    pub(super) fn dependency(&mut self, node: &YamlNode) -> Result<Dependency, DecodeError> {
        match &node.kind {
            YamlKind::Scalar { text, .. } => Ok(Dependency {
                task: text.clone(),
                vars: Vars::new(),
                iteration: None,
                silent: false,
                timeout: None,
                condition: String::new(),
            }),
            YamlKind::List(_) => Err(DecodeError::kind(node, "dependency")),
            YamlKind::Map(_) => {
                let mut fields = self.fields(node, "dependency", DEPENDENCY_KEYS)?;
                let mut dependency = Dependency {
                    task: fields.string("task"),
                    vars: fields.part("vars", |n| self.vars(n)).unwrap_or_default(),
                    iteration: fields.part("for", |n| self.iteration(n)),
                    silent: fields.bool("silent"),
                    condition: fields.string("if"),
                    timeout: None,
                };
                let timeout = timeout(&mut fields, node);
                fields.finish()?;
                dependency.timeout = timeout?;
                Ok(dependency)
            }
        }
    }
}

fn timeout(fields: &mut MapFields<'_>, node: &YamlNode) -> Result<Option<Duration>, DecodeError> {
    let Some(text) = fields.optional_string("timeout") else { return Ok(None) };
    match parse_timeout(&text) {
        Some(limit) => Ok(Some(limit).filter(|l| !l.is_zero())),
        None => Err(DecodeError::new(node, "invalid timeout format")),
    }
}
