//! What is assumed in a repository nobody has set up: the agent that is installed, and the defaults for the rest.

use crate::reports::survey::agents;
use crate::settings::{AgentSettings, Settings};

/// Takes the likeliest of the installed agents where the settings name none. Nothing else is changed.
pub fn take_installed_agent(settings: &mut Settings) {
    take_first(settings, &agents::installed());
}

fn take_first(settings: &mut Settings, installed: &[&str]) {
    if !settings.agents.is_empty() {
        return;
    }
    let known = installed.iter().find_map(|name| Some((name.parse().ok()?, AgentSettings::known(name)?)));
    if let Some((name, agent)) = known {
        settings.default_agent = baton_core::base::text::AgentName::clone(&name);
        settings.agents.insert(name, agent);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_first_known_agent_is_taken_where_none_is_named() {
        let mut settings = Settings::default();
        take_first(&mut settings, &["nobody-knows-it", "codex", "claude"]);
        assert_eq!(settings.default_agent.as_str(), "codex");
        assert_eq!(settings.agents.len(), 1);
    }

    #[test]
    fn what_somebody_chose_stays() {
        let mut settings = Settings::read("default_agent = \"goose\"", Path::new("baton.toml")).unwrap();
        take_first(&mut settings, &["codex"]);
        assert_eq!(settings.default_agent.as_str(), "goose");
        let mut none = Settings::default();
        take_first(&mut none, &[]);
        assert!(none.agents.is_empty());
    }
}
