//! Everything that talks HTTP: REST, server-sent events, WebSocket, MCP and the web pages, on one server.
//!
//! Nothing is decided here. A handler parses a request, calls the engine and renders the result. Every client follows
//! the same durable event log.
//!
//! | folder | what it is | imports |
//! | --- | --- | --- |
//! | `http` | guard, limits, input, errors, roles | nothing |
//! | `observe` | metrics | nothing |
//! | `schema` | JSON schemas of values | `http` |
//! | `state` | what all handlers share, and who makes a request | `http`, `observe` |
//! | `live` | the event log as a stream | `state` |
//! | `mcp` | the tools of agents | `state`, `schema` |
//! | `api` | REST and its OpenAPI document | `live`, `mcp` |
//! | `socket` | WebSocket | `api`, `live` |
//! | `pages` | HTML | `api`, `live` |
//! | `serve` | the router and the listener | all of the above |
//! | `client` | the other end, for the command line | `serve` |

mod api;
pub mod client;
pub mod http;
#[cfg(test)]
#[path = "../../core/tests/it/kept_page.rs"]
mod kept_page;
pub mod live;
pub mod mcp;
mod observe;
pub mod pages;
mod schema;
pub mod serve;
mod socket;
pub mod state;
