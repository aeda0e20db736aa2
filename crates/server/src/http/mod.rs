//! What every request goes through before a handler sees it: who may connect, how much is accepted, how input is
//! parsed, and how errors look.
//!
//! Nothing here knows the application state, a route or a page.

pub mod error;
pub mod guard;
pub(crate) mod idempotency;
pub(crate) mod input;
pub mod limits;
pub(crate) mod paths;
pub mod peer;
pub(crate) mod roles;
