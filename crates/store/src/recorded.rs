//! An event with its number.

use baton_core::records::event::Event;
use serde::{Deserialize, Serialize};

/// One line of the history. Numbers start at 1, grow with every commit, and leave no gaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    pub seq: u64,
    #[serde(flatten)]
    pub event: Event,
}
