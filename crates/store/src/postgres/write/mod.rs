//! One write transaction: which rows it locks, what it decides about them, and the statements it sends.
//!
//! When transactions run, and for whom, is decided in `writer` and `claim`.

pub(crate) mod batch;
pub(crate) mod commit;
pub(crate) mod cycle;
pub(crate) mod edges;
pub(crate) mod facts;
pub(crate) mod lock;
pub(crate) mod put;
pub(crate) mod row;
pub(crate) mod unblock;
