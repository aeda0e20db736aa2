//! The threads that own connections (one writer, a few readers, one poller) and the writer's queue.
//!
//! They decide when a statement runs. The statements are in `read` and `write`.

pub(crate) mod job;
pub(crate) mod poller;
pub(crate) mod queue;
pub(crate) mod readers;
pub(crate) mod replies;
pub(crate) mod thread_count;
pub(crate) mod writer;
