//! What settings would let happen on this machine beyond what holds without them: programs of their own, and openings in the
//! fence. It is listed for the person who is to allow settings that came with a clone.

use baton_core::base::redact::redact;
use baton_core::task::fence::{FenceMode, NetworkMode};

use crate::settings::fence::FenceSettings;
use crate::settings::hooks::HookName;
use crate::settings::permissions::PermissionSettings;
use crate::settings::{AgentSettings, Settings};
use crate::user_tasks::Trust;
use crate::user_tasks::checks::{Checks, Deed};

/// How far agents are confined without the settings in question.
pub(super) struct Confinement {
    fence: FenceMode,
    network: NetworkMode,
    /// The strictest of any agent.
    of_agents: (FenceMode, NetworkMode),
    trust: Trust,
}

impl Confinement {
    /// By the person's own settings, and by those of the agents of the machine.
    pub(super) fn new(person: &Settings, machine: Option<&Settings>) -> Self {
        let (fence, network) = (person.fence, person.network);
        let mut of_agents = (fence, network);
        for agent in machine.into_iter().flat_map(|machine| machine.agents.values()) {
            if let Some(mode) = agent.fence.fence.filter(|mode| mode.is_stricter_than(of_agents.0)) {
                of_agents.0 = mode;
            }
            if let Some(mode) = agent.fence.network.filter(|mode| mode.is_stricter_than(of_agents.1)) {
                of_agents.1 = mode;
            }
        }
        Self { fence, network, of_agents, trust: person.user_tasks.trust }
    }
}

/// One line for each, as in the settings. `keys` are those that the file itself has at its top.
pub(super) fn grants(settings: &Settings, keys: &toml::Table, without: &Confinement) -> Vec<String> {
    let mut found = programs(settings);
    if keys.contains_key("fence") && without.fence.is_stricter_than(settings.fence) {
        found.push(format!("fence: {}", settings.fence));
    }
    if keys.contains_key("network") && without.network.is_stricter_than(settings.network) {
        found.push(format!("network: {}", settings.network));
    }
    let says_trust = keys.get("user_tasks").and_then(|table| table.get("trust")).is_some();
    if says_trust && without.trust == Trust::Prompt && settings.user_tasks.trust != Trust::Prompt {
        found.push("user_tasks.trust: commands of its Taskfile run without asking".to_owned());
    }
    for (name, agent) in &settings.agents {
        add_openings(&mut found, &format!("agents.{name}"), &agent.fence, &agent.permissions, without);
    }
    for (name, role) in &settings.roles {
        add_openings(&mut found, &format!("roles.{name}"), &role.fence, &role.permissions, without);
    }
    found.extend(access(settings));
    found.extend(connections(keys));
    if settings.worktree.reuse_links {
        found.push("worktree.reuse_links: agents could write into files of your checkout".to_owned());
    }
    found.extend(settings.worktree.copy.iter().map(|file| format!("worktree.copy: {file}")));
    found
}

/// Keys by which Baton itself talks to somebody: what is done here, and what is to be done, would be told or taken there.
const CONNECTIONS: [&[&str]; 4] = [&["store"], &["remote"], &["notify", "webhook"], &["telemetry", "otlp"]];

fn connections(keys: &toml::Table) -> Vec<String> {
    let mut found = Vec::new();
    for path in CONNECTIONS {
        let [first, rest @ ..] = path else { continue };
        let value = rest.iter().try_fold(keys.get(*first), |value, key| Some(value?.get(key)));
        if let Some(value) = value.flatten() {
            let text = value.as_str().map_or_else(|| format!("{value:?}"), str::to_owned);
            found.push(redact(&format!("{}: {text}", path.join("."))).into_owned());
        }
    }
    found
}

/// Commands of the settings' own. A known agent by its name alone is the person's program.
fn programs(settings: &Settings) -> Vec<String> {
    let own = |name: &str, agent: &AgentSettings| {
        AgentSettings::known(name).is_none_or(|known| known.command != agent.command)
    };
    let agents = settings.agents.iter().filter(|(name, agent)| own(name.as_str(), agent));
    let agents = agents.map(|(name, agent)| format!("agents.{name}: {}", agent.command.join(" ")));
    let notify = Some(&settings.notify.command).filter(|command| !command.is_empty());
    let notify = notify.map(|command| format!("notify: {}", command.join(" ")));
    let checks = check_commands(&settings.checks);
    let hooks = HookName::ALL.into_iter().filter_map(|name| {
        settings.hooks.command(name).map(|command| format!("hooks.{name}: {}", command.join(" ")))
    });
    agents.chain(notify).chain(checks).chain(hooks).collect()
}

/// Checks that are commands of their own. A user task has its own approval.
pub(super) fn check_commands(checks: &Checks) -> impl Iterator<Item = String> {
    checks.iter().filter_map(|check| match &check.deed {
        Deed::Command(command) => Some(format!("checks.{}: {}", check.name, command.join(" "))),
        Deed::UserTask(_) => None,
    })
}

/// Where the fence would be weaker than without the table (I21), and what nobody would be asked about.
fn add_openings(
    found: &mut Vec<String>,
    table: &str,
    fence: &FenceSettings,
    permissions: &PermissionSettings,
    without: &Confinement,
) {
    let (fence_before, network_before) = without.of_agents;
    if let Some(mode) = fence.fence.filter(|mode| fence_before.is_stricter_than(*mode)) {
        found.push(format!("{table}.fence: {mode}"));
    }
    if let Some(mode) = fence.network.filter(|mode| network_before.is_stricter_than(*mode)) {
        found.push(format!("{table}.network: {mode}"));
    }
    // Without a limit there is nothing to allow.
    let allowed = fence.allow.iter().flatten().filter(|_| network_before != NetworkMode::Open);
    found.extend(allowed.map(|host| format!("{table}.allow: {host}")));
    for (key, folders) in [("fence_read", &fence.fence_read), ("fence_write", &fence.fence_write)] {
        for folder in folders.iter().flatten() {
            found.push(format!("{table}.{key}: {}", folder.display()));
        }
    }
    if !permissions.ask_always() {
        found.push(format!("{table}.permissions: something is done without asking"));
    }
}

/// Variables and logins of the person's that agents would get, and variables that decide what an agent talks to.
fn access(settings: &Settings) -> Vec<String> {
    let mut found = Vec::new();
    for (name, agent) in &settings.agents {
        let known = AgentSettings::known(name.as_str()).map(|known| known.env).unwrap_or_default();
        found.extend(
            agent
                .env
                .iter()
                .filter(|one| !known.contains(one))
                .map(|variable| format!("agents.{name}.env: {variable}")),
        );
        found.extend(agent.set.iter().map(|(key, value)| format!("agents.{name}.set: {key}={value}")));
    }
    for (name, account) in &settings.accounts {
        found.extend(account.env.iter().map(|(key, from)| format!("accounts.{name}.env: {key}={from}")));
        found.extend(account.home.iter().map(|home| format!("accounts.{name}.home: {}", home.display())));
    }
    found
}
