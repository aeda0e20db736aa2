//! LISTEN and NOTIFY: learning of commits by other processes, announcing our own, and passing pieces of logs between
//! machines.

pub(crate) mod feed;
pub(crate) mod listener;
pub(crate) mod logs;
pub(crate) mod throttle;
