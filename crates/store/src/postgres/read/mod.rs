//! Queries that take more than one line of SQL: lists with filters, task groups.

pub(crate) mod bulk;
pub(crate) mod filter;
pub(crate) mod groups;
