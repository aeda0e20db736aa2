//! The running totals of a loop. The hub shows them when the loop ends.
//!
//! Each phase's results are added once, when the phase hands off or is aborted.

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
