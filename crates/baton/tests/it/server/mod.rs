//! The HTTP API of the real binary.

mod access;
mod attachments;
mod bad_input;
mod chat;
mod chat_to_run;
pub(crate) mod client;
mod faults;
mod health;
mod honest_lists;
mod idempotency;
mod memory;
mod pages;
mod people;
mod recipes;
mod replies;
mod restart;
mod results;
mod reviewing;
mod routines;
mod run_projects;
mod runs;
mod sockets;
mod standing_still;
mod streams;
pub(crate) mod test_server;
mod told_truly;
pub(crate) mod websocket;
