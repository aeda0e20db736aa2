//! Drivers with real agent processes, well-behaved and not.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod acp;
mod acp_asking;
mod acp_resume;
mod bench;
mod bounds;
mod endings;
mod failures;
mod fence;
#[path = "../../../baton/tests/it/gate.rs"]
mod gate;
mod killed_driver;
mod model;
mod orphans;
mod probes;
mod real;
mod reports;
mod scripted;
mod steering;
mod streams;
mod trees;
#[path = "../../../baton/tests/it/wait.rs"]
mod wait;
mod watchdog;
