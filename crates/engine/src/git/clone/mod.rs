//! An attempt's repository of its own: a clone that borrows the person's objects and has its own refs, configuration, hooks
//! and index. An agent may do anything in there; Baton only reads files from it, and runs git elsewhere.

pub(crate) mod checkout;
pub(crate) mod config;
pub(crate) mod files;
mod legacy;
pub(crate) mod make;
pub(crate) mod private_clone;
pub(crate) mod record;
pub(crate) mod refs;
mod reuse;
pub(crate) mod scratch;
pub(crate) mod setup;
mod spare;
pub(crate) mod worktrees;
