//! The store as a file: opening, locking, upgrading, watching, copying and restoring it.
//!
//! Statements on rows belong in `read` and `write`.

pub(crate) mod backup;
pub(crate) mod condition;
pub(crate) mod lock;
pub(crate) mod migrate;
pub(crate) mod open;
pub(crate) mod restore;
