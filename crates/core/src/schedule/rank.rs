//! The place in the queue, as one small number a store can index.

use serde::{Deserialize, Serialize};

use crate::id::TaskId;
use crate::priority::Priority;
use crate::time::Timestamp;

/// Work a person has already spent a thought on comes before work nobody has touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// The human replied to it, or rejected its last result: its context is warm and someone waits.
    Resumed,
    Normal,
}

impl Urgency {
    pub const ALL: [Self; 2] = [Self::Resumed, Self::Normal];
}

/// Urgency, then priority, in one number; the lower one is claimed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct ClaimRank(u8);

/// A stored number that is no rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a claim rank; ranks are 0 (first) to 7 (last), so the stored row is damaged")]
pub struct BadClaimRank(pub u8);

impl ClaimRank {
    /// How many ranks one urgency takes up: one for each priority.
    const PER_URGENCY: u8 = 4;
    const MAX: u8 = 2 * Self::PER_URGENCY - 1;

    pub const fn of(urgency: Urgency, priority: Priority) -> Self {
        match urgency {
            Urgency::Resumed => Self(priority.level()),
            Urgency::Normal => Self(Self::PER_URGENCY + priority.level()),
        }
    }

    pub const fn number(self) -> u8 {
        self.0
    }

    pub const fn urgency(self) -> Urgency {
        if self.0 < Self::PER_URGENCY { Urgency::Resumed } else { Urgency::Normal }
    }
}

impl TryFrom<u8> for ClaimRank {
    type Error = BadClaimRank;

    fn try_from(number: u8) -> Result<Self, BadClaimRank> {
        if number <= Self::MAX { Ok(Self(number)) } else { Err(BadClaimRank(number)) }
    }
}

impl From<ClaimRank> for u8 {
    fn from(rank: ClaimRank) -> u8 {
        rank.0
    }
}

/// The whole claim order: rank, then age, then id. No two tasks are equal in it, so every store and every
/// restart puts them in the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClaimOrder {
    pub rank: ClaimRank,
    pub created_at: Timestamp,
    pub task: TaskId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resumed_work_comes_first_and_priority_decides_within() {
        let ranks: Vec<ClaimRank> = Urgency::ALL
            .into_iter()
            .flat_map(|urgency| Priority::ALL.map(|priority| ClaimRank::of(urgency, priority)))
            .collect();
        assert_eq!(ranks.iter().map(|rank| rank.number()).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(ranks[..4].iter().all(|rank| rank.urgency() == Urgency::Resumed));
        assert!(ranks[4..].iter().all(|rank| rank.urgency() == Urgency::Normal));
    }

    #[test]
    fn a_rank_is_stored_as_its_number_and_checked_on_the_way_back() {
        let rank = ClaimRank::of(Urgency::Normal, Priority::P1);
        assert_eq!(serde_json::to_string(&rank).unwrap(), "5");
        assert_eq!(serde_json::from_str::<ClaimRank>("5").unwrap(), rank);
        assert_eq!(ClaimRank::try_from(8), Err(BadClaimRank(8)));
        assert!(serde_json::from_str::<ClaimRank>("8").is_err());
    }
}
