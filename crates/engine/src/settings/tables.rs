//! The small tables of the settings file.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::str::FromStr;
use std::time::Duration;

use baton_core::base::accept_policy::AcceptPolicy;
use baton_core::base::text::AgentName;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::git::Setup;
use crate::settings::fence::FenceSettings;
use crate::settings::permissions::PermissionSettings;
use crate::settings::webhook::Webhook;
use crate::settings::{POLICIES, at_least_one};

/// `[roles.NAME]`
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RoleSettings {
    /// The agent for this role. Roles are `implement`, `review`, `breakdown`, `plan`, `execute`, and any that a recipe
    /// names.
    #[schemars(with = "Option<String>")]
    pub agent: Option<AgentName>,
    /// How many agents of this role may run at once.
    pub max: Option<u32>,
    /// Overrides the agent's `max_turns`. For the role `breakdown` the default is 20: 15 to look around, 5 to plan.
    pub max_turns: Option<u32>,
    /// Overrides the agent's `permissions`.
    #[serde(skip_serializing)]
    pub permissions: PermissionSettings,
    #[serde(flatten, skip_serializing)]
    pub fence: FenceSettings,
}

/// `[notify]`
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NotifySettings {
    /// The program to run for each notice, and its arguments. It gets the notice on standard input, as one JSON object.
    pub command: Vec<String>,
    /// The URL each notice is posted to: `https://HOST/PATH` or `http://HOST:PORT/PATH`.
    #[serde(deserialize_with = "webhook")]
    #[schemars(with = "Option<String>")]
    pub webhook: Option<Webhook>,
}

fn webhook<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Webhook>, D::Error> {
    let address = String::deserialize(deserializer)?;
    Webhook::from_str(&address).map(Some).map_err(serde::de::Error::custom)
}

/// A set-up fetches and builds what the project needs.
const SETUP_SECONDS: NonZeroU64 = at_least_one(15 * 60);

/// `[worktree]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorktreeSettings {
    /// Paths of untracked files in your checkout, such as `.env`, to copy into each worktree.
    pub copy: Vec<String>,
    /// Folders of your checkout, such as `node_modules`, `target` or `.venv`, to bring into each worktree, so that agents need
    /// not make them again: by reflink where the file system can, else by copy.
    pub reuse: Vec<String>,
    /// Whether files of `reuse` may be hard links where there are no reflinks. Fast, but a program that writes into such a
    /// file in place changes yours, too; package folders that are only read are safe.
    pub reuse_links: bool,
    /// A user task to run in each new worktree before the agent starts.
    pub setup: Option<String>,
    /// How long that may take, in seconds; one that takes longer has failed.
    pub setup_seconds: NonZeroU64,
    /// User tasks that keep running beside the agent, in its fence, until its attempt ends: a development server, for example.
    /// The first is linked on the task's page if there is a port `PORT` in `values`, any other by `NAME_PORT`.
    pub services: Vec<String>,
    /// A user task to run in a worktree before it is removed, with its `values`: to drop a database, for example. If it fails,
    /// the worktree stays, and is tried again.
    pub cleanup: Option<String>,
    /// Values that every task has alone on this machine, by the name of the variable its agent, set-up, checks, user tasks
    /// and hooks get: `PORT = { port = 3000 }`, the first free port from there; `DB = { name = "app" }`, `app_1`, `app_2` and so
    /// on. A task keeps them until it ends.
    #[serde(deserialize_with = "values")]
    pub values: BTreeMap<String, ValueWish>,
    /// Whether to fetch submodules too, which may need the network.
    pub submodules: bool,
    /// How many MiB a worktree may take before its agent is stopped and you are asked whether it may go on; 0 never asks.
    pub max_mb: u64,
    /// How many MiB an agent may print in one run before it is stopped and you are asked whether it may go on; 0 never asks.
    /// How much of that is kept is said by `[retention] log_mb`.
    pub max_log_mb: u64,
    /// How many worktrees of each repository to prepare in advance, so that agents start at once; no more than `max_agents`.
    /// Each takes as much space as a checkout.
    pub spares: u32,
}

impl Default for WorktreeSettings {
    fn default() -> Self {
        Self {
            copy: Vec::new(),
            reuse: Vec::new(),
            reuse_links: false,
            setup: None,
            setup_seconds: SETUP_SECONDS,
            services: Vec::new(),
            cleanup: None,
            values: BTreeMap::new(),
            submodules: false,
            max_mb: 20_480,
            max_log_mb: 1_024,
            spares: 1,
        }
    }
}

impl WorktreeSettings {
    pub(crate) const fn setup_timeout(&self) -> Duration {
        Duration::from_secs(self.setup_seconds.get())
    }

    /// What a fresh clone gets.
    pub(crate) fn for_clone(&self) -> Setup {
        Setup {
            copy: self.copy.iter().map(Into::into).collect(),
            reuse: self.reuse.iter().map(Into::into).collect(),
            reuse_links: self.reuse_links,
            submodules: self.submodules,
        }
    }
}

