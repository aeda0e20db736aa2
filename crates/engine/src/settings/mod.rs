//! The settings: what `.agent/baton.toml` and its layers may contain, each with a default.
//!
//! The doc comment of a field is its description in the JSON Schema and in `docs/reference/configuration.md`. An unknown
//! key is an error that suggests the nearest known one.

pub mod accounts;
pub mod agent_registry;
pub mod agents;
mod asking;
pub(crate) mod branch_rules;
pub mod budgets;
mod error;
pub mod fence;
pub mod files;
pub mod folder_kind;
pub mod hooks;
pub mod layers;
pub mod location;
mod namespace;
pub mod permissions;
pub mod progress;
mod project_layer;
pub mod recipes;
#[cfg(test)]
mod reference;
pub mod retention;
pub mod room;
pub mod schema;
pub mod store_address;
mod store_record;
mod tables;
#[cfg(test)]
mod tests;
pub mod webhook;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::Path;
use std::time::Duration;

use baton_agents::fence::FencePolicy;
use baton_core::base::accept_policy::AcceptPolicy;
use baton_core::base::id::ProjectId;
use baton_core::base::remote_url::RemoteUrl;
use baton_core::base::text::{AgentName, Role};
use baton_core::schedule::{Capacity, LimitsByKey};
use baton_core::task::Task;
use baton_core::task::fence::{FenceMode, NetworkMode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::git::LEFTOVER_BYTES_MAX;
use crate::settings::accounts::AccountSettings;
use crate::settings::agents::AgentTable;
use crate::settings::branch_rules::check_globs;
use crate::settings::budgets::Budgets;
use crate::settings::fence::FenceSettings;
use crate::settings::hooks::HookSettings;
use crate::settings::layers::Layers;
use crate::settings::permissions::AgentPolicy;
use crate::settings::progress::ProgressSettings;
use crate::settings::retention::Retention;
use crate::settings::room::RoomSettings;
use crate::settings::store_address::StoreAddress;
use crate::user_tasks::UserTaskSettings;
use crate::user_tasks::checks::Checks;

pub use crate::settings::agents::AgentSettings;
pub use crate::settings::asking::{AskingSettings, Unattended};
pub use crate::settings::error::SettingsError;
pub use crate::settings::namespace::InvalidNamespace;
pub use crate::settings::tables::{
    NotifySettings, PersonSettings, PlanPolicy, ProjectSettings, RecyclePolicy, RecycleSettings,
    RoleSettings, StartOn, TelemetrySettings, ValueWish, WorktreeSettings,
};
pub use baton_agents::presets::kind::AgentKind;

/// The settings of Baton: `.agent/baton.toml` in a repository, or `~/.config/baton/config.toml`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Settings {
    /// The agent for work that no role assigns to another. A known agent needs no table; any other needs
    /// `[agents.NAME]`. Without it, the first known agent that is installed, else the only one of `[agents]`.
    #[schemars(with = "String")]
    pub default_agent: AgentName,
    /// One table for each agent.
    #[serde(deserialize_with = "agents::resolve_all")]
    #[schemars(with = "BTreeMap<String, AgentTable>")]
    pub agents: BTreeMap<AgentName, AgentSettings>,
    /// Logins that agents work on, one table each. An agent names them in `accounts`.
    #[schemars(with = "BTreeMap<String, AccountSettings>")]
    pub accounts: BTreeMap<AgentName, AccountSettings>,
    /// Which agent does which kind of work.
    #[schemars(with = "BTreeMap<String, RoleSettings>")]
    pub roles: BTreeMap<Role, RoleSettings>,
    /// Run on finished work, and again on its branch before it lands; a failing check sends the task back. Those of the branch
    /// count, see [user tasks](../user-tasks.md#where-checks-come-from). A list of user tasks
    /// (`["test", "lint"]`), or a table of names, each with a command (`build = ["make", "all"]`), a user task
    /// (`quick = "test"`), or either with a time limit of its own (`slow = { command = ["make", "e2e"], timeout_seconds = 3600 }`,
    /// `all = { task = "test:all", timeout_seconds = 1800 }`).
    #[schemars(schema_with = "schema::checks")]
    pub checks: Checks,
    /// How many seconds a check may take, unless it has its own `timeout_seconds`. One that takes longer is ended and has failed.
    /// The commands that verify one task have this limit, too.
    pub check_timeout_seconds: NonZeroU64,
    /// A changed file of more megabytes than this needs your look before it is accepted, and is not committed by Baton if the
    /// agent did not commit it.
    pub large_file_megabytes: NonZeroU64,
    /// How many agents may run at once.
    pub max_agents: u32,
    /// No task starts while this many wait to be accepted.
    pub max_unaccepted: u32,
    /// How many tasks of one project may run at once, on all machines together, unless the project has its own limit
    /// (`baton project limit`).
    pub max_per_project: Option<u32>,
    /// How many tasks of one person may run at once, on all machines together.
    pub max_per_person: Option<u32>,
    /// How agents are confined, unless their role or their own settings say otherwise. See
    /// [security](../security.md).
    #[schemars(with = "String", extend("enum" = fence::MODES))]
    pub fence: FenceMode,
    /// What agents may reach, unless their role or their own settings say otherwise.
    #[schemars(with = "String", extend("enum" = fence::NETWORKS))]
    pub network: NetworkMode,
    /// An attempt whose lease was not renewed for this many seconds counts as lost.
    pub lease_seconds: u32,
    /// How people who are not looking at Baton are notified. If both keys are set, both are used.
    pub notify: NotifySettings,
    /// How questions are answered when no person is there.
    pub asking: AskingSettings,
    /// The only roles to work for; all if empty. Set by commands that run one loop, not by the file.
    #[serde(skip)]
    pub only_roles: Vec<Role>,
    /// What a worktree contains when the agent starts.
    pub worktree: WorktreeSettings,
    /// Commands of yours around the work.
    pub hooks: HookSettings,
    /// What the machine must have left for another agent to start.
    pub room: RoomSettings,
    /// How long data that is no longer needed is kept. It never includes work.
    pub retention: Retention,
    /// A store that several machines share: `postgres://USER@HOST/DATABASE`. Without it, a file in the state folder.
    #[schemars(with = "Option<String>")]
    pub store: Option<StoreAddress>,
    /// The address of the remote repository for work that belongs to no project (`ssh://git@host/app.git`; not a name such as `origin`, whose address
    /// `git remote get-url origin` prints). Such work then runs in a clone of it, on any machine.
    #[schemars(with = "Option<String>")]
    pub remote: Option<RemoteUrl>,
    /// What happens to tasks that are too large for one attempt.
    pub recycle: RecycleSettings,
    /// Files that nobody but you may accept changes of, as globs from the root of the repository (`**/*.lock`): what the work is judged by.
    /// `.agent/**` always is, with the files that its Taskfile includes.
    pub protect: Vec<String>,
    /// Who accepts finished work: `person`, you; `green`, Baton, once the checks have passed on its branch with it (needs `checks`,
    /// or tasks with commands that verify them); `reviewed`, the same after another agent, of the role `verify`, has agreed to
    /// it. A task may have its own (`baton task add --accept-when`). Whatever needs a closer look (conflict markers, a stopped run, an open question, no changes, burned
    /// out) always waits for you.
    #[schemars(with = "String", extend("enum" = POLICIES))]
    pub accept_when: AcceptPolicy,
    /// What differs for one of several projects in this repository: a table for each, by the project's id
    /// (`[projects.PROJ-0123abcd]`). Work of any other project, and of none, goes by the rest of this file.
    #[schemars(with = "BTreeMap<String, ProjectSettings>")]
    pub projects: BTreeMap<ProjectId, ProjectSettings>,
    /// When a task may start that depends on others: once their work has landed, or as soon as it is accepted.
    pub start_on: StartOn,
    /// How many runs of the checks may be at work at once, over all branches, while accepted work lands. With more than one,
    /// the tasks behind those that are being checked are checked already, on what the branch will be if those pass. Without it, one for every
    /// four processors, and at least one.
    pub checks_at_once: Option<NonZeroUsize>,
    /// How much a task, a project or a day may use.
    #[serde(skip_serializing)]
    pub budgets: Budgets,
    /// When an agent that gets nowhere is stopped, and you are asked.
    pub progress: ProgressSettings,
    /// How the commands of `.agent/Taskfile.yml` run.
    pub user_tasks: UserTaskSettings,
    /// The address `baton up` listens on. Any address other than loopback requires a token.
    #[schemars(with = "String")]
    pub listen: SocketAddr,
    /// Where traces are sent. Off by default.
    pub telemetry: TelemetrySettings,
    /// Who you are; for your own `~/.config/baton/config.toml`.
    pub person: PersonSettings,
}

