//! Queries. They run on a reader thread, inside one read transaction.

pub(crate) mod bulk;
pub(crate) mod graph;
pub(crate) mod groups;
pub(crate) mod history;
pub(crate) mod leases;
pub(crate) mod lists;
pub(crate) mod workers;
