//! Several processes on one store: node names, heartbeats, leader election, locks, logs of other machines.

pub mod attempt_log;
pub mod error;
pub mod fleet_size;
pub mod leader;
pub mod log_relay;
pub mod merge_lock;
pub mod node;
pub mod running;
