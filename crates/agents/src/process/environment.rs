//! The environment of an agent: variables on the allow-list, and what Baton adds.
//!
//! An agent runs code that nobody has reviewed. Secrets in the user's shell do not reach it unless their names are added
//! to the list. This module does not read the process environment; callers pass the variables in.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Carries the attempt id into every process of the tree, by which they are found.
pub const ATTEMPT_ID: &str = "BATON_ATTEMPT_ID";
/// The same for the processes of one user task.
pub const RUN_ID: &str = "BATON_RUN_ID";

/// What a program needs to find its tools, its home, its language and its network.
///
/// `GIT_*` is left out on purpose: `GIT_DIR` from a hook would point the agent's git at the user's checkout.
const ALLOWED: [&str; 33] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TMPDIR",
    "TMP",
    "TEMP",
    "SSH_AUTH_SOCK",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "JAVA_HOME",
    "GOPATH",
];

/// Locale variables: `LC_ALL`, `LC_TIME` and so on.
const ALLOWED_PREFIX: &str = "LC_";

/// All variables of one agent.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct AgentEnvironment(BTreeMap<OsString, OsString>);

/// Names only: values include the attempt's token.
impl std::fmt::Debug for AgentEnvironment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

impl AgentEnvironment {
    /// Filters `variables` by the allow-list; `extra` are names added by the settings.
    pub fn allowed(variables: impl IntoIterator<Item = (OsString, OsString)>, extra: &[String]) -> Self {
        let passes = |name: &OsStr| {
            name.to_str().is_some_and(|name| {
                ALLOWED.contains(&name)
                    || name.starts_with(ALLOWED_PREFIX)
                    || extra.iter().any(|extra| extra == name)
            })
        };
        Self(variables.into_iter().filter(|(name, _)| passes(name)).collect())
    }

    /// Sets a variable, replacing any earlier value.
    pub fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.0.insert(name.into(), value.into());
    }

    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(names: &[&str]) -> Vec<(OsString, OsString)> {
        names.iter().map(|name| (name.into(), "value".into())).collect()
    }

    #[test]
    fn only_the_list_and_the_extra_names_pass() {
        let host = host(&["PATH", "LC_ALL", "GIT_DIR", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "PATHS"]);
        let environment = AgentEnvironment::allowed(host, &["OPENAI_API_KEY".to_owned()]);
        let names: Vec<_> = environment.iter().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(names, ["LC_ALL", "OPENAI_API_KEY", "PATH"]);
    }

    #[test]
    fn what_baton_sets_wins_and_its_value_is_not_printed() {
        let mut environment = AgentEnvironment::allowed(host(&["PATH"]), &[]);
        environment.set("PATH", "/bin");
        environment.set("BATON_TOKEN", "secret");
        assert_eq!(environment.get("PATH"), Some(OsStr::new("/bin")));
        assert_eq!(format!("{environment:?}"), r#"["BATON_TOKEN", "PATH"]"#);
    }
}
