//! Integration tests of the server, in one process.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod conversation;
mod openapi;
mod pages;
mod people;
mod roles;
mod schema;
mod stage;
