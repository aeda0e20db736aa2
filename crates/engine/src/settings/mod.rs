//! What a person can set, each with a default. An unknown key is an error that names the nearest known one.

pub mod about;
pub mod agents;
mod asking;
pub mod budgets;
mod explained;
mod keys;
pub mod layers;
pub mod permissions;
pub mod place;
pub mod recipes;
#[cfg(test)]
mod reference;
pub mod retention;
pub mod store_address;
pub mod webhook;

use crate::base::error::ErrorKind;
use crate::base::refusals::failure;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use baton_core::base::remote_url::RemoteUrl;
use baton_core::base::text::{AgentName, Role};
use baton_core::schedule::{Capacity, LimitsByKey};
use serde::{Deserialize, Serialize};

use crate::settings::budgets::Budgets;
use crate::settings::layers::Layers;
use crate::settings::permissions::{PermissionSettings, Policy};
use crate::settings::retention::Retention;
use crate::settings::store_address::StoreAddress;
use crate::settings::webhook::Webhook;
use crate::user_tasks::UserTaskSettings;
use crate::user_tasks::checks::Checks;

pub use crate::settings::agents::AgentSettings;
pub use crate::settings::asking::{AskingSettings, Unattended};
pub(crate) use crate::settings::keys::{check_known, leaves};
pub use baton_agents::presets::kind::AgentKind;

/// The whole of `.agent/baton.toml`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    pub default_agent: AgentName,
    #[serde(deserialize_with = "agents::all")]
    pub agents: BTreeMap<AgentName, AgentSettings>,
    pub roles: BTreeMap<Role, RoleSettings>,
    /// Run in the worktree after each attempt; their exit codes are evidence.
    pub checks: Checks,
    /// Agents at work at once, in all.
    pub max_agents: u32,
    /// With this many tasks waiting to be accepted no new one is started.
    pub max_unaccepted: u32,
    /// Tasks of one project at once, over all machines, where the project does not say itself.
    pub max_per_project: Option<u32>,
    /// Tasks that one person asked for at once, over all machines.
    pub max_per_person: Option<u32>,
    /// How long an attempt counts as alive without a sign of life.
    pub lease_seconds: u32,
    /// How a person who is not looking is told.
    pub notify: NotifySettings,
    /// Who answers when nobody is there.
    pub asking: AskingSettings,
    /// Work for these roles only; for all where there are none. Not a setting: a command that runs one loop says so.
    #[serde(skip)]
    pub only_roles: Vec<Role>,
    pub worktree: WorktreeSettings,
    /// How long logs, finished worktrees and old events are kept.
    pub retention: Retention,
    /// Which store to use, where neither the command line nor the environment says.
    pub store: Option<StoreAddress>,
    /// Where the code of work without a project is shared: such work then happens in a clone of it, on any machine.
    pub remote: Option<RemoteUrl>,
    /// Whether tasks that burned out are recycled without being asked.
    pub recycle: RecyclePolicy,
    /// How much a task, a project or a day may use before a person is asked.
    #[serde(skip_serializing)]
    pub budgets: Budgets,
    /// How the commands of `.agent/Taskfile.yml` are run.
    pub user_tasks: UserTaskSettings,
    /// Where `baton up` listens, where the command line does not say.
    pub listen: SocketAddr,
    pub telemetry: TelemetrySettings,
    pub person: PersonSettings,
}

/// `[person]`: who works here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PersonSettings {
    /// Under which name what they do is recorded; the name they are logged in under, where there is none.
    pub name: Option<String>,
}

/// `[telemetry]`: who else is told how requests fare.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TelemetrySettings {
    /// A collector that takes traces by OTLP over HTTP, as `http://host:4318`.
    pub otlp: Option<String>,
}

/// Where people expect it.
const LISTEN_PORT: u16 = 5678;

/// `[worktree]`: what an agent finds in its folder, and how soon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorktreeSettings {
    /// Untracked files of the main checkout, such as `.env`, copied into each worktree.
    pub copy: Vec<String>,
    /// A user task that is run in each fresh worktree before the agent starts.
    pub setup: Option<String>,
    /// Fetch the submodules too. It may need the network.
    pub submodules: bool,
    /// Worktrees of each repository made ahead of time. Each takes as much room as a checkout.
    pub spares: u32,
}

