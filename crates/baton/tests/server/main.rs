//! The server as programs meet it: the real binary, over HTTP.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test helper that cannot go on says so by panicking"
)]

mod bad_input;
mod chat;
mod client;
mod door;
mod health;
mod place;
mod recipes;
mod replies;
mod restart;
mod results;
mod sockets;
mod streams;
mod websocket;
