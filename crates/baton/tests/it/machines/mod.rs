//! Many machines on one PostgreSQL and one git remote: each a folder and processes of its own.

mod cut;
mod fencing;
mod fleet;
mod network;
mod sharing;
