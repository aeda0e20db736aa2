//! Several machines, each with its own folder and processes, on one PostgreSQL and one git remote.

mod clone_affinity;
mod fencing;
mod fleet;
mod landing;
mod limits;
mod network;
pub(crate) mod network_cuts;
mod notices;
mod remote_outage;
mod routines;
mod secrets;
pub(crate) mod sharing;
