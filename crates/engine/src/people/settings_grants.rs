//! What settings would let happen on this machine beyond what holds without them: programs of their own, and openings in the
//! fence. It is listed for the person who is to allow settings that came with a clone.

use baton_core::task::fence::FenceMode;

use crate::settings::fence::FenceSettings;
use crate::settings::hooks::HookName;
use crate::settings::permissions::PermissionSettings;
use crate::settings::{AgentSettings, Settings};
use crate::user_tasks::checks::Deed;

/// One line for each, as in the settings.
pub(super) fn grants(settings: &Settings) -> Vec<String> {
    programs(settings).into_iter().chain(openings(settings)).chain(access(settings)).collect()
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
    let checks = settings.checks.iter().filter_map(|check| match &check.deed {
        Deed::Command(command) => Some(format!("checks.{}: {}", check.name, command.join(" "))),
        Deed::UserTask(_) => None,
    });
    let hooks = HookName::ALL.into_iter().filter_map(|name| {
        settings.hooks.command(name).map(|command| format!("hooks.{name}: {}", command.join(" ")))
    });
    agents.chain(notify).chain(checks).chain(hooks).collect()
}

/// Where the fence would be weaker than the one everybody starts with (I21), and what nobody would be asked about.
fn openings(settings: &Settings) -> Vec<String> {
    let mut found = Vec::new();
    if settings.fence == FenceMode::Off {
        found.push("fence: off".to_owned());
    }
    for (name, agent) in &settings.agents {
        add_openings(&mut found, &format!("agents.{name}"), &agent.fence, &agent.permissions);
    }
    for (name, role) in &settings.roles {
        add_openings(&mut found, &format!("roles.{name}"), &role.fence, &role.permissions);
    }
    found
}

fn add_openings(
    found: &mut Vec<String>,
    table: &str,
    fence: &FenceSettings,
    permissions: &PermissionSettings,
) {
    if fence.fence == Some(FenceMode::Off) {
        found.push(format!("{table}.fence: off"));
    }
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
