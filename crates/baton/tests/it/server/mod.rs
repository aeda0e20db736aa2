//! The HTTP API of the real binary.

mod access;
mod bad_input;
mod chat;
pub mod client;
mod health;
mod pages;
mod people;
mod recipes;
mod replies;
mod restart;
mod results;
mod sockets;
mod streams;
pub mod test_server;
pub mod websocket;