impl Default for WorktreeSettings {
    fn default() -> Self {
        Self { copy: Vec::new(), setup: None, submodules: false, spares: 1 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecyclePolicy {
    /// The recycler sends them to a breakdown by itself.
    Automatic,
    /// They wait for `baton accept --recycle` or `baton recycle`.
    Manual,
}

/// Both may be set; a notice then goes both ways.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NotifySettings {
    /// A program that gets the notice on standard input, as JSON.
    pub command: Vec<String>,
    /// An address the notice is posted to.
    #[serde(deserialize_with = "webhook")]
    pub webhook: Option<Webhook>,
}

fn webhook<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Webhook>, D::Error> {
    let address = String::deserialize(deserializer)?;
    address.parse().map(Some).map_err(serde::de::Error::custom)
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RoleSettings {
    pub agent: Option<AgentName>,
    pub max: Option<u32>,
    pub max_turns: Option<u32>,
    /// What its agents may do unasked; else what the agent's own settings say.
    #[serde(skip_serializing)]
    pub permissions: PermissionSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            default_agent: built_in_agent(),
            agents: BTreeMap::new(),
            roles: BTreeMap::new(),
            checks: Checks::default(),
            max_agents: 4,
            max_unaccepted: 50,
            max_per_project: None,
            max_per_person: None,
            lease_seconds: 30,
            only_roles: Vec::new(),
            notify: NotifySettings::default(),
            asking: AskingSettings::default(),
            worktree: WorktreeSettings::default(),
            retention: Retention::default(),
            store: None,
            remote: None,
            recycle: RecyclePolicy::Automatic,
            budgets: Budgets::default(),
            user_tasks: UserTaskSettings::default(),
            listen: (Ipv4Addr::LOCALHOST, LISTEN_PORT).into(),
            telemetry: TelemetrySettings::default(),
            person: PersonSettings::default(),
        }
    }
}

#[expect(clippy::expect_used, reason = "the name is written here and is a good one")]
fn built_in_agent() -> AgentName {
    "scripted".parse().expect("a name of lower-case letters")
}

/// Settings that cannot be used, and where.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("{path} cannot be read: {source}")]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{path}: {message}")]
    Malformed { path: PathBuf, message: String },
    #[error("{path}: {table} has no setting \"{key}\"{}", hint.as_deref().map(|known| format!("; did you mean \"{known}\"?")).unwrap_or_default())]
    UnknownKey { path: PathBuf, table: String, key: String, hint: Option<String> },
    #[error("{path}: {what} names the agent \"{agent}\", which is neither among [agents] nor known{}", hint.map(|known| format!("; did you mean \"{known}\"?")).unwrap_or_default())]
    UnknownAgent { path: PathBuf, what: String, agent: AgentName, hint: Option<&'static str> },
}

impl Settings {
    /// The roles an agent is configured for, and which agent.
    pub fn served_roles(&self) -> BTreeMap<Role, AgentName> {
        let own = [Role::implement(), Role::breakdown()].into_iter().chain(Role::loop_phases());
        let roles = self.roles.keys().cloned().chain(own);
        roles
            .filter(|role| self.only_roles.is_empty() || self.only_roles.contains(role))
            .filter_map(|role| self.agent_for(&role).map(|(name, _)| (role.clone(), name.clone())))
            .collect()
    }

    /// The settings of a repository, with what variables and the person's own file say; else the defaults.
    pub fn load(path: &Path) -> Result<Self, SettingsError> {
        Layers::find(path)?.settings(path)
    }

    /// What one text says, and nothing else.
    pub fn read(text: &str, path: &Path) -> Result<Self, SettingsError> {
        let mut layers = Layers::default();
        layers.add_text(text, path)?;
        layers.settings(path)
    }

    /// Every agent that is named is set up, or known well enough to need no setting.
    pub(crate) fn find_agents(&mut self, names_default: bool, path: &Path) -> Result<(), SettingsError> {
        let of_roles =
            self.roles.iter().filter_map(|(role, of)| Some((format!("[roles.{role}]"), of.agent.clone()?)));
        let is_default_needed = names_default || !self.agents.is_empty();
        let default = is_default_needed.then(|| ("default_agent".to_owned(), self.default_agent.clone()));
        let named: Vec<(String, AgentName)> = of_roles.chain(default).collect();
        for (what, agent) in named {
            if self.agents.contains_key(&agent) {
                continue;
            }
            let Some(known) = AgentSettings::known(agent.as_str()) else {
                let hint = agents::nearest_known(agent.as_str());
                return Err(SettingsError::UnknownAgent { path: path.to_owned(), what, agent, hint });
            };
            self.agents.insert(agent, known);
        }
        Ok(())
    }

    /// The agent that serves a role, where one is set up.
    pub fn agent_for(&self, role: &Role) -> Option<(&AgentName, &AgentSettings)> {
        let name = self.roles.get(role).and_then(|of| of.agent.as_ref()).unwrap_or(&self.default_agent);
        self.agents.get_key_value(name)
    }

    /// What the agent of a role may do unasked.
    pub fn permissions(&self, role: &Role, agent: &AgentSettings) -> Policy {
        match self.roles.get(role) {
            Some(of) => of.permissions.or(&agent.permissions).policy(),
            None => agent.permissions.policy(),
        }
    }

