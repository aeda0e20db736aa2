//! `[retention]`: how long data that is no longer needed is kept, and how much space it may take.

use std::time::{Duration, SystemTime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MIB: u64 = 1 << 20;

/// Branches and snapshots of worktrees are work, and are never removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Retention {
    /// For how many days agents' logs are kept.
    pub logs_days: u32,
    /// How many MiB all logs together may take.
    pub logs_mb: u32,
    /// How many MiB of one attempt's log are kept: its beginning and its end, with a note where it was cut.
    pub log_mb: u32,
    /// For how many days worktrees of finished tasks are kept. A snapshot of each stays in git.
    pub worktrees_days: u32,
    /// How many MiB all worktrees together may take.
    pub worktrees_mb: u32,
    /// For how many days the events of finished tasks are kept, and what the checks said about the files they ran on.
    pub events_days: u32,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            logs_days: 30,
            logs_mb: 2_048,
            log_mb: 16,
            worktrees_days: 7,
            worktrees_mb: 20_480,
            events_days: 90,
        }
    }
}

impl Retention {
    pub fn logs(&self) -> RetentionLimit {
        RetentionLimit { age_max: days(self.logs_days), bytes_max: u64::from(self.logs_mb) * MIB }
    }

    pub fn worktrees(&self) -> RetentionLimit {
        RetentionLimit { age_max: days(self.worktrees_days), bytes_max: u64::from(self.worktrees_mb) * MIB }
    }

    pub fn events(&self) -> Duration {
        days(self.events_days)
    }
}

fn days(count: u32) -> Duration {
    Duration::from_hours(24 * u64::from(count))
}

/// How old one kind of data may become, and how large all of it together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionLimit {
    pub age_max: Duration,
    pub bytes_max: u64,
}

/// Something that may be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneCandidate<K> {
    pub key: K,
    pub last_used: SystemTime,
    pub bytes: u64,
    /// It counts towards the total and stays.
    pub is_needed: bool,
}

impl RetentionLimit {
    /// What to remove, oldest first: everything too old, then as much as it takes to get below the total.
    pub fn select<K: Clone>(
        &self,
        mut all: Vec<PruneCandidate<K>>,
        now: SystemTime,
    ) -> Vec<PruneCandidate<K>> {
        all.sort_by_key(|one| one.last_used);
        let mut total: u64 = all.iter().map(|one| one.bytes).sum();
        let mut selected = Vec::new();
        for one in all.into_iter().filter(|one| !one.is_needed) {
            let age = now.duration_since(one.last_used).unwrap_or_default();
            if age > self.age_max || total > self.bytes_max {
                total -= one.bytes;
                selected.push(one);
            }
        }
        selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    fn select(all: &[(u32, u64, bool)], limit: RetentionLimit) -> Vec<u32> {
        let now = SystemTime::UNIX_EPOCH + 1_000 * DAY;
        let candidate = |&(days, bytes, is_needed): &(u32, u64, bool)| PruneCandidate {
            key: days,
            last_used: now - days * DAY,
            bytes,
            is_needed,
        };
        limit.select(all.iter().map(candidate).collect(), now).into_iter().map(|one| one.key).collect()
    }

    #[test]
    fn everything_too_old_goes_then_the_oldest_until_the_rest_fits() {
        let limit = RetentionLimit { age_max: 10 * DAY, bytes_max: 100 };
        assert_eq!(select(&[(1, 50, false), (11, 10, false), (3, 20, false)], limit), [11]);
        assert_eq!(select(&[(1, 50, false), (2, 40, false), (3, 30, false), (4, 20, false)], limit), [4, 3]);
    }

    #[test]
    fn whatever_is_needed_counts_and_stays() {
        let limit = RetentionLimit { age_max: 10 * DAY, bytes_max: 100 };
        assert_eq!(select(&[(30, 500, true), (2, 10, false), (1, 10, false)], limit), [2, 1]);
    }
}
