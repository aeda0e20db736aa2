//! Agents of every kind under `baton up`: settings, questions, sessions, holds, budgets and results.

mod accounts;
mod asking;
mod budgets;
mod doctor;
pub(crate) mod fake;
mod going_back;
mod holds;
mod network_ask;
mod outcomes;
mod progress;
mod real;
mod registry;
mod settings;
mod soak;
