//! The messages of the Agent Client Protocol, version 1, as far as Baton says or hears them.
//!
//! Written down here and not taken from the protocol's own crate: that one switches `serde_json` to another order of
//! keys for every crate of the program, and changes its types with most releases. What an agent adds is left out;
//! what it leaves out has a default.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version that is stable. Agents answer with the one they speak.
pub const VERSION: u16 = 1;

// --- Opening ---

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Initialize {
    pub protocol_version: u16,
    pub client_capabilities: Value,
    pub client_info: ClientInfo,
}

#[derive(Debug, Serialize)]
pub struct ClientInfo {
    pub name: &'static str,
    pub version: &'static str,
}

/// An agent's greeting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    pub protocol_version: u16,
    #[serde(default, rename = "agentCapabilities")]
    pub can: Capabilities,
    #[serde(default, rename = "agentInfo")]
    pub info: Option<AgentInfo>,
    #[serde(default)]
    pub auth_methods: Vec<AuthMethod>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Capabilities {
    pub load_session: bool,
    pub mcp_capabilities: McpCapabilities,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct McpCapabilities {
    pub http: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct AgentInfo {
    pub name: String,
    pub version: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct AuthMethod {
    pub name: String,
}

/// `session/new`, and `session/load` with the id of the session.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenSession {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub cwd: PathBuf,
    pub mcp_servers: Vec<McpServer>,
}

/// A server reached by HTTP says so; one that is started has no `type`.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum McpServer {
    Http {
        #[serde(rename = "type")]
        kind: &'static str,
        name: String,
        url: String,
        headers: Vec<Variable>,
    },
    Started {
        name: String,
        command: String,
        args: Vec<String>,
        env: Vec<Variable>,
    },
}

/// A header, or a variable of an environment.
#[derive(Debug, Serialize)]
pub struct Variable {
    pub name: String,
    pub value: String,
}

// --- A turn ---

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    #[serde(rename = "inputTokens")]
    pub input: u64,
    #[serde(rename = "outputTokens")]
    pub output: u64,
    pub cached_read_tokens: Option<u64>,
    pub cached_write_tokens: Option<u64>,
}

/// What a `session/update` tells.
#[derive(Debug, Deserialize)]
#[serde(tag = "sessionUpdate", rename_all = "snake_case")]
pub enum Update {
    AgentMessageChunk {
        content: Content,
    },
    ToolCall(ToolCall),
    #[serde(rename = "tool_call_update")]
    ToolChange(ToolCall),
    #[serde(rename = "usage_update")]
    Usage {
        cost: Option<Cost>,
    },
    /// Thoughts, plans, modes and lists of commands, and whatever else: it decides nothing.
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub struct Content {
    /// None for pictures and the like.
    #[serde(default)]
    pub text: Option<String>,
}

/// Announced or updated; an update says only what is new.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    #[serde(rename = "toolCallId")]
    pub id: String,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub kind: Option<ToolKind>,
    #[serde(default)]
    pub status: Option<ToolStatus>,
    #[serde(default)]
    pub raw_input: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    Completed,
    Failed,
    /// Pending, in progress, and words of tomorrow.
    #[serde(other)]
    Open,
}

#[derive(Debug, Deserialize)]
pub struct Cost {
    pub amount: f64,
    pub currency: String,
}

// --- Permissions ---

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionParams {
    pub tool_call: ToolCall,
    #[serde(default)]
    pub options: Vec<PermissionOption>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionOption {
    pub option_id: String,
    pub kind: OptionKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
    #[serde(other)]
    Other,
}
