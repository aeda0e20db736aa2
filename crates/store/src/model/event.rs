//! A stored event and its number.

use baton_core::records::event::Event;
use serde::{Deserialize, Serialize};

/// Numbers start at 1, grow with every commit and have no gaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredEvent {
    pub seq: u64,
    #[serde(flatten)]
    pub event: Event,
}
