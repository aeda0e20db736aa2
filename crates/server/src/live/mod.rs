//! Following the event log: a reader of the log, server-sent events, and events as WebSocket messages.
//!
//! The WebSocket protocol itself is in `socket`.

pub(crate) mod follower;
pub(crate) mod sse;
pub mod wire;
