//! `fence`, `network` and the keys that belong to them, of an agent or a role.

use std::path::{Path, PathBuf};

use baton_agents::fence::FencePolicy;
use baton_agents::fence::host_pattern::HostPattern;
use baton_core::task::fence::{FenceMode, NetworkMode};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

/// The words for `fence` and `network` in the settings file.
pub(super) const MODES: [&str; 3] = ["auto", "strict", "off"];
pub(super) const NETWORKS: [&str; 3] = ["open", "allow", "none"];

/// The fence keys of `[agents.NAME]` and `[roles.NAME]`. A role's keys override those of its agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FenceSettings {
    /// How the agent is confined: `auto` as far as this machine can, `strict` fully or it does not start, `off` not at
    /// all. See [security](../security.md).
    #[schemars(with = "Option<String>", extend("enum" = MODES))]
    pub fence: Option<FenceMode>,
    /// What the agent may reach: everything, the hosts in `allow` and those it is known to need, or nothing. `allow`
    /// and `none` need a fence.
    #[schemars(with = "Option<String>", extend("enum" = NETWORKS))]
    pub network: Option<NetworkMode>,
    /// Hosts the agent may reach: `api.example.org`, `*.example.org` or `host:port`. A private address needs a port, or
    /// must be given as an address.
    #[serde(deserialize_with = "hosts")]
    #[schemars(with = "Option<Vec<String>>")]
    pub allow: Option<Vec<HostPattern>>,
    /// Whether a refused host becomes a question to you.
    pub network_ask: Option<bool>,
    /// More folders the agent may read; `~` is your home.
    pub fence_read: Option<Vec<PathBuf>>,
    /// More folders the agent may change.
    pub fence_write: Option<Vec<PathBuf>>,
}

impl FenceSettings {
    /// These settings, completed from `other`.
    pub fn or(&self, other: &Self) -> Self {
        Self {
            fence: self.fence.or(other.fence),
            network: self.network.or(other.network),
            allow: self.allow.clone().or_else(|| other.allow.clone()),
            network_ask: self.network_ask.or(other.network_ask),
            fence_read: self.fence_read.clone().or_else(|| other.fence_read.clone()),
            fence_write: self.fence_write.clone().or_else(|| other.fence_write.clone()),
        }
    }

    /// The policy, with the hosts that the agent is known to need. `~` is the home.
    pub fn policy(&self, mode: FenceMode, network: NetworkMode, known: &[&str], home: &Path) -> FencePolicy {
        let known = known.iter().filter_map(|host| host.parse().ok());
        let below_home = |paths: &Option<Vec<PathBuf>>| -> Vec<PathBuf> {
            let expand = |path: &PathBuf| match path.strip_prefix("~") {
                Ok(rest) => home.join(rest),
                Err(_) => path.clone(),
            };
            paths.iter().flatten().map(expand).filter(|path| path.is_absolute()).collect()
        };
        FencePolicy {
            mode: self.fence.unwrap_or(mode),
            network: self.network.unwrap_or(network),
            allow: self.allow.clone().unwrap_or_default().into_iter().chain(known).collect(),
            network_ask: self.network_ask.unwrap_or(false),
            read: below_home(&self.fence_read),
            write: below_home(&self.fence_write),
        }
    }
}

fn hosts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<HostPattern>>, D::Error> {
    let texts: Vec<String> = Vec::deserialize(deserializer)?;
    let parse = |text: String| text.parse().map_err(serde::de::Error::custom);
    texts.into_iter().map(parse).collect::<Result<_, _>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_decides_before_its_agent_and_the_agent_before_all() {
        let role: FenceSettings = toml::from_str("fence = \"strict\"").unwrap();
        let agent: FenceSettings = toml::from_str(
            "fence = \"off\"\nnetwork = \"allow\"\nallow = [\"*.example.org\"]\nfence_read = [\"~/data\"]",
        )
        .unwrap();
        let policy =
            role.or(&agent).policy(FenceMode::Auto, NetworkMode::Open, &["api.example.com"], Path::new("/h"));
        assert_eq!((policy.mode, policy.network), (FenceMode::Strict, NetworkMode::Allow));
        let allowed: Vec<String> = policy.allow.iter().map(ToString::to_string).collect();
        assert_eq!(allowed, ["*.example.org", "api.example.com"]);
        assert_eq!(policy.read, [Path::new("/h/data")]);
        let nothing = FenceSettings::default();
        assert_eq!(
            nothing.policy(FenceMode::Auto, NetworkMode::Open, &[], Path::new("/h")),
            FencePolicy::default()
        );
    }

    #[test]
    fn a_host_that_is_none_is_a_mistake() {
        let error = toml::from_str::<FenceSettings>("allow = [\"2130706433\"]").unwrap_err().to_string();
        assert!(error.contains("an address is written as four decimal numbers"), "{error}");
    }
}
