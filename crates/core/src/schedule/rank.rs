//! The place in the queue, as one small number a store can index.

use serde::{Deserialize, Serialize};

use crate::base::id::TaskId;
use crate::base::priority::Priority;
use crate::base::time::Timestamp;

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

/// How long a task has to wait for each step its priority is lower, before it comes ahead of one that was just made.
/// So nothing waits for ever: whatever comes in, it is passed by what is at most three steps younger.
pub const AGEING_MS: i64 = 4 * 60 * 60 * 1_000;

/// Urgency, then priority and age against each other, in one number; the lower one is claimed first.
///
/// Age counts from the moment a task was made, and the number is fixed from then on: nothing has to be counted again
/// as time goes by, and a store finds the first one by an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct ClaimRank(i64);

/// A stored number that is no rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a claim rank, so the stored row is damaged")]
pub struct BadClaimRank(pub i64);

impl ClaimRank {
    /// How many numbers one urgency takes up: more than there are milliseconds in all years that have four digits.
    const PER_URGENCY: i64 = 1 << 48;
    /// Before there was ageing, ranks were urgency and priority alone: 0 to 3 for resumed work, 4 to 7 for the rest.
    /// What was ready then is older than anything made since, and its numbers are lower.
    const EARLIER_MAX: i64 = 7;

    pub fn of(urgency: Urgency, priority: Priority, created_at: Timestamp) -> Self {
        let due_ms = created_at.ms() + i64::from(priority.level()) * AGEING_MS;
        match urgency {
            Urgency::Resumed => Self(Self::PER_URGENCY + due_ms),
            Urgency::Normal => Self(2 * Self::PER_URGENCY + due_ms),
        }
    }

    pub const fn number(self) -> i64 {
        self.0
    }

    pub const fn urgency(self) -> Urgency {
        let is_resumed =
            if self.0 <= Self::EARLIER_MAX { self.0 <= 3 } else { self.0 < 2 * Self::PER_URGENCY };
        if is_resumed { Urgency::Resumed } else { Urgency::Normal }
    }
}

impl TryFrom<i64> for ClaimRank {
    type Error = BadClaimRank;

    fn try_from(number: i64) -> Result<Self, BadClaimRank> {
        let is_earlier = (0..=Self::EARLIER_MAX).contains(&number);
        let is_rank = (Self::PER_URGENCY..3 * Self::PER_URGENCY).contains(&number);
        if is_earlier || is_rank { Ok(Self(number)) } else { Err(BadClaimRank(number)) }
    }
}

impl From<ClaimRank> for i64 {
    fn from(rank: ClaimRank) -> i64 {
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
    use proptest::prelude::*;

    fn rank(urgency: Urgency, priority: Priority, created_ms: i64) -> ClaimRank {
        ClaimRank::of(urgency, priority, Timestamp::from_ms(created_ms))
    }

    #[test]
    fn resumed_work_comes_first_and_priority_decides_within() {
        let ranks: Vec<ClaimRank> = Urgency::ALL
            .into_iter()
            .flat_map(|urgency| Priority::ALL.map(|priority| rank(urgency, priority, 1_000)))
            .collect();
        assert!(ranks.is_sorted() && ranks.windows(2).all(|pair| pair[0] != pair[1]), "{ranks:?}");
        assert!(ranks[..4].iter().all(|rank| rank.urgency() == Urgency::Resumed));
        assert!(ranks[4..].iter().all(|rank| rank.urgency() == Urgency::Normal));
    }

    #[test]
    fn a_rank_is_stored_as_its_number_and_checked_on_the_way_back() {
        let stored = serde_json::to_string(&rank(Urgency::Normal, Priority::P1, 7)).unwrap();
        assert_eq!(stored, "562949967821319");
        assert_eq!(
            serde_json::from_str::<ClaimRank>(&stored).unwrap(),
            rank(Urgency::Normal, Priority::P1, 7)
        );
        for damaged in [-1, 8, 1 << 47, 3 << 48] {
            assert_eq!(ClaimRank::try_from(damaged), Err(BadClaimRank(damaged)));
        }
    }

    #[test]
    fn what_was_ready_before_there_was_ageing_comes_first() {
        for earlier in 0..=7 {
            let kept = ClaimRank::try_from(earlier).unwrap();
            assert_eq!(kept.urgency(), if earlier <= 3 { Urgency::Resumed } else { Urgency::Normal });
            assert!(kept < rank(Urgency::Resumed, Priority::P0, 0));
        }
    }

    proptest! {
        /// Whoever waits is passed only by what is at most three steps younger, however much comes in.
        #[test]
        fn nothing_starves(younger: u32, low in 0_usize..4, high in 0_usize..4, made in 0_i64..1 << 41) {
            let (low, high) = (Priority::ALL[low], Priority::ALL[high]);
            let later = made + i64::from(younger);
            let waiting = rank(Urgency::Normal, low, made);
            let newcomer = rank(Urgency::Normal, high, later + 3 * AGEING_MS + 1);
            prop_assert!(waiting < newcomer, "{}", younger);
        }

        #[test]
        fn within_a_priority_first_come_first_served(level in 0_usize..4, made in 0_i64..1 << 41, wait in 1_i64..1 << 41) {
            for urgency in Urgency::ALL {
                let priority = Priority::ALL[level];
                prop_assert!(rank(urgency, priority, made) < rank(urgency, priority, made + wait));
            }
        }

        #[test]
        fn of_two_made_at_once_the_more_urgent_is_first(level in 0_usize..3, made in 0_i64..1 << 41) {
            let (high, low) = (Priority::ALL[level], Priority::ALL[level + 1]);
            prop_assert!(rank(Urgency::Normal, high, made) < rank(Urgency::Normal, low, made));
        }
    }
}
