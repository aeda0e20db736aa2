//! go-task's command line: flags, usage and exit codes. What the flags do is done elsewhere.

mod flags;
mod init;
mod main;
mod signals;
mod usage;

pub use main::{TaskCliOptions, main, main_with};
