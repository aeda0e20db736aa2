//! The outside of Baton: REST, server-sent events and WebSocket, on one small server.
//!
//! Nothing is decided here. A request is read with care, becomes a command at the engine's desk, and what came of
//! it is told in JSON. Every client follows the same durable log of events.

pub mod app;
pub mod client;
pub mod error;
mod exposition;
mod follower;
pub mod guard;
pub mod guide;
mod input;
#[cfg(test)]
#[path = "../../core/tests/it/kept_page.rs"]
mod kept_page;
pub mod limits;
pub mod mcp;
mod metrics;
pub mod openapi;
mod pages;
pub mod report;
mod roles;
mod route;
mod routes;
pub mod serve;
mod snapshot_metrics;
mod socket;
mod sse;
pub mod state;
mod views;
mod visitor;
pub mod wire;
mod work_metrics;
