//! Commands with and without a running server: the same words either way, and a server that is gone is no trouble.

mod masked;
mod same;
mod stale;
mod streams;
