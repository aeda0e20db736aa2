//! The MCP tools.
//!
//! One set of tools on three surfaces: `/mcp` over streamable HTTP, `baton mcp` on stdio, and `/api/tools`, which
//! `baton mcp` uses when a server runs. Core decides which tools a caller is offered ([`baton_core::people::toolset`]); no
//! others can be called. Nothing here knows REST or pages.

mod answer;
mod arguments;
mod attempt_tools;
mod caller;
mod catalog;
mod dispatch;
mod handler;
mod inputs;
pub mod mount;
mod person_tools;
mod queue_tools;
#[cfg(test)]
mod reference;
mod toolbox;
mod user_task_tools;

pub use answer::{ToolAnswer, UserTaskResult};
pub use caller::Caller;
pub use catalog::{SideEffects, ToolSpec};
pub use handler::{McpHandler, ToolProvider, serve_stdio};
pub use toolbox::Toolbox;
