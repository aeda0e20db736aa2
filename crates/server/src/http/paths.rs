//! Paths that more than one folder must know: the guard lets some requests through before their handler checks them.

/// The MCP endpoint, for agents and for people's own clients.
pub(crate) const MCP: &str = "/mcp";
/// The same tools without the protocol; `baton mcp` forwards calls here.
pub(crate) const TOOLS: &str = "/api/tools";
/// Where `baton ask` posts, for agents that only have a command line.
pub(crate) const ATTEMPT_QUESTIONS: &str = "/api/attempt/questions";
/// The only call that needs no token, because it is where a browser presents one.
pub(crate) const LOGIN: &str = "/api/login";
/// The WebSocket, which receives its token in the first message instead of a header.
pub(crate) const SOCKET: &str = "/ws";
