//! `[agents.NAME]`: what is started, its limits and its permissions. For a known agent the name is enough.

use std::collections::BTreeMap;
use std::path::Path;

use baton_agents::presets::kind::AgentKind;
use baton_agents::presets::known::PRESETS;
use baton_agents::presets::preset::Preset;
use baton_core::base::text::{AgentName, nearest};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::settings::agent_registry;
use crate::settings::error::did_you_mean;
use crate::settings::fence::FenceSettings;
use crate::settings::permissions::PermissionSettings;

const TURNS_MAX: u32 = 50;
/// An hour: longer than any attempt that still makes progress, shorter than a night.
const TIMEOUT_SECONDS: u64 = 3_600;
/// Ten minutes: a long build prints nothing for a while, a hung agent never does.
const IDLE_TIMEOUT_SECONDS: u64 = 600;
const PARALLEL_MAX: u32 = 16;
/// Of the name of an agent.
const NAME_CHARS_MAX: usize = 64;

/// The settings of one agent, completed from its preset. Its fields are the keys of its table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentSettings {
    pub kind: AgentKind,
    /// Never empty.
    pub command: Vec<String>,
    pub model: Option<String>,
    pub accounts: Vec<AgentName>,
    pub fallback: Vec<AgentName>,
    pub fallback_models: Vec<String>,
    /// The agent that this one is, with another model.
    #[serde(skip)]
    pub model_of: Option<AgentName>,
    pub effort: Option<String>,
    pub max_turns: u32,
    pub env: Vec<String>,
    pub set: BTreeMap<String, String>,
    pub timeout: u64,
    pub idle_timeout: u64,
    pub max: u32,
    #[serde(skip)]
    pub permissions: PermissionSettings,
    #[serde(skip)]
    pub fence: FenceSettings,
}

/// One agent as the file has it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct AgentTable {
    /// How Baton talks to the agent. Not needed for a known agent.
    #[serde(deserialize_with = "kind")]
    #[schemars(with = "Option<String>", extend("enum" = AgentKind::ALL.map(AgentKind::as_str)))]
    kind: Option<AgentKind>,
    /// The program and its arguments; for `scripted`, the script. Not needed for a known agent.
    command: Option<Vec<String>>,
    /// The model, for agents that let it be chosen.
    model: Option<String>,
    /// The accounts it works on, in this order; each is a table `[accounts.NAME]`. A limit of one moves its work to the next.
    #[schemars(with = "Vec<String>")]
    accounts: Vec<AgentName>,
    /// Agents that take its work while none of its accounts does. They do not pass it on to their own.
    #[schemars(with = "Vec<String>")]
    fallback: Vec<AgentName>,
    /// Models that take its work while its own does not, in this order and before other agents. Each is an agent of its own with
    /// these settings, by the name of the agent and the model: `claude-sonnet`.
    fallback_models: Vec<String>,
    /// How much the model thinks, for agents that let it be chosen: mostly `low`, `medium` or `high`.
    effort: Option<String>,
    /// How many tool calls one attempt may make. The next one ends it.
    max_turns: u32,
    /// Names of environment variables the agent may see, in addition to the usual ones and those it is known to need.
    env: Vec<String>,
    /// Environment variables the agent is started with, and their values. Not for secrets: name those in `env`.
    set: BTreeMap<String, String>,
    /// How many seconds one attempt may take.
    timeout: u64,
    /// How many seconds the agent may print nothing.
    idle_timeout: u64,
    /// How many of this agent may run at once.
    max: u32,
    /// What the agent may do without asking, unless its role says otherwise. In the table, `allow`, `ask` and `deny` are
    /// lists of command prefixes or of `kind:` followed by `read`, `edit`, `delete`, `move`, `search`, `execute`,
    /// `think`, `fetch` or `other`; `otherwise` applies to everything else.
    permissions: PermissionSettings,
    #[serde(flatten)]
    fence: FenceSettings,
}

impl Default for AgentTable {
    fn default() -> Self {
        Self {
            kind: None,
            command: None,
            model: None,
            accounts: Vec::new(),
            fallback: Vec::new(),
            fallback_models: Vec::new(),
            effort: None,
            max_turns: TURNS_MAX,
            env: Vec::new(),
            set: BTreeMap::new(),
            timeout: TIMEOUT_SECONDS,
            idle_timeout: IDLE_TIMEOUT_SECONDS,
            max: PARALLEL_MAX,
            permissions: PermissionSettings::default(),
            fence: FenceSettings::default(),
        }
    }
}

