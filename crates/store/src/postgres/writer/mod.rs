//! The task that commits changes, and the slots that limit how many processes write at once.

pub(crate) mod committer;
pub(crate) mod slot;
