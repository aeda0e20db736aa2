//! Statements that change rows. All of them run on the writer thread, inside its transaction.

pub(crate) mod apply;
pub(crate) mod claim;
pub(crate) mod edges;
pub(crate) mod history;
pub(crate) mod leases;
pub(crate) mod rendered;
pub(crate) mod shares;
pub(crate) mod task;
pub(crate) mod unblock;
pub(crate) mod workers;
