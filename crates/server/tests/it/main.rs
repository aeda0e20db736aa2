//! The server's own promises, held in this process: what its document says is what it does.
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
