//! The engine as a person runs it: the whole binary, real agents, real git, real stores.

mod accepting;
mod breaking_down;
mod checks;
mod killed;
mod recycling;
mod retention;
mod snapshots;
pub mod store_choice;
mod suspend;
pub mod test_repo;
mod user_tasks;
mod worktrees;
