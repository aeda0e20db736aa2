//! The store's tests: one conformance suite for every backend, and tests specific to each.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on says so by ending"
)]

mod kill;
mod killed;
mod least;
mod logs;
mod migrations;
mod outage;
mod postgres;
#[expect(dead_code, reason = "the tests of many machines put one into a network of its own")]
mod server;
mod sharing;
mod sqlite;
mod sqlite_file;
mod suite;
mod tls;
mod turns;
