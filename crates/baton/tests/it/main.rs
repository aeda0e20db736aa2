//! Baton as a person and a program meet it: the whole binary, real agents, real git, real stores. One test program,
//! because each one more is linked anew on every change.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by ending"
)]

mod agents;
mod arrows;
mod asking;
mod beside;
mod browser;
mod chatting;
mod cli;
mod configuring;
mod demo;
mod dependencies;
mod docs;
mod engine;
mod looping;
mod machines;
mod mcp;
mod product;
mod recipes;
mod server;
mod telemetry;
mod terminal;
mod up;

// The store's own way to a PostgreSQL server, so that both crates' tests share one.
#[expect(dead_code, reason = "the store's tests also kill servers")]
#[path = "../../../store/tests/it/server.rs"]
mod postgres;
