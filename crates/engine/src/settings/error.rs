//! Errors in settings.

use std::path::PathBuf;

use baton_core::base::explanation::Explanation;
use baton_core::base::text::AgentName;
use baton_core::explained;

use crate::base::error::ErrorKind;
use crate::base::refusals::failure;

/// Settings that cannot be used, and where they are.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("cannot read {path}: {source}")]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{path}: {message}")]
    Malformed { path: PathBuf, message: String },
    #[error("{path}: {table} has no setting \"{key}\"{}", did_you_mean(hint.as_deref()))]
    UnknownKey { path: PathBuf, table: String, key: String, hint: Option<String> },
    #[error("{path}: {what} names the agent \"{agent}\", which is neither in [agents] nor a known agent{}", did_you_mean(*hint))]
    UnknownAgent { path: PathBuf, what: String, agent: AgentName, hint: Option<&'static str> },
    #[error("{path}: [agents.{agent}] names the account \"{account}\", which is not in [accounts]")]
    UnknownAccount { path: PathBuf, agent: AgentName, account: AgentName },
    #[error("{path}: \"{name}\" is both an account and an agent; rename one of them")]
    AccountNamedLikeAgent { path: PathBuf, name: AgentName },
}

pub(super) fn did_you_mean(name: Option<&str>) -> String {
    name.map(|name| format!("; did you mean \"{name}\"?")).unwrap_or_default()
}

failure! {
    SettingsError { |it|
        kind: ErrorKind::InvalidSettings,
        hint: match it {
            Self::UnknownAgent { .. } => {
                "fix .agent/baton.toml, or learn the agent from a registry: baton agents update FILE"
            }
            _ => "fix .agent/baton.toml and try again",
        },
        explained: it.explained(),
    }
}

explained! { SettingsError {
    Self::Unreadable { .. } => Explanation {
        code: "settings_unreadable",
        means: "A settings file exists and cannot be read.",
        cause: "Its owner or permissions.",
        next: "Make it readable. `baton config` shows which files are used.",
    },
    Self::Malformed { .. } => Explanation {
        code: "settings_malformed",
        means: "A setting has the wrong type or value. The message names the file and line, or the variable.",
        cause: "For example a string instead of a number, a missing quote, or a value that is not one of the choices.",
        next: "Correct it. docs/reference/configuration.md lists all keys and their types.",
    },
    Self::UnknownKey { .. } => Explanation {
        code: "unknown_setting",
        means: "The file has a key that is not a setting. Baton does not ignore it, because it would have no effect.",
        cause: "A typo (the message suggests the nearest key), or a key of another version.",
        next: "Correct or remove it. docs/reference/configuration.md lists all keys.",
    },
    Self::UnknownAgent { .. } => Explanation {
        code: "unknown_agent",
        means: "The settings name an agent that is neither defined nor known.",
        cause: "default_agent or a role names it, and there is no [agents.NAME] table for it.",
        next: "Correct the name, or add [agents.NAME] with kind and command. `baton agents list` shows the known agents, and \
               `baton agents update FILE` learns more from a registry.",
    },
    Self::UnknownAccount { .. } => Explanation {
        code: "unknown_account",
        means: "An agent is to work on an account that the settings do not have.",
        cause: "A typo, or a missing [accounts.NAME] table.",
        next: "Add [accounts.NAME] with env or home, or correct the name. docs/agents.md has an example.",
    },
    Self::AccountNamedLikeAgent { .. } => Explanation {
        code: "account_named_like_agent",
        means: "An account and an agent have the same name. Holds are released by name, so it must be clear which is meant.",
        cause: "[accounts.NAME] and [agents.NAME], or an account with the name of a known agent that is used.",
        next: "Rename the account.",
    },
} }
