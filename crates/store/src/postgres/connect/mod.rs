//! Connections to the server: options, TLS, passwords, the pool, pipelined statements, and what an error means.
//!
//! No statement on a table belongs here.

pub(crate) mod connector;
pub(crate) mod fault;
pub(crate) mod password;
pub(crate) mod pipeline;
pub(crate) mod pool;
pub(crate) mod tls;
