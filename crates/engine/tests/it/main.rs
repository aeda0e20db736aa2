//! The engine against real stores, real git and real processes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;
mod pruner;
mod rebreakdown;
mod recipes;
mod repo;
mod rescue;
mod routines;
mod tasks;
mod works;
mod worktree;
