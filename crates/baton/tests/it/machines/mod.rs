//! Many machines on one PostgreSQL and one git remote: each a folder and processes of its own.

mod clone_affinity;
mod fencing;
mod fleet;
mod limits;
mod network;
mod network_cuts;
mod notices;
mod remote_outage;
mod secrets;
pub mod sharing;
