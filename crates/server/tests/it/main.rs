//! Integration tests of the server, in one process.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test helper that cannot go on says so by panicking"
)]

mod conversation;
mod openapi;
mod pages;
mod people;
mod roles;
mod schema;
mod stage;
