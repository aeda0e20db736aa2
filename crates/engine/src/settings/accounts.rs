//! `[accounts.NAME]`: logins that agents work on, each with a limit of its own.

use std::collections::BTreeMap;
use std::path::PathBuf;

use baton_agents::presets::preset::Preset;
use baton_agents::process::environment::AgentEnvironment;
use baton_core::base::text::AgentName;
use baton_core::base::time::Timestamp;
use baton_core::limits::quiet_hours::QuietHours;
use baton_core::schedule::{AgentRoute, AgentRoutes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::settings::Settings;

/// Variables by which agents are told where they keep their login and their sessions.
pub const HOME_VARIABLES: [&str; 3] = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"];

/// One account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AccountSettings {
    /// Who provides it, such as `anthropic`; shown to you.
    pub provider: Option<String>,
    /// Variables of the agent, each with the name of the variable of your own environment that it is taken from:
    /// `{ ANTHROPIC_API_KEY = "WORK_KEY" }`.
    pub env: BTreeMap<String, String>,
    /// The folder in which the agent finds this login and keeps its sessions: `CLAUDE_CONFIG_DIR` or `CODEX_HOME` for agents
    /// that know it, else `HOME`.
    pub home: Option<PathBuf>,
    /// Parts of the day, in UTC, in which the account is left to you: `["08:00-17:30"]`.
    #[schemars(with = "Vec<String>")]
    pub quiet_hours: Vec<QuietHours>,
}

impl AccountSettings {
    /// When the account is left alone until, if it is now.
    pub fn quiet_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.quiet_hours.iter().filter_map(|hours| hours.until(now)).max()
    }

    /// Puts the account into what the agent is started with. Returns the name of a variable that is not set here.
    pub fn apply(&self, preset: &Preset, environment: &mut AgentEnvironment) -> Result<(), String> {
        for (variable, source) in &self.env {
            let value = std::env::var_os(source).ok_or_else(|| source.clone())?;
            environment.set(variable, value);
        }
        if let Some(home) = &self.home {
            let known = HOME_VARIABLES.into_iter().find(|variable| preset.env.contains(variable));
            environment.set(known.unwrap_or("HOME"), home);
        }
        Ok(())
    }
}

impl Settings {
    /// Which agents there are for which work, and on which accounts. Nothing is closed.
    pub fn routes(&self) -> AgentRoutes {
        let route = |(name, agent): (&AgentName, &crate::settings::AgentSettings)| {
            let route = AgentRoute { accounts: agent.accounts.clone(), fallback: agent.fallback.clone() };
            (name.clone(), route)
        };
        AgentRoutes {
            roles: self.served_roles(),
            agents: self.agents.iter().map(route).collect(),
            ..AgentRoutes::default()
        }
    }

    /// Whether an agent finds on one account the sessions it had on the other.
    pub fn shares_sessions(&self, one: &AgentName, other: &AgentName) -> bool {
        let home = |name| self.accounts.get(name).and_then(|account| account.home.as_ref());
        one == other || home(one) == home(other)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::settings::SettingsError;

    const AGENTS: &str = "default_agent = \"claude\"\n[agents.claude]\naccounts = [\"work\", \"own\"]\nfallback = [\"codex\"]\n";

    fn parse(text: &str) -> Result<Settings, SettingsError> {
        Settings::parse(text, Path::new("baton.toml"))
    }

    #[test]
    fn an_agent_lists_its_accounts_and_who_takes_over() {
        let accounts = "[accounts.work]\nhome = \"/w\"\nquiet_hours = [\"22:00-06:00\"]\n[accounts.own]\n";
        let settings = parse(&format!("{AGENTS}{accounts}")).unwrap();
        let routes = settings.routes();
        let claude: AgentName = "claude".parse().unwrap();
        assert_eq!(routes.agents[&claude].accounts.len(), 2);
        assert!(settings.agents.contains_key(&"codex".parse().unwrap()), "a known fallback needs no table");
        let (work, own): (AgentName, AgentName) = ("work".parse().unwrap(), "own".parse().unwrap());
        assert!(!settings.shares_sessions(&work, &own) && settings.shares_sessions(&own, &claude));
        let night = "2026-11-17T23:00:00Z".parse().unwrap();
        assert_eq!(
            settings.accounts[&work].quiet_until(night),
            Some("2026-11-18T06:00:00Z".parse().unwrap())
        );
    }

    #[test]
    fn names_that_lead_nowhere_are_refused() {
        for (text, expected) in [
            (AGENTS.to_owned(), "[agents.claude] names the account \"work\", which is not in [accounts]"),
            (
                format!("{AGENTS}[accounts.work]\n[accounts.own]\n[accounts.claude]\n"),
                "both an account and an agent",
            ),
            (
                "default_agent = \"claude\"\n[agents.claude]\nfallback = [\"clade\"]\n".to_owned(),
                "did you mean \"claude\"?",
            ),
            ("[accounts.work]\nquiet_hours = [\"late\"]\n".to_owned(), "write it like 22:00-06:00"),
        ] {
            let error = parse(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
