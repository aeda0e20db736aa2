//! The task that commits changes, and the slot it waits for so that not all processes write at once.

pub(crate) mod committer;
pub(crate) mod slot;
