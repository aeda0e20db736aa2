//! Commands with and without a running server print the same, also after a server was killed.

mod masked;
mod same;
mod stale;
mod streams;
