//! End-to-end tests: the whole binary, real agents, real git, real stores. One test program, because each additional one
//! costs a link on every change.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod agents;
mod arrows;
mod asking;
mod attack;
mod beside;
mod browser;
mod chat_command;
mod cli;
mod config_command;
mod crash_matrix;
mod demo;
mod dependencies;
mod docs;
mod engine;
mod folders;
mod gate;
mod landing;
mod looping;
mod machines;
mod mcp;
mod names;
mod narration;
mod port;
mod product;
mod reading;
mod recipes;
mod server;
mod services;
mod source;
mod steering;
mod telemetry;
mod terminal;
mod tmux;
mod up;
mod wait;
mod watching;

// Shares one PostgreSQL server with the tests of the store.
#[expect(dead_code, reason = "the store's tests use more of it")]
#[path = "../../../store/tests/it/server.rs"]
mod postgres;
