//! Many machines on one PostgreSQL and one git remote: each a folder and processes of its own.

mod away;
mod cut;
mod fencing;
mod fleet;
mod limits;
mod network;
mod secrets;
pub mod sharing;
mod told;
mod warmth;