/// 15 turns to look around and 5 to write the plan.
const BREAKDOWN_TURNS_MAX: u32 = 20;

/// How many turns an attempt may use, of one agent or in one role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnLimit {
    /// The agent, or the role that has a limit of its own.
    pub of: String,
    pub max: u32,
}

/// A check that takes longer has failed.
const CHECK_TIMEOUT_SECONDS: NonZeroU64 = at_least_one(15 * 60);
const LARGE_FILE_MEGABYTES: NonZeroU64 = at_least_one(LEFTOVER_BYTES_MAX >> 20);
pub(crate) const POLICIES: [&str; 3] = ["person", "green", "reviewed"];
/// A run of the checks usually keeps several processors busy by itself.
const PROCESSORS_PER_CHECK: usize = 4;
const LISTEN_PORT: u16 = 5678;

const fn at_least_one(number: u64) -> NonZeroU64 {
    match NonZeroU64::new(number) {
        Some(number) => number,
        None => NonZeroU64::MIN,
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            default_agent: built_in_agent(),
            agents: BTreeMap::new(),
            accounts: BTreeMap::new(),
            roles: BTreeMap::new(),
            checks: Checks::default(),
            check_timeout_seconds: CHECK_TIMEOUT_SECONDS,
            large_file_megabytes: LARGE_FILE_MEGABYTES,
            max_agents: 4,
            max_unaccepted: 50,
            max_per_project: None,
            max_per_person: None,
            fence: FenceMode::Auto,
            network: NetworkMode::Open,
            lease_seconds: 30,
            only_roles: Vec::new(),
            notify: NotifySettings::default(),
            asking: AskingSettings::default(),
            worktree: WorktreeSettings::default(),
            hooks: HookSettings::default(),
            room: RoomSettings::default(),
            retention: Retention::default(),
            store: None,
            remote: None,
            recycle: RecycleSettings::default(),
            protect: vec![".agent/**".to_owned()],
            accept_when: AcceptPolicy::Person,
            projects: BTreeMap::new(),
            start_on: StartOn::Done,
            checks_at_once: None,
            budgets: Budgets::default(),
            progress: ProgressSettings::default(),
            user_tasks: UserTaskSettings::default(),
            listen: (Ipv4Addr::LOCALHOST, LISTEN_PORT).into(),
            telemetry: TelemetrySettings::default(),
            person: PersonSettings::default(),
        }
    }
}

