//! How one agent is set up: what is started, within which limits, and what it may do unasked.
//!
//! What the settings leave out comes from the agent that is known by that name, so a name alone is enough for
//! those. It decides nothing while work goes on.

use std::collections::BTreeMap;
use std::path::Path;

use baton_agents::presets::kind::AgentKind;
use baton_agents::presets::known::PRESETS;
use baton_agents::presets::preset::Preset;
use baton_core::base::text::{AgentName, nearest};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::settings::permissions::PermissionSettings;

/// The keys of `[agents.NAME]`.
pub const KEYS: [&str; 9] =
    ["kind", "command", "model", "max_turns", "env", "timeout", "idle_timeout", "max", "permissions"];

const TURNS_MAX: u32 = 50;
/// An hour: longer than any attempt that still makes progress, shorter than a night.
const TIMEOUT_SECONDS: u64 = 3_600;
/// Ten minutes without a line: a long build is quiet for a while, a hung agent for ever.
const IDLE_TIMEOUT_SECONDS: u64 = 600;
const PARALLEL_MAX: u32 = 16;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentSettings {
    pub kind: AgentKind,
    /// The program and its arguments; for the built-in agent, its script.
    pub command: Vec<String>,
    /// The model, for agents that can be told.
    pub model: Option<String>,
    pub max_turns: u32,
    /// Names of variables the agent may see beside the usual ones.
    pub env: Vec<String>,
    /// Seconds.
    pub timeout: u64,
    /// Seconds without a byte.
    pub idle_timeout: u64,
    /// Of this agent, at once.
    pub max: u32,
    /// What it may do unasked, where its role does not say.
    #[serde(skip)]
    pub permissions: PermissionSettings,
}

/// As it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Written {
    #[serde(deserialize_with = "kind")]
    kind: Option<AgentKind>,
    command: Option<Vec<String>>,
    model: Option<String>,
    max_turns: Option<u32>,
    env: Vec<String>,
    timeout: Option<u64>,
    idle_timeout: Option<u64>,
    max: Option<u32>,
    permissions: PermissionSettings,
}

impl AgentSettings {
    /// Whether what it is started by is on this machine. That it also works is another question.
    pub fn is_found(&self) -> bool {
        let first = self.command.first().map(String::as_str).unwrap_or_default();
        match self.kind {
            // Its program is Baton itself; what it needs is the script.
            AgentKind::Scripted => Path::new(first).is_file(),
            AgentKind::Acp | AgentKind::Claude | AgentKind::Codex | AgentKind::Command => is_program(first),
        }
    }

    /// A known agent with nothing changed. None for a name nobody knows.
    pub fn known(name: &str) -> Option<Self> {
        Preset::by_name(name)?;
        Self::resolved(name, Written::default()).ok()
    }

    /// What is peculiar to it.
    pub fn preset(&self) -> Preset {
        Preset::for_command(self.kind, &self.command)
    }

    /// Whether it keeps sessions of its own and is given Baton's tools by its protocol.
    pub const fn is_talked_with(&self) -> bool {
        match self.kind {
            AgentKind::Acp | AgentKind::Claude | AgentKind::Codex => true,
            AgentKind::Command | AgentKind::Scripted => false,
        }
    }

    fn resolved(name: &str, written: Written) -> Result<Self, String> {
        let preset = Preset::by_name(name);
        let kind = match (written.kind, preset) {
            (Some(kind), _) => kind,
            (None, Some(preset)) => preset.kind,
            (None, None) => return Err(format!("[agents.{name}] needs a kind{}", or_did_you_mean(name))),
        };
        let command = match written.command {
            Some(command) => command,
            None => words(command_of(kind, preset)),
        };
        if command.first().is_none_or(|program| program.trim().is_empty()) {
            return Err(format!("[agents.{name}] needs a command: the program to start, and its arguments"));
        }
        Ok(Self {
            kind,
            command,
            model: written.model,
            max_turns: written.max_turns.unwrap_or(TURNS_MAX),
            env: written.env,
            timeout: written.timeout.unwrap_or(TIMEOUT_SECONDS),
            idle_timeout: written.idle_timeout.unwrap_or(IDLE_TIMEOUT_SECONDS),
            max: written.max.unwrap_or(PARALLEL_MAX),
            permissions: written.permissions,
        })
    }
}

/// The known agent's own command, where it is of that kind; else what such agents are usually called.
fn command_of(kind: AgentKind, preset: Option<&Preset>) -> &'static [&'static str] {
    match (preset, kind) {
        (Some(preset), _) if preset.kind == kind => preset.command,
        (_, AgentKind::Claude) => &["claude"],
        (_, AgentKind::Codex) => &["codex"],
        (_, AgentKind::Acp | AgentKind::Command | AgentKind::Scripted) => &[],
    }
}

fn words(command: &[&str]) -> Vec<String> {
    command.iter().map(|&word| word.to_owned()).collect()
}

/// The name of a known agent that is nearly this one.
pub fn nearest_known(name: &str) -> Option<&'static str> {
    nearest(name, PRESETS.iter().map(|preset| preset.name))
}

fn or_did_you_mean(name: &str) -> String {
    nearest_known(name).map(|known| format!(", or did you mean \"{known}\"?")).unwrap_or_default()
}

/// The tables of all agents, each completed by what is known under its name.
pub fn all<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<AgentName, AgentSettings>, D::Error> {
    let written: BTreeMap<AgentName, Written> = BTreeMap::deserialize(deserializer)?;
    let resolve = |(name, written): (AgentName, Written)| {
        let settings = AgentSettings::resolved(name.as_str(), written).map_err(D::Error::custom)?;
        Ok((name, settings))
    };
    written.into_iter().map(resolve).collect()
}

fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<AgentKind>, D::Error> {
    let word = String::deserialize(deserializer)?;
    let names = AgentKind::ALL.map(AgentKind::as_str);
    match AgentKind::ALL.into_iter().find(|kind| kind.as_str() == word) {
        Some(kind) => Ok(Some(kind)),
        None => Err(D::Error::custom(format!(
            "there is no kind of agent \"{word}\"{} The kinds are {}",
            nearest(&word, names)
                .map_or_else(|| ".".to_owned(), |near| format!("; did you mean \"{near}\"?")),
            names.join(", ")
        ))),
    }
}

fn is_program(name: &str) -> bool {
    if name.contains('/') {
        return Path::new(name).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    !name.is_empty() && std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}
