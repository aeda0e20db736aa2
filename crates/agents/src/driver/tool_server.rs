//! The server of Baton's own tools, as an agent is told of it.

use crate::process::environment::{ATTEMPT_ID, Environment};

/// The variable that holds the attempt's token.
pub const TOKEN: &str = "BATON_TOKEN";
/// Everything of Baton's in an agent's environment begins so, and goes on to the shim.
const OURS: &str = "BATON_";

/// Where the tools are.
#[derive(Clone, PartialEq, Eq)]
pub struct ToolServer {
    /// How the agent names it; its tools appear under this name.
    pub name: String,
    /// Streamable HTTP on loopback. None when no server runs.
    pub url: Option<String>,
    /// Lets in one attempt, and only for what it may do.
    pub token: String,
    /// The program that brings the same tools over standard streams, with its arguments.
    pub shim: Vec<String>,
}

/// Without the token.
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
    /// The shim's program and its arguments; none when there is none.
    pub fn shim(&self) -> Option<(&String, &[String])> {
        self.shim.split_first()
    }

    /// What the shim must find in its environment: not every agent passes its own on.
    pub fn shim_environment(&self, launch: &Environment, attempt: &str) -> Vec<(String, String)> {
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
