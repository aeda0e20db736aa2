//! go-task's command line.

mod flags;
mod init;
mod main;
mod signals;
mod usage;

pub use main::{main, main_within};
