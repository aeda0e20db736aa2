//! The server as programs meet it: the real binary, over HTTP.

mod bad_input;
mod chat;
pub mod client;
mod door;
mod health;
mod pages;
mod people;
pub mod place;
mod recipes;
mod replies;
mod restart;
mod results;
mod sockets;
mod streams;
pub mod websocket;
