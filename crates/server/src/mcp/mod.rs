//! The tools agents are given, and the protocol they come by.
//!
//! One set of tools, three doors: `/mcp` for agents and clients that speak streamable HTTP, `baton mcp` on standard
//! input and output, and `/api/tools` for the latter when a server runs. Which tools a caller is offered is core's
//! word ([`baton_core::toolset`]); what is not offered cannot be called.

mod answer;
mod arguments;
mod attempt_tools;
mod caller;
mod catalog;
mod dispatch;
mod handler;
pub mod mount;
mod queue_tools;
#[cfg(test)]
mod reference;
mod toolbox;
mod user_task_tools;

pub use answer::ToolAnswer;
pub use caller::Caller;
pub(crate) use catalog::STATUSES;
pub use catalog::{SideEffects, ToolSpec};
pub use handler::{McpHandler, ToolProvider, serve_stdio};
pub use toolbox::Toolbox;
