//! Known agents: how each is started and what sets it apart. Data only; no code here runs an agent.

pub mod kind;
pub mod known;
pub mod preset;
pub mod registry;
pub mod terminal;
