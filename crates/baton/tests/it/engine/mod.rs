//! Tasks from start to end, through the whole binary with real git and real stores.

mod accepting;
mod attempt_services;
mod breaking_down;
mod cancelled_early;
mod checks;
mod control_groups;
mod environments;
mod hooks;
mod isolation;
mod killed;
mod machine_share;
mod partial_work;
mod recycling;
mod reflinks;
mod retention;
mod room;
mod snapshots;
pub(crate) mod store_choice;
mod suspend;
pub(crate) mod test_repo;
mod user_tasks;
mod worktrees;
