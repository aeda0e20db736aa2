//! What a loop has come to so far, in numbers. The hub shows it when the loop ends.
//!
//! The loop adds each phase's results once, when it hands them on or is broken off.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopSummary {
    pub iterations: u32,
    pub tasks_completed: u32,
    pub tasks_failed: u32,
    pub tasks_discovered: u32,
    pub duplicates_skipped: u32,
}

impl fmt::Display for LoopSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Iterations: {}", self.iterations)?;
        writeln!(f, "Tasks completed: {}", self.tasks_completed)?;
        writeln!(f, "Tasks failed: {}", self.tasks_failed)?;
        writeln!(f, "Tasks discovered: {}", self.tasks_discovered)?;
        write!(f, "Duplicates skipped: {}", self.duplicates_skipped)
    }
}
