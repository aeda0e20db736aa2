//! What an agent is told before its first prompt: who we are, where it works, and where its tools are.

use std::path::PathBuf;

use serde_json::json;

use crate::driver::tool_server::ToolServer;
use crate::driver::{Launch, Resume};
use crate::presets::preset::{Preset, ToolsBy};
use crate::protocols::acp::messages::{
    Agent, ClientInfo, Initialize, McpServer, OpenSession, VERSION, Variable,
};

/// The first message of every conversation. Files and terminals are the agent's own business: it works in its
/// worktree with its own tools, so that what it does is the same as without us.
pub fn greeting() -> Initialize {
    Initialize {
        protocol_version: VERSION,
        client_capabilities: json!({
            "fs": {"readTextFile": false, "writeTextFile": false},
            "terminal": false,
            "elicitation": {"form": {}},
        }),
        client_info: ClientInfo { name: "baton", version: env!("CARGO_PKG_VERSION") },
    }
}

/// Everything of a launch that goes into a session.
#[derive(Debug, Clone)]
pub struct Opening {
    worktree: PathBuf,
    pub prompt: String,
    pub resume: Option<Resume>,
    pub mode: Option<&'static str>,
    pub model: Option<String>,
    tools: Option<ToolServer>,
    tools_by: ToolsBy,
    shim_environment: Vec<(String, String)>,
}

impl Opening {
    pub fn of(launch: &Launch, preset: &Preset) -> Self {
        let session = &launch.session;
        let attempt = launch.attempt.to_string();
        let environment = |tools: &ToolServer| tools.shim_environment(&launch.environment, &attempt);
        Self {
            worktree: launch.worktree.clone(),
            prompt: launch.prompt.clone(),
            resume: session.resume.clone(),
            mode: preset.mode,
            model: session.model.clone(),
            shim_environment: session.tools.as_ref().map(environment).unwrap_or_default(),
            tools: session.tools.clone(),
            tools_by: preset.tools_by,
        }
    }

    /// A new session, or an earlier one by its id.
    pub fn session(&self, id: Option<&str>, agent: &Agent) -> OpenSession {
        OpenSession {
            session_id: id.map(str::to_owned),
            cwd: self.worktree.clone(),
            mcp_servers: self.servers(agent),
        }
    }

    fn servers(&self, agent: &Agent) -> Vec<McpServer> {
        let Some(tools) = &self.tools else { return Vec::new() };
        let can_http = self.tools_by == ToolsBy::HttpOrShim && agent.can.mcp_capabilities.http;
        let name = tools.name.clone();
        match (&tools.url, tools.shim()) {
            (Some(url), _) if can_http => {
                let token =
                    Variable { name: "Authorization".to_owned(), value: format!("Bearer {}", tools.token) };
                vec![McpServer::Http { kind: "http", name, url: url.clone(), headers: vec![token] }]
            }
            (_, Some((program, arguments))) => {
                let variables = self.shim_environment.iter().cloned();
                let env = variables.map(|(name, value)| Variable { name, value }).collect();
                vec![McpServer::Started { name, command: program.clone(), args: arguments.to_vec(), env }]
            }
            (_, None) => Vec::new(),
        }
    }
}
