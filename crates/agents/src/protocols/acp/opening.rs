//! What an agent is told before its first prompt: the client, its folder and its tools.

use std::path::PathBuf;

use serde_json::json;

use crate::driver::tool_server::ToolServer;
use crate::driver::{Launch, SessionResume};
use crate::presets::preset::{Preset, ToolTransport};
use crate::protocols::acp::messages::{
    ClientInfo, Initialize, InitializeResult, McpServer, NameValue, OpenSession, VERSION,
};

/// The `initialize` parameters. Baton offers neither file access nor terminals: the agent works in its worktree with its
/// own tools, as it would without Baton.
pub(super) fn greeting() -> Initialize {
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

/// The part of a launch that a session needs.
#[derive(Debug, Clone)]
pub(super) struct Opening {
    worktree: PathBuf,
    pub prompt: String,
    pub resume: Option<SessionResume>,
    pub mode: Option<&'static str>,
    pub model: Option<String>,
    pub effort: Option<String>,
    tools: Option<ToolServer>,
    tool_transport: ToolTransport,
    shim_environment: Vec<(String, String)>,
}

impl Opening {
    pub(super) fn new(launch: &Launch, preset: &Preset) -> Self {
        let session = &launch.session;
        let attempt = launch.attempt.to_string();
        let environment = |tools: &ToolServer| tools.shim_environment(&launch.environment, &attempt);
        Self {
            worktree: launch.worktree.clone(),
            prompt: launch.prompt.clone(),
            resume: session.resume.clone(),
            mode: preset.mode,
            model: session.model.clone(),
            effort: session.effort.clone(),
            shim_environment: session.tools.as_ref().map(environment).unwrap_or_default(),
            tools: session.tools.clone(),
            tool_transport: preset.tool_transport,
        }
    }

    /// Parameters for a new session, or for an earlier one by its id.
    pub(super) fn session(&self, id: Option<&str>, agent: &InitializeResult) -> OpenSession {
        OpenSession {
            session_id: id.map(str::to_owned),
            cwd: self.worktree.clone(),
            mcp_servers: self.servers(agent),
        }
    }

    fn servers(&self, agent: &InitializeResult) -> Vec<McpServer> {
        let Some(tools) = &self.tools else { return Vec::new() };
        let can_http = self.tool_transport == ToolTransport::HttpOrShim && agent.can.mcp_capabilities.http;
        let name = tools.name.clone();
        match (&tools.url, tools.shim()) {
            (Some(url), _) if can_http => {
                let token =
                    NameValue { name: "Authorization".to_owned(), value: format!("Bearer {}", tools.token) };
                vec![McpServer::Http { kind: "http", name, url: url.clone(), headers: vec![token] }]
            }
            (_, Some((program, arguments))) => {
                let variables = self.shim_environment.iter().cloned();
                let env = variables.map(|(name, value)| NameValue { name, value }).collect();
                vec![McpServer::Started { name, command: program.clone(), args: arguments.to_vec(), env }]
            }
            (_, None) => Vec::new(),
        }
    }
}
