//! The keys that the settings have. Whatever else stands in the file is a mistake, which is named with its nearest key.

use std::path::Path;

use baton_core::base::text::nearest;

use crate::settings::agents;
use crate::settings::budgets::Budgets;
use crate::settings::retention::Retention;
use crate::settings::{AskingSettings, SettingsError};
use crate::user_tasks::UserTaskSettings;

const TOP: [&str; 21] = [
    "default_agent",
    "agents",
    "roles",
    "checks",
    "max_agents",
    "max_unaccepted",
    "max_per_project",
    "max_per_person",
    "lease_seconds",
    "notify",
    "asking",
    "worktree",
    "recycle",
    "retention",
    "store",
    "remote",
    "user_tasks",
    "budgets",
    "listen",
    "telemetry",
    "person",
];
const NOTIFY: [&str; 2] = ["command", "webhook"];
const WORKTREE: [&str; 4] = ["copy", "setup", "submodules", "spares"];
const TELEMETRY: [&str; 1] = ["otlp"];
const PERSON: [&str; 1] = ["name"];
pub(super) const ROLE: [&str; 4] = ["agent", "max", "max_turns", "permissions"];

/// The tables of a fixed set of keys.
fn tables() -> [(&'static str, &'static [&'static str]); 8] {
    [
        ("notify", &NOTIFY),
        ("asking", &AskingSettings::KEYS),
        ("retention", &Retention::KEYS),
        ("worktree", &WORKTREE),
        ("user_tasks", &UserTaskSettings::KEYS),
        ("telemetry", &TELEMETRY),
        ("person", &PERSON),
        ("budgets", &Budgets::SCOPES),
    ]
}

/// Every setting that is not under a name of the person's own choice, by its path.
pub(crate) fn leaves() -> Vec<Vec<&'static str>> {
    let is_named = |key: &&&str| ["agents", "roles", "checks"].contains(*key);
    let is_table = |key: &&&str| tables().iter().any(|(name, _)| name == *key);
    let top = TOP.iter().filter(|key| !is_named(key) && !is_table(key)).map(|key| vec![*key]);
    let plain = tables().into_iter().filter(|(name, _)| *name != "budgets");
    let inner = plain.flat_map(|(name, keys)| keys.iter().map(move |key| vec![name, *key]));
    let of_scope = |scope: &'static str| Budgets::KEYS.iter().map(move |key| vec!["budgets", scope, *key]);
    top.chain(inner).chain(Budgets::SCOPES.into_iter().flat_map(of_scope)).collect()
}

/// Names the first key that no setting has.
pub(crate) fn check_known(table: &toml::Table, path: &Path) -> Result<(), SettingsError> {
    check_keys(table, "the file", &TOP, path)?;
    let of_entries = [("agents", &agents::KEYS[..]), ("roles", &ROLE[..]), ("budgets", &Budgets::KEYS[..])];
    for (name, known) in of_entries {
        for (entry, value) in table.get(name).and_then(toml::Value::as_table).into_iter().flatten() {
            if let Some(inner) = value.as_table() {
                check_keys(inner, &format!("[{name}.{entry}]"), known, path)?;
            }
        }
    }
    for (name, known) in tables() {
        if let Some(inner) = table.get(name).and_then(toml::Value::as_table) {
            check_keys(inner, &format!("[{name}]"), known, path)?;
        }
    }
    Ok(())
}

fn check_keys(table: &toml::Table, name: &str, known: &[&str], path: &Path) -> Result<(), SettingsError> {
    for key in table.keys() {
        if !known.contains(&key.as_str()) {
            return Err(SettingsError::UnknownKey {
                path: path.to_owned(),
                table: name.to_owned(),
                key: key.clone(),
                hint: nearest(key, known.iter().copied()).map(str::to_owned),
            });
        }
    }
    Ok(())
}