#[expect(clippy::expect_used, reason = "a literal that is a valid name")]
fn built_in_agent() -> AgentName {
    "scripted".parse().expect("the name is valid")
}

impl Settings {
    /// The roles an agent is configured for, and which agent.
    pub fn served_roles(&self) -> BTreeMap<Role, AgentName> {
        let own = [Role::implement(), Role::breakdown(), Role::verify()];
        let own = own.into_iter().chain(Role::loop_phases());
        let roles = self.roles.keys().cloned().chain(own);
        roles
            .filter(|role| self.only_roles.is_empty() || self.only_roles.contains(role))
            .filter_map(|role| self.agent_for(&role).map(|(name, _)| (role.clone(), name.clone())))
            .collect()
    }

    /// The settings of a repository: variables, its file, the user's own file and the defaults.
    pub fn load(path: &Path) -> Result<Self, SettingsError> {
        Layers::find(path)?.settings(path)
    }

    /// The settings in `text` and the defaults. `path` is for errors.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SettingsError> {
        let mut layers = Layers::default();
        layers.add_text(text, path)?;
        layers.settings(path)
    }

    /// Adds the known agents that are named but have no table. Fails if a named agent is neither defined nor known.
    pub(crate) fn add_known_agents(&mut self, has_default: bool, path: &Path) -> Result<(), SettingsError> {
        let for_roles = self
            .roles
            .iter()
            .filter_map(|(role, settings)| Some((format!("[roles.{role}]"), settings.agent.clone()?)));
        // Without one, the first known agent that is installed is used.
        let default = has_default.then(|| ("default_agent".to_owned(), self.default_agent.clone()));
        let fallbacks = self.agents.iter().flat_map(|(name, agent)| {
            agent.fallback.iter().map(move |other| (format!("[agents.{name}]"), other.clone()))
        });
        let named: Vec<(String, AgentName)> = for_roles.chain(default).chain(fallbacks).collect();
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
        self.add_fallback_models();
        check_globs(&self.protect, path)?;
        self.check_accounts(path)
    }

    /// A table of that name is used as it is.
    fn add_fallback_models(&mut self) {
        let mut models = Vec::new();
        for (name, agent) in &mut self.agents {
            let others = agent.with_fallback_models(name);
            agent.fallback.splice(0..0, others.iter().map(|(name, _)| name.clone()));
            models.extend(others);
        }
        for (name, agent) in models {
            self.agents.entry(name).or_insert(agent);
        }
    }

    /// Holds are on agents and on accounts, by name; so a name is one or the other.
    fn check_accounts(&self, path: &Path) -> Result<(), SettingsError> {
        for (name, agent) in &self.agents {
            if let Some(unknown) = agent.accounts.iter().find(|account| !self.accounts.contains_key(*account))
            {
                let (agent, account) = (name.clone(), unknown.clone());
                return Err(SettingsError::UnknownAccount { path: path.to_owned(), agent, account });
            }
        }
        match self.accounts.keys().find(|account| self.agents.contains_key(*account)) {
            Some(name) => {
                Err(SettingsError::AccountNamedLikeAgent { path: path.to_owned(), name: name.clone() })
            }
            None => Ok(()),
        }
    }

    /// The agent of a role, if it is defined.
    pub fn agent_for(&self, role: &Role) -> Option<(&AgentName, &AgentSettings)> {
        let name =
            self.roles.get(role).and_then(|settings| settings.agent.as_ref()).unwrap_or(&self.default_agent);
        self.agents.get_key_value(name)
    }

    /// What the agent of a role may do without asking.
    pub fn permissions(&self, role: &Role, agent: &AgentSettings) -> AgentPolicy {
        match self.roles.get(role) {
            Some(settings) => settings.permissions.or(&agent.permissions).policy(),
            None => agent.permissions.policy(),
        }
    }

    /// Whether any agent may run in a fence.
    pub fn has_fence(&self) -> bool {
        let is_on = |settings: &FenceSettings| settings.fence.is_some_and(|mode| mode != FenceMode::Off);
        self.fence != FenceMode::Off
            || self.agents.values().any(|agent| is_on(&agent.fence))
            || self.roles.values().any(|role| is_on(&role.fence))
    }

    /// The fence for an agent of a role.
    pub fn fence_policy(&self, role: &Role, agent: &AgentSettings, home: &Path) -> FencePolicy {
        let own = &agent.fence;
        let settings = self.roles.get(role).map_or_else(|| own.clone(), |of| of.fence.or(own));
        settings.policy(self.fence, self.network, agent.preset().hosts, home)
    }

    /// The fence of checks, which run what agents wrote: that of the role `check`.
    pub fn check_fence(&self, home: &Path) -> FencePolicy {
        let own = self.roles.get(&Role::check()).map(|of| of.fence.clone()).unwrap_or_default();
        own.policy(self.fence, self.network, &[], home)
    }

    /// Whether anything runs on the work of this task before it lands.
    pub fn is_checked(&self, task: &Task) -> bool {
        !self.checks.is_empty() || !task.spec().verify.is_empty()
    }

    pub fn checks_at_once(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.checks_at_once.map_or_else(|| processors().div_ceil(PROCESSORS_PER_CHECK), NonZeroUsize::get)
    }

    pub const fn check_timeout(&self) -> Duration {
        Duration::from_secs(self.check_timeout_seconds.get())
    }

    pub const fn large_file_bytes(&self) -> u64 {
        self.large_file_megabytes.get().saturating_mul(1 << 20)
    }

    /// Who accepts this task.
    pub fn accept_policy(&self, task: &Task) -> AcceptPolicy {
        let of_project = task.spec().project_id.and_then(|id| self.projects.get(&id)?.accept_when);
        task.spec().accept_when.or(of_project).unwrap_or(self.accept_when)
    }

    /// The limit for the agent of a role, if it is defined.
    pub fn turn_limit(&self, role: &Role) -> Option<TurnLimit> {
        let (name, agent) = self.agent_for(role)?;
        let of_role = self.roles.get(role).and_then(|settings| settings.max_turns);
        let of_breakdown = || (*role == Role::breakdown()).then(|| agent.max_turns.min(BREAKDOWN_TURNS_MAX));
        Some(match of_role.or_else(of_breakdown) {
            Some(max) => TurnLimit { of: format!("role {role}"), max },
            None => TurnLimit { of: name.to_string(), max: agent.max_turns },
        })
    }

    pub fn capacity(&self) -> Capacity {
        let mut per_role = LimitsByKey::all(self.max_agents);
        for (role, settings) in &self.roles {
            if let Some(max) = settings.max {
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
