//! Finds out when a process tree uses more memory than it may.

use std::fmt;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::process::memory::TreeMemory;
use crate::process::tree::ProcessTree;

/// Memory is not filled faster than this, so nothing is missed by looking only when the limit could be reached.
const BYTES_PER_SECOND: u64 = 4 << 30;
const PERIOD_MIN: Duration = Duration::from_millis(250);
const PERIOD_MAX: Duration = Duration::from_secs(2);
/// A look that takes long is taken less often.
const PART_MAX: u32 = 20;
const MIB: u64 = 1 << 20;

/// What a tree used that was more than it may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryExcess {
    pub used_mb: u64,
    pub allowed_mb: u64,
    /// The process with most of it.
    pub largest: String,
}

impl fmt::Display for MemoryExcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { used_mb, allowed_mb, largest } = self;
        write!(f, "used {used_mb} MB of memory, most of it {largest}; {allowed_mb} MB are allowed")
    }
}

/// Waits until the tree uses more than `allowed` bytes; never comes back if it does not. The tree is stopped then, so that
/// it takes no more, and is to be killed.
pub async fn wait_for_excess(
    allowed: u64,
    tree: impl Fn() -> ProcessTree,
    // Whether processes that were stopped for a look may go on.
    may_go_on: impl Fn() -> bool,
) -> MemoryExcess {
    loop {
        let (started, tree) = (Instant::now(), tree());
        let used = tree.memory(allowed).await;
        if used.bytes > allowed {
            tree.pause().await;
            let used = tree.memory(allowed).await;
            if used.bytes > allowed {
                return excess(used, allowed);
            }
            if may_go_on() {
                tree.resume().await;
            }
        }
        let rest = (started.elapsed() * PART_MAX).min(PERIOD_MAX);
        sleep(period(allowed.saturating_sub(used.bytes)).max(rest)).await;
    }
}

/// The same for one tree, which is not limited without `allowed`.
pub async fn wait_for_excess_of(tree: &ProcessTree, allowed: Option<u64>) -> MemoryExcess {
    match allowed {
        // On the heap: it waits beside everything else that a command does.
        Some(allowed) => Box::pin(wait_for_excess(allowed, || tree.clone(), || true)).await,
        None => std::future::pending().await,
    }
}

fn excess(used: TreeMemory, allowed: u64) -> MemoryExcess {
    MemoryExcess {
        used_mb: used.bytes.div_ceil(MIB),
        allowed_mb: allowed / MIB,
        largest: used.largest.unwrap_or_else(|| "a process of it".to_owned()),
    }
}

/// The time until `left` more bytes could be used.
fn period(left: u64) -> Duration {
    Duration::from_millis(left.saturating_mul(1_000) / BYTES_PER_SECOND).clamp(PERIOD_MIN, PERIOD_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_looks_more_often_the_less_is_left() {
        let milliseconds = |left: u64| period(left).as_millis();
        assert_eq!((milliseconds(0), milliseconds(4 << 30), milliseconds(u64::MAX)), (250, 1_000, 2_000));
    }
}
