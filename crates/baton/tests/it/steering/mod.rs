//! People at work with a live agent: what they say to it, and what it does then.

mod at_work;
mod chat;
mod messages;
mod takeover;
