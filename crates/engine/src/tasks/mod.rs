//! Commands on tasks: read the rows, let core decide, commit in one transaction.
//!
//! Nothing here starts a process, touches git or waits for an agent.

pub(crate) mod asker;
mod cancelling;
pub mod chat;
pub mod conversation;
pub(crate) mod decision;
pub mod error;
pub(crate) mod graph;
mod home;
mod messages;
mod reopening;
pub mod service;
pub mod start_at;

pub(crate) use messages::BesideMessage;
