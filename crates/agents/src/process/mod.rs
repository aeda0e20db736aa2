//! Operating-system processes: starting one, owning its whole tree, and ending it.
//!
//! Everything that knows about pids, process groups, pipes, environments and `/proc` is here. What an agent says
//! on its streams and what that means is not: see `run` and `protocols`.

pub mod cgroup;
pub mod environment;
pub mod exit;
pub mod identity;
pub mod keeper;
pub mod marked;
pub mod memory;
mod memory_files;
pub mod memory_limit;
pub mod one_shot;
pub mod peer;
pub(crate) mod pipe;
pub mod piped_run;
pub mod secrecy;
mod socket_holder;
mod socket_table;
pub(crate) mod spawn;
mod table;
pub mod tree;
pub(crate) mod waiting;
pub mod watchdog;