/// What kind of value a task needs for itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ValueWish {
    /// the first free port from this one on
    Port(u16),
    /// this and a number
    Name(String),
}

/// Variables by which the loader, a shell, git or a language runs code of somebody's choice.
fn decides_what_runs(variable: &str) -> bool {
    const PREFIXES: [&str; 10] =
        ["LD_", "DYLD_", "GLIBC_", "GIT_", "BASH_", "PYTHON", "PERL", "RUBY", "NODE_", "SSH_"];
    const NAMES: [&str; 10] = [
        "ENV",
        "IFS",
        "SHELL",
        "SHELLOPTS",
        "PS4",
        "PROMPT_COMMAND",
        "ZDOTDIR",
        "EDITOR",
        "PAGER",
        "JAVA_TOOL_OPTIONS",
    ];
    let variable = variable.to_ascii_uppercase();
    NAMES.contains(&variable.as_str()) || PREFIXES.iter().any(|prefix| variable.starts_with(prefix))
}

fn values<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, ValueWish>, D::Error> {
    let values = BTreeMap::<String, ValueWish>::deserialize(deserializer)?;
    let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    for (variable, wish) in &values {
        if variable.is_empty() || !is_word(variable) || variable.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(serde::de::Error::custom(format!("\"{variable}\" is not the name of a variable")));
        }
        if variable.starts_with("BATON_") || variable == "PATH" || variable == "HOME" {
            return Err(serde::de::Error::custom(format!("{variable} is set by Baton")));
        }
        if decides_what_runs(variable) {
            return Err(serde::de::Error::custom(format!(
                "{variable} decides what other programs run; choose a name of your own"
            )));
        }
        if matches!(wish, ValueWish::Name(stem) if stem.is_empty() || !is_word(stem)) {
            return Err(serde::de::Error::custom(format!(
                "the name for {variable} may have letters, digits and _ only"
            )));
        }
    }
    Ok(values)
}

/// `[recycle]`, or `recycle = "MODE"` for its mode alone
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecycleSettings {
    /// What happens to tasks that are too large.
    #[schemars(default = "automatic")]
    pub mode: RecyclePolicy,
    /// Who starts the agent that plans smaller tasks for them. You approve the plan either way.
    #[schemars(default = "auto")]
    pub plan: PlanPolicy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecyclePolicy {
    /// they are recycled automatically
    Automatic,
    /// they wait for `baton accept --recycle` or `baton recycle`; a third rejection recycles a task in either mode
    Manual,
}

/// What one project decides otherwise than its repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProjectSettings {
    /// Who accepts the finished work of this project, as the setting of the same name for all.
    #[schemars(with = "Option<String>", extend("enum" = POLICIES))]
    pub accept_when: Option<AcceptPolicy>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartOn {
    /// once their work has landed
    Done,
    /// as soon as their work is accepted: the task starts on it, and lands after it
    Landing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanPolicy {
    /// Baton, at once
    Auto,
    /// a person, with `baton breakdown run`
    Person,
}

const fn automatic() -> RecyclePolicy {
    RecyclePolicy::Automatic
}

const fn auto() -> PlanPolicy {
    PlanPolicy::Auto
}

impl Default for RecycleSettings {
    fn default() -> Self {
        Self { mode: automatic(), plan: auto() }
    }
}

impl<'de> Deserialize<'de> for RecycleSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Table {
            #[serde(default = "automatic")]
            mode: RecyclePolicy,
            #[serde(default = "auto")]
            plan: PlanPolicy,
        }
        let written = toml::Value::deserialize(deserializer)?;
        let read = if written.is_str() {
            RecyclePolicy::deserialize(written).map(|mode| Self { mode, plan: auto() })
        } else {
            Table::deserialize(written).map(|Table { mode, plan }| Self { mode, plan })
        };
        read.map_err(serde::de::Error::custom)
    }
}

/// `[telemetry]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TelemetrySettings {
    /// The URL of a collector that receives traces by OTLP over HTTP: `http://HOST:4318` or `https://HOST`.
    /// `OTEL_EXPORTER_OTLP_ENDPOINT` sets the same with lower precedence.
    pub otlp: Option<String>,
}

/// `[person]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PersonSettings {
    /// The name your actions are recorded under. Without it, your login name.
    pub name: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_a_name_that_no_other_program_goes_by() {
        let read = |name: &str| {
            toml::from_str::<WorktreeSettings>(&format!("[values]\n{name} = {{ name = \"x\" }}\n"))
        };
        for name in ["PORT", "DB", "APP_NAME", "ENVIRONMENT", "LDAP_URL"] {
            assert!(read(name).is_ok(), "{name}");
        }
        for name in
            ["LD_PRELOAD", "ld_library_path", "BASH_ENV", "ENV", "GIT_SSH_COMMAND", "NODE_OPTIONS", "HOME"]
        {
            assert!(read(name).is_err(), "{name}");
        }
    }
}
