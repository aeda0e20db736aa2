//! What an agent is told before its first prompt: who we are, where it works, and where its tools are.

use std::path::PathBuf;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    ClientCapabilities, ElicitationCapabilities, ElicitationFormCapabilities, EnvVariable, HttpHeader,
    Implementation, InitializeRequest, InitializeResponse, LoadSessionRequest, McpServer, McpServerHttp,
    McpServerStdio, NewSessionRequest,
};

use crate::driver::{Launch, Resume};
use crate::preset::{Preset, ToolsBy};
use crate::tool_server::ToolServer;

/// The first message of every conversation. Files and terminals are the agent's own business: it works in its
/// worktree with its own tools, so that what it does is the same as without us.
pub fn greeting() -> InitializeRequest {
    let elicitation = ElicitationCapabilities::new().form(ElicitationFormCapabilities::new());
    InitializeRequest::new(ProtocolVersion::V1)
        .client_capabilities(ClientCapabilities::new().elicitation(elicitation))
        .client_info(Implementation::new("baton", env!("CARGO_PKG_VERSION")))
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

    pub fn new_session(&self, agent: &InitializeResponse) -> NewSessionRequest {
        NewSessionRequest::new(&self.worktree).mcp_servers(self.servers(agent))
    }

    pub fn load_session(&self, session: &str, agent: &InitializeResponse) -> LoadSessionRequest {
        LoadSessionRequest::new(session.to_owned(), &self.worktree).mcp_servers(self.servers(agent))
    }

    fn servers(&self, agent: &InitializeResponse) -> Vec<McpServer> {
        let Some(tools) = &self.tools else { return Vec::new() };
        let can_http = self.tools_by == ToolsBy::HttpOrShim && agent.agent_capabilities.mcp_capabilities.http;
        match (&tools.url, tools.shim()) {
            (Some(url), _) if can_http => {
                let token = HttpHeader::new("Authorization", format!("Bearer {}", tools.token));
                vec![McpServer::Http(McpServerHttp::new(&tools.name, url).headers(vec![token]))]
            }
            (_, Some((program, arguments))) => {
                let variables = self.shim_environment.iter();
                let variables = variables.map(|(name, value)| EnvVariable::new(name, value)).collect();
                let shim = McpServerStdio::new(&tools.name, program).args(arguments.to_vec()).env(variables);
                vec![McpServer::Stdio(shim)]
            }
            (_, None) => Vec::new(),
        }
    }
}
