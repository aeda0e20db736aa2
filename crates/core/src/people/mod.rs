//! Who acts, and what they may do: actors, roles, tokens and the tools each client is offered.
//!
//! Sessions and messages are in [`records`](crate::records); questions to people are in [`ask`](crate::ask).

pub mod access_token;
pub mod actor;
pub mod owner_token;
pub mod role;
pub mod toolset;
