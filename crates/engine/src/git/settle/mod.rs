//! What an attempt came to: its commits are brought into the person's repository, uncommitted work is committed, and all of it
//! is measured. Git runs in the person's repository only, never with the clone's configuration.

pub(crate) mod bring;
pub(crate) mod file_index;
pub(crate) mod findings;
pub(crate) mod leftovers;
pub(crate) mod measure;
mod own_commits;
pub(crate) mod quarantine;
pub(crate) mod settlement;
