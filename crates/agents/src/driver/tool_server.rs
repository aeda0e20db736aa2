//! How an agent reaches the server of Baton's own tools.

use crate::process::environment::{ATTEMPT_ID, AgentEnvironment};

/// The variable that holds the attempt's token.
pub const TOKEN: &str = "BATON_TOKEN";
/// Prefix of Baton's variables; all of them are passed on to the shim.
const OURS: &str = "BATON_";

#[derive(Clone, PartialEq, Eq)]
pub struct ToolServer {
    /// Server name under which the agent lists the tools.
    pub name: String,
    /// Streamable HTTP on loopback; None when no server runs.
    pub url: Option<String>,
    /// Authorises one attempt, limited to its own tools.
    pub token: String,
    /// Program and arguments that serve the same tools on standard streams.
    pub shim: Vec<String>,
}

/// Leaves the token out.
impl std::fmt::Debug for ToolServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolServer")
            .field("name", &self.name)
            .field("url", &self.url)
            .field("shim", &self.shim)
            .finish_non_exhaustive()
    }
}

impl ToolServer {
    /// The shim's program and its arguments, if there is one.
    pub fn shim(&self) -> Option<(&String, &[String])> {
        self.shim.split_first()
    }

    /// Variables the shim needs: not every agent passes its own environment on.
    pub fn shim_environment(&self, launch: &AgentEnvironment, attempt: &str) -> Vec<(String, String)> {
        let ours = launch.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
        let mut variables: Vec<(String, String)> = ours
            .filter(|(name, _)| name.starts_with(OURS) && *name != ATTEMPT_ID && *name != TOKEN)
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        variables.push((ATTEMPT_ID.to_owned(), attempt.to_owned()));
        variables.push((TOKEN.to_owned(), self.token.clone()));
        variables
    }
}