    pub fn turns_max(&self, role: &Role, agent: &AgentSettings) -> u32 {
        self.roles.get(role).and_then(|of| of.max_turns).unwrap_or(agent.max_turns)
    }

    pub fn capacity(&self) -> Capacity {
        let mut per_role = LimitsByKey::all(self.max_agents);
        for (role, of) in &self.roles {
            if let Some(max) = of.max {
                per_role.own_max.insert(role.clone(), max);
            }
        }
        let mut per_agent = LimitsByKey::all(self.max_agents);
        for (name, agent) in &self.agents {
            per_agent.own_max.insert(name.clone(), agent.max);
        }
        Capacity {
            total_max: self.max_agents,
            per_role,
            per_agent,
            unaccepted_max: self.max_unaccepted,
            per_project: self.max_per_project.map_or_else(LimitsByKey::none, LimitsByKey::all),
            per_person: self.max_per_person.map_or_else(LimitsByKey::none, LimitsByKey::all),
        }
    }

    pub fn lease_ms(&self) -> i64 {
        i64::from(self.lease_seconds) * 1_000
    }
}

failure! {
    SettingsError { |it|
        kind: ErrorKind::InvalidSettings,
        hint: "fix .agent/baton.toml and try again",
        explained: it.explained(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use baton_core::ask::answer_source::UnattendedPolicy;

    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        Settings::read(text, Path::new("baton.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn an_empty_file_is_all_defaults() {
        let settings = read("").unwrap();
        assert_eq!((settings.max_agents, settings.lease_seconds), (4, 30));
    }

    #[test]
    fn roles_choose_agents_and_limits() {
        let settings = read(
            "default_agent = \"mine\"\nmax_agents = 6\n\
             [agents.mine]\nkind = \"command\"\ncommand = [\"true\"]\nmax = 3\n\
             [agents.other]\nkind = \"command\"\ncommand = [\"true\"]\n\
             [roles.breakdown]\nagent = \"other\"\nmax_turns = 20\nmax = 1\n",
        )
        .unwrap();
        let breakdown = Role::breakdown();
        let (name, agent) = settings.agent_for(&breakdown).unwrap();
        assert_eq!((name.as_str(), settings.turns_max(&breakdown, agent)), ("other", 20));
        let capacity = settings.capacity();
        assert_eq!(capacity.per_role.max(&breakdown), 1);
        assert_eq!(capacity.per_agent.max(&"mine".parse().unwrap()), 3);
        assert!(!capacity.is_shared());
        let capacity = read("max_per_project = 2\nmax_per_person = 5").unwrap().capacity();
        assert_eq!((capacity.per_project.default_max, capacity.per_person.default_max), (2, 5));
    }

    #[test]
    fn an_unknown_key_names_the_nearest_known_one() {
        let error = read("max_agent = 3").unwrap_err();
        assert_eq!(error, "baton.toml: the file has no setting \"max_agent\"; did you mean \"max_agents\"?");
        let error = read("[agents.a]\nkind = \"command\"\nmax_turn = 3").unwrap_err();
        assert_eq!(error, "baton.toml: [agents.a] has no setting \"max_turn\"; did you mean \"max_turns\"?");
    }

    #[test]
    fn an_agent_that_is_not_there_is_named() {
        let error = read("[roles.review]\nagent = \"a-spectre\"").unwrap_err();
        assert_eq!(
            error,
            "baton.toml: [roles.review] names the agent \"a-spectre\", which is neither among [agents] nor known"
        );
        let error = read("[roles.review]\nagent = \"gose\"").unwrap_err();
        assert!(error.ends_with("did you mean \"goose\"?"), "{error}");
    }

    #[test]
    fn who_is_told_and_who_answers() {
        let settings = read(
            "[notify]\ncommand = [\"notify-send\", \"Baton\"]\nwebhook = \"http://localhost:9000/baton\"\n\
             [asking]\nunattended = \"fail\"\nexpires_after = 60\n",
        )
        .unwrap();
        assert_eq!(settings.asking.policy(), Some(UnattendedPolicy::FailClosed));
        assert_eq!(settings.asking.expires_after(), Some(Duration::from_mins(1)));
        assert_eq!(settings.notify.webhook.unwrap().to_string(), "http://localhost:9000/baton");
        assert_eq!(read("").unwrap().asking.policy(), None);
        let error = read("[notify]\nwebhook = \"https://me:pw@example.org\"").unwrap_err();
        assert!(error.contains("[notify] command"), "{error}");
        let error = read("[asking]\nunatended = \"fail\"").unwrap_err();
        assert!(error.ends_with("did you mean \"unattended\"?"), "{error}");
    }

    #[test]
    fn a_malformed_file_says_where() {
        assert!(read("max_agents = \"many\"").unwrap_err().contains("line 1"));
    }
}
