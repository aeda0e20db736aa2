//! The agent to use where no settings name one.

use baton_core::base::text::AgentName;

use crate::reports::survey::agents;
use crate::settings::{AgentSettings, Settings};

/// Uses the first installed agent if the settings name none.
pub fn use_installed_agent(settings: &mut Settings) {
    use_first(settings, &agents::find_installed());
}

fn use_first(settings: &mut Settings, installed: &[&str]) {
    if settings.agents.contains_key(&settings.default_agent) {
        return;
    }
    let known = installed.iter().find_map(|name| Some((name.parse().ok()?, AgentSettings::known(name)?)));
    if let Some((name, agent)) = known {
        settings.default_agent = AgentName::clone(&name);
        settings.agents.entry(name).or_insert(agent);
    } else if settings.agents.len() == 1
        && let Some(only) = settings.agents.keys().next().cloned()
    {
        settings.default_agent = only;
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_first_known_agent_is_used_if_none_is_named() {
        let mut settings = Settings::default();
        use_first(&mut settings, &["unknown-agent", "codex", "claude"]);
        assert_eq!(settings.default_agent.as_str(), "codex");
        assert_eq!(settings.agents.len(), 1);
    }

    #[test]
    fn a_configured_agent_stays() {
        let mut settings = Settings::parse("default_agent = \"goose\"", Path::new("baton.toml")).unwrap();
        use_first(&mut settings, &["codex"]);
        assert_eq!(settings.default_agent.as_str(), "goose");
        // A table alone names no default.
        let text = "max_agents = 2\n[agents.claude]\nmax = 4\n";
        let mut listed = Settings::parse(text, Path::new("baton.toml")).unwrap();
        use_first(&mut listed, &["codex", "claude"]);
        assert_eq!((listed.default_agent.as_str(), listed.agents.len()), ("codex", 2));
        let mut only = Settings::parse(text, Path::new("baton.toml")).unwrap();
        use_first(&mut only, &[]);
        assert_eq!(only.default_agent.as_str(), "claude");
        let mut none = Settings::default();
        use_first(&mut none, &[]);
        assert!(none.agents.is_empty());
    }
}
