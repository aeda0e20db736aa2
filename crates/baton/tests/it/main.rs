//! The engine as a person runs it: the whole binary, real agents, real git, real stores.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by ending"
)]

mod accepting;
mod breaking_down;
mod checks;
mod keeping;
mod recycling;
mod retention;
mod shop;
mod sleeping;
mod store_choice;
mod worktrees;

// The store's own way to a PostgreSQL server, so that both crates' tests share one.
#[expect(dead_code, reason = "the store's tests also kill servers")]
#[path = "../../../store/tests/it/server.rs"]
mod server;
