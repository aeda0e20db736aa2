//! The REST API: one list of routes, from which both the router and `/api/openapi.json` are built.
//!
//! Handlers parse a request, call the engine and return a view. They decide nothing. HTML belongs in `pages`, streams
//! in `live`, the tools of agents in `mcp`.

pub(crate) mod exposition;
pub(crate) mod keyed_call;
pub(crate) mod openapi;
pub(crate) mod recall;
pub(crate) mod route;
pub(crate) mod routes;
pub(crate) mod views;
