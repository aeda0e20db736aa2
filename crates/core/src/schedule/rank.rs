//! The claim rank: the position in the queue as one number that a store can index.

use serde::{Deserialize, Serialize};

use crate::base::id::TaskId;
use crate::base::priority::Priority;
use crate::base::time::Timestamp;

/// Work a person already responded to comes before untouched work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// The human replied to it, or rejected its last result: its context is warm and someone is waiting.
    Resumed,
    Normal,
}

impl Urgency {
    pub const ALL: [Self; 2] = [Self::Resumed, Self::Normal];
}

/// How long a task waits, per priority step, before it overtakes a newly created one of the higher priority. So
/// nothing starves: a task is overtaken only by tasks at most three steps younger.
pub const AGEING_MS: i64 = 4 * 60 * 60 * 1_000;

/// Urgency, then priority weighed against age, in one number; lower is claimed first.
///
/// Age counts from creation, so the number never changes: nothing has to be recomputed as time passes, and a store
/// finds the first task by an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct ClaimRank(i64);

/// A stored number that is not a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a claim rank, so the stored row is damaged")]
pub struct InvalidClaimRank(pub i64);

impl ClaimRank {
    /// The range of one urgency: more than the milliseconds in all four-digit years.
    const PER_URGENCY: i64 = 1 << 48;
    /// Before ageing, ranks were urgency and priority alone: 0 to 3 for resumed work, 4 to 7 for the rest. Those
    /// tasks are older than anything created since, and their numbers are lower.
    const EARLIER_MAX: i64 = 7;

    pub fn new(urgency: Urgency, priority: Priority, created_at: Timestamp) -> Self {
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
    type Error = InvalidClaimRank;

    fn try_from(number: i64) -> Result<Self, InvalidClaimRank> {
        let is_earlier = (0..=Self::EARLIER_MAX).contains(&number);
        let is_rank = (Self::PER_URGENCY..3 * Self::PER_URGENCY).contains(&number);
        if is_earlier || is_rank { Ok(Self(number)) } else { Err(InvalidClaimRank(number)) }
    }
}

impl From<ClaimRank> for i64 {
    fn from(rank: ClaimRank) -> i64 {
        rank.0
    }
}

/// The total claim order: rank, then age, then id. No two tasks are equal, so every store and every restart orders
/// them the same way.
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
        ClaimRank::new(urgency, priority, Timestamp::from_ms(created_ms))
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
    fn a_rank_is_stored_as_a_number_and_validated_on_load() {
        let stored = serde_json::to_string(&rank(Urgency::Normal, Priority::P1, 7)).unwrap();
        assert_eq!(stored, "562949967821319");
        assert_eq!(
            serde_json::from_str::<ClaimRank>(&stored).unwrap(),
            rank(Urgency::Normal, Priority::P1, 7)
        );
        for damaged in [-1, 8, 1 << 47, 3 << 48] {
            assert_eq!(ClaimRank::try_from(damaged), Err(InvalidClaimRank(damaged)));
        }
    }

    #[test]
    fn ranks_from_before_ageing_come_first() {
        for earlier in 0..=7 {
            let kept = ClaimRank::try_from(earlier).unwrap();
            assert_eq!(kept.urgency(), if earlier <= 3 { Urgency::Resumed } else { Urgency::Normal });
            assert!(kept < rank(Urgency::Resumed, Priority::P0, 0));
        }
    }

    proptest! {
        /// A waiting task is overtaken only by tasks at most three steps younger, whatever arrives.
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
        fn of_two_created_together_the_higher_priority_is_first(level in 0_usize..3, made in 0_i64..1 << 41) {
            let (high, low) = (Priority::ALL[level], Priority::ALL[level + 1]);
            prop_assert!(rank(Urgency::Normal, high, made) < rank(Urgency::Normal, low, made));
        }
    }
}
