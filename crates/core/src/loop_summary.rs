//! What a loop has come to so far, in numbers. The hub shows it when the loop ends.
//!
//! The loop adds each phase's results once, when it hands them on or is broken off.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::handoff::Results;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopSummary {
    pub iterations: u32,
    pub tasks_completed: u32,
    pub tasks_failed: u32,
    pub tasks_discovered: u32,
    pub duplicates_skipped: u32,
}

impl LoopSummary {
    pub(crate) fn with(mut self, results: &Results) -> Self {
        match results {
            Results::Started | Results::Planned { .. } | Results::Ended { .. } => {}
            Results::Executed { completed, failed } => {
                self.tasks_completed = self.tasks_completed.saturating_add(count(completed.len()));
                self.tasks_failed = self.tasks_failed.saturating_add(count(failed.len()));
            }
            Results::Reviewed { discovered, duplicates_skipped } => {
                self.tasks_discovered = self.tasks_discovered.saturating_add(*discovered);
                self.duplicates_skipped = self.duplicates_skipped.saturating_add(*duplicates_skipped);
            }
        }
        self
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
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
