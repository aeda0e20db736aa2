//! Asking a human while an agent waits: permission requests, the asker the engine supplies, and pending questions.
//!
//! How each protocol phrases a request and its answer belongs in `protocols`.

pub mod asker;
pub(crate) mod pending;
pub mod permission;