impl AgentTable {
    /// Completes the table from the preset of that name.
    fn resolve(self, name: &str) -> Result<AgentSettings, String> {
        let preset = Preset::by_name(name);
        // What the table itself says needs no registry.
        let listed = match (&preset, self.kind, &self.command) {
            (None, None | Some(AgentKind::Acp), None) => agent_registry::find(name)?,
            _ => None,
        };
        let known = preset.map(|preset| preset.kind).or(listed.as_ref().map(|_| AgentKind::Acp));
        let Some(kind) = self.kind.or(known) else {
            let hint = nearest_known(name).map(|known| format!(", or did you mean \"{known}\"?"));
            return Err(format!("[agents.{name}] needs a kind{}", hint.unwrap_or_default()));
        };
        let (listed_command, mut set) = listed.map(|agent| (agent.command, agent.set)).unzip();
        let command = self.command.or(listed_command).unwrap_or_else(|| {
            default_command(kind, preset).iter().map(|&argument| argument.to_owned()).collect()
        });
        if command.first().is_none_or(|program| program.trim().is_empty()) {
            return Err(format!("[agents.{name}] needs a command: the program to start, and its arguments"));
        }
        let mut set = set.take().unwrap_or_default();
        set.extend(self.set);
        Ok(AgentSettings {
            kind,
            command,
            set,
            model: self.model,
            accounts: self.accounts,
            fallback: self.fallback,
            fallback_models: self.fallback_models,
            model_of: None,
            effort: self.effort,
            max_turns: self.max_turns,
            env: self.env,
            timeout: self.timeout,
            idle_timeout: self.idle_timeout,
            max: self.max,
            permissions: self.permissions,
            fence: self.fence,
        })
    }
}

impl AgentSettings {
    /// Whether its program (for `scripted`, its script) exists on this machine. It may still fail to run.
    pub fn is_installed(&self) -> bool {
        let first = self.command.first().map(String::as_str).unwrap_or_default();
        match self.kind {
            AgentKind::Scripted => Path::new(first).is_file(),
            AgentKind::Acp | AgentKind::Claude | AgentKind::Codex | AgentKind::Command => is_program(first),
        }
    }

    /// The settings of a known agent without a table. None if the name is not known.
    pub fn known(name: &str) -> Option<Self> {
        AgentTable::default().resolve(name).ok()
    }

    /// The same agent with each of its fallback models, by name.
    pub(super) fn with_fallback_models(&self, name: &AgentName) -> Vec<(AgentName, Self)> {
        let with = |model: &String| {
            let other = Self {
                model: Some(model.clone()),
                model_of: Some(name.clone()),
                fallback: Vec::new(),
                fallback_models: Vec::new(),
                ..self.clone()
            };
            Some((with_model(name, model)?, other))
        };
        self.fallback_models.iter().filter_map(with).collect()
    }

    pub fn preset(&self) -> Preset {
        Preset::for_command(self.kind, &self.command)
    }

    /// Whether it has sessions of its own and gets Baton's tools by its protocol.
    pub const fn has_sessions(&self) -> bool {
        match self.kind {
            AgentKind::Acp | AgentKind::Claude | AgentKind::Codex => true,
            AgentKind::Command | AgentKind::Scripted => false,
        }
    }
}

/// The name of an agent with another model. None where nothing of the model can be in a name.
fn with_model(agent: &AgentName, model: &str) -> Option<AgentName> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { '-' };
    let model: String = model.chars().map(plain).collect();
    let model = model.trim_matches('-');
    let name = format!("{agent}-{model}");
    (!model.is_empty()).then(|| name.chars().take(NAME_CHARS_MAX).collect::<String>().parse().ok()).flatten()
}

fn default_command(kind: AgentKind, preset: Option<&Preset>) -> &'static [&'static str] {
    match (preset, kind) {
        (Some(preset), _) if preset.kind == kind => preset.command,
        (_, AgentKind::Claude) => &["claude"],
        (_, AgentKind::Codex) => &["codex"],
        (_, AgentKind::Acp | AgentKind::Command | AgentKind::Scripted) => &[],
    }
}

/// The names of the agents that Baton knows by itself.
pub fn known_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.name)
}

/// The known agent whose name is nearest to a mistyped one.
pub fn nearest_known(name: &str) -> Option<&'static str> {
    nearest(name, known_names())
}

/// Deserializes all agents and completes each from its preset.
pub(super) fn resolve_all<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<AgentName, AgentSettings>, D::Error> {
    let tables: BTreeMap<AgentName, AgentTable> = BTreeMap::deserialize(deserializer)?;
    let resolve = |(name, table): (AgentName, AgentTable)| {
        let settings = table.resolve(name.as_str()).map_err(D::Error::custom)?;
        Ok((name, settings))
    };
    tables.into_iter().map(resolve).collect()
}

fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<AgentKind>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if let Some(kind) = AgentKind::ALL.into_iter().find(|kind| kind.as_str() == text) {
        return Ok(Some(kind));
    }
    let names = AgentKind::ALL.map(AgentKind::as_str);
    let hint = did_you_mean(nearest(&text, names));
    Err(D::Error::custom(format!("\"{text}\" is not a kind of agent ({}){hint}", names.join(", "))))
}

fn is_program(name: &str) -> bool {
    if name.contains('/') {
        return Path::new(name).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    !name.is_empty() && std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}
