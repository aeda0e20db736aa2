//! Messages of the Agent Client Protocol, version 1, as far as Baton uses them.
//!
//! Defined here instead of taken from the protocol's crate: that one changes `serde_json`'s key order for the whole
//! program, and its types with most releases. Unknown fields are ignored; missing ones have defaults.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The stable version. Agents answer with the version they support.
pub(super) const VERSION: u16 = 1;

// --- Opening ---

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Initialize {
    pub protocol_version: u16,
    pub client_capabilities: Value,
    pub client_info: ClientInfo,
}

#[derive(Debug, Serialize)]
pub(super) struct ClientInfo {
    pub name: &'static str,
    pub version: &'static str,
}

/// The response to `initialize`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeResult {
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
pub(super) struct Capabilities {
    pub load_session: bool,
    pub mcp_capabilities: McpCapabilities,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct McpCapabilities {
    pub http: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct AgentInfo {
    pub name: String,
    pub version: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct AuthMethod {
    pub name: String,
}

/// `session/new`, or `session/load` when there is a session id.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenSession {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub cwd: PathBuf,
    pub mcp_servers: Vec<McpServer>,
}

/// An HTTP server has a `type`; one that the agent starts has none.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum McpServer {
    Http {
        #[serde(rename = "type")]
        kind: &'static str,
        name: String,
        url: String,
        headers: Vec<NameValue>,
    },
    Started {
        name: String,
        command: String,
        args: Vec<String>,
        env: Vec<NameValue>,
    },
}

/// A header or an environment variable.
#[derive(Debug, Serialize)]
pub(super) struct NameValue {
    pub name: String,
    pub value: String,
}

// --- A turn ---

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct AcpUsage {
    #[serde(rename = "inputTokens")]
    pub input: u64,
    #[serde(rename = "outputTokens")]
    pub output: u64,
    pub cached_read_tokens: Option<u64>,
    pub cached_write_tokens: Option<u64>,
}

/// The content of a `session/update`.
#[derive(Debug, Deserialize)]
#[serde(tag = "sessionUpdate", rename_all = "snake_case")]
pub(super) enum SessionUpdate {
    AgentMessageChunk {
        content: AcpContent,
    },
    AgentThoughtChunk {
        content: AcpContent,
    },
    /// Read entry by entry: for people only, so what cannot be read does not spoil the rest.
    Plan {
        #[serde(default)]
        entries: Value,
    },
    ToolCall(AcpToolCall),
    #[serde(rename = "tool_call_update")]
    ToolChange(AcpToolCall),
    #[serde(rename = "usage_update")]
    Usage {
        cost: Option<AcpCost>,
    },
    /// Modes, lists of commands and unknown kinds: all ignored.
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct AcpContent {
    /// None for images and the like.
    #[serde(default)]
    pub text: Option<String>,
}

/// A new call or an update, which has only what changed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AcpToolCall {
    #[serde(rename = "toolCallId")]
    pub id: String,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub kind: Option<AcpToolKind>,
    #[serde(default)]
    pub status: Option<ToolStatus>,
    #[serde(default)]
    pub raw_input: Option<Value>,
    #[serde(default)]
    pub raw_output: Option<Value>,
    /// Read piece by piece, like a plan.
    #[serde(default)]
    pub content: Value,
}

/// One entry of an agent's own plan.
#[derive(Debug, Deserialize)]
pub(super) struct AcpPlanEntry {
    #[serde(default)]
    pub content: String,
    #[serde(default)]
    pub status: String,
}

/// What a tool shows: text, or a change to a file.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum AcpToolContent {
    Content {
        content: AcpContent,
    },
    #[serde(rename_all = "camelCase")]
    Diff {
        #[serde(default)]
        path: String,
        #[serde(default)]
        old_text: Option<String>,
        #[serde(default)]
        new_text: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AcpToolKind {
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
pub(super) enum ToolStatus {
    Completed,
    Failed,
    /// Pending, in progress, and future values.
    #[serde(other)]
    Open,
}

#[derive(Debug, Deserialize)]
pub(super) struct AcpCost {
    pub amount: f64,
    pub currency: String,
}

// --- Permissions ---

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionParams {
    pub tool_call: AcpToolCall,
    #[serde(default)]
    pub options: Vec<PermissionOption>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionOption {
    pub option_id: String,
    pub kind: OptionKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OptionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
    #[serde(other)]
    Other,
}
