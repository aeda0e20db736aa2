//! How long things are kept that nobody needs any more, and how much room they may take.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

const MIB: u64 = 1 << 20;

/// `[retention]` of the settings. Work is never among it: branches and what was kept of worktrees stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Retention {
    /// Agents' logs.
    pub logs_days: u32,
    pub logs_mb: u32,
    /// Worktrees of tasks that are finished and merged, or given up; each is kept under a hidden ref first.
    pub worktrees_days: u32,
    pub worktrees_mb: u32,
    /// The history of finished tasks.
    pub events_days: u32,
}

impl Default for Retention {
    fn default() -> Self {
        Self { logs_days: 30, logs_mb: 2_048, worktrees_days: 7, worktrees_mb: 20_480, events_days: 90 }
    }
}

impl Retention {
    pub const KEYS: [&str; 5] = ["logs_days", "logs_mb", "worktrees_days", "worktrees_mb", "events_days"];

    pub fn logs(&self) -> Allowance {
        Allowance { age_max: days(self.logs_days), bytes_max: u64::from(self.logs_mb) * MIB }
    }

    pub fn worktrees(&self) -> Allowance {
        Allowance { age_max: days(self.worktrees_days), bytes_max: u64::from(self.worktrees_mb) * MIB }
    }

    pub fn events(&self) -> Duration {
        days(self.events_days)
    }
}

fn days(count: u32) -> Duration {
    Duration::from_hours(24 * u64::from(count))
}

/// How old and, all together, how large one kind of thing may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    pub age_max: Duration,
    pub bytes_max: u64,
}

/// One thing that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keepsake<K> {
    pub key: K,
    pub last_used: SystemTime,
    pub bytes: u64,
    /// Somebody still needs it; it counts towards the total, and stays.
    pub is_needed: bool,
}

impl Allowance {
    /// What has to go, oldest first: whatever is too old, and then as much as it takes to come under the total.
    pub fn overdue<K: Clone>(&self, mut all: Vec<Keepsake<K>>, now: SystemTime) -> Vec<Keepsake<K>> {
        all.sort_by_key(|one| one.last_used);
        let mut total: u64 = all.iter().map(|one| one.bytes).sum();
        let mut overdue = Vec::new();
        for one in all.into_iter().filter(|one| !one.is_needed) {
            let age = now.duration_since(one.last_used).unwrap_or_default();
            if age > self.age_max || total > self.bytes_max {
                total -= one.bytes;
                overdue.push(one);
            }
        }
        overdue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    fn overdue(all: &[(u32, u64, bool)], allowance: Allowance) -> Vec<u32> {
        let now = SystemTime::UNIX_EPOCH + 1_000 * DAY;
        let keepsake = |&(days, bytes, is_needed): &(u32, u64, bool)| Keepsake {
            key: days,
            last_used: now - days * DAY,
            bytes,
            is_needed,
        };
        allowance.overdue(all.iter().map(keepsake).collect(), now).into_iter().map(|one| one.key).collect()
    }

    #[test]
    fn the_too_old_go_and_then_the_oldest_until_the_rest_fits() {
        let allowance = Allowance { age_max: 10 * DAY, bytes_max: 100 };
        assert_eq!(overdue(&[(1, 50, false), (11, 10, false), (3, 20, false)], allowance), [11]);
        assert_eq!(
            overdue(&[(1, 50, false), (2, 40, false), (3, 30, false), (4, 20, false)], allowance),
            [4, 3]
        );
    }

    #[test]
    fn what_is_needed_counts_and_stays() {
        let allowance = Allowance { age_max: 10 * DAY, bytes_max: 100 };
        assert_eq!(overdue(&[(30, 500, true), (2, 10, false), (1, 10, false)], allowance), [2, 1]);
    }
}
