//! The tables: creating and migrating them, and the SQL that prepares a server for them.

pub(crate) mod migrate;
pub(crate) mod setup;
