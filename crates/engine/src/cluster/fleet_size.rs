//! How many machines share a store, and what manners that calls for.
//!
//! Everyone hears of everything at the same moment. Where a hundred machines have nothing to do, one task that comes would
//! be asked for a hundred times, and again at each step it takes; so a machine that found nothing lets others go first.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Between two looks of all machines together that find nothing, on average. One machine looks again after this long for each of
/// the others, so somebody looks within a few milliseconds however many there are.
const BETWEEN_LOOKS: Duration = Duration::from_micros(2_500);
/// However many there are, none waits longer than this on average.
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// Cheap to clone; clones share the count.
#[derive(Debug, Clone, Default)]
pub struct FleetSize(Arc<AtomicU32>);

impl FleetSize {
    pub fn note(&self, machines: usize) {
        self.0.store(u32::try_from(machines).unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    /// How long to leave work to others after a look that found nothing, with `chance` from anywhere in its range: machines that were
    /// woken together are not to come back together.
    pub fn pause(&self, chance: u64) -> Duration {
        let others = self.0.load(Ordering::Relaxed).saturating_sub(1);
        let average = BETWEEN_LOOKS.saturating_mul(others).min(PAUSE_MAX);
        // From nothing to twice the average, in steps of a 65,536th.
        let [a, b, ..] = chance.to_le_bytes();
        average.saturating_mul(2).saturating_mul(u16::from_le_bytes([a, b]).into()) / u32::from(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(machines: usize) -> FleetSize {
        let fleet = FleetSize::default();
        fleet.note(machines);
        fleet
    }

    #[test]
    fn who_is_alone_waits_for_nobody() {
        assert_eq!(FleetSize::default().pause(u64::MAX), Duration::ZERO);
        assert_eq!(of(1).pause(u64::MAX), Duration::ZERO);
    }

    #[test]
    fn the_more_there_are_the_longer_each_waits_up_to_a_limit() {
        assert_eq!(of(3).pause(u64::MAX), Duration::from_millis(10));
        assert_eq!(of(101).pause(u64::MAX), Duration::from_millis(500));
        assert_eq!(of(100_000).pause(u64::MAX), Duration::from_secs(1));
        assert_eq!(of(101).pause(0), Duration::ZERO);
    }
}
