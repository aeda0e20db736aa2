//! Queries longer than a line of SQL: filtered lists, reads for many tasks, task groups.

pub(crate) mod bulk;
pub(crate) mod filter;
pub(crate) mod groups;
