//! The small tables of the settings file.

use std::str::FromStr;

use baton_core::base::text::AgentName;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::settings::fence::FenceSettings;
use crate::settings::permissions::PermissionSettings;
use crate::settings::webhook::Webhook;

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

/// `[worktree]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorktreeSettings {
    /// Paths of untracked files in your checkout, such as `.env`, to copy into each worktree.
    pub copy: Vec<String>,
    /// A user task to run in each new worktree before the agent starts.
    pub setup: Option<String>,
    /// Whether to fetch submodules too, which may need the network.
    pub submodules: bool,
    /// How many worktrees of each repository to prepare in advance, so that agents start at once. Each takes as much
    /// space as a checkout.
    pub spares: u32,
}

impl Default for WorktreeSettings {
    fn default() -> Self {
        Self { copy: Vec::new(), setup: None, submodules: false, spares: 1 }
    }
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
    /// they wait for `baton accept --recycle` or `baton recycle`
    Manual,
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
