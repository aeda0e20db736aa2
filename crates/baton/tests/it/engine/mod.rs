//! The engine as a person runs it: the whole binary, real agents, real git, real stores.

mod accepting;
mod breaking_down;
mod checks;
mod keeping;
mod killed;
mod recycling;
mod retention;
pub mod shop;
mod sleeping;
pub mod store_choice;
mod user_tasks;
mod worktrees;
