//! Which causes of a routine become tasks.
//!
//! One firing starts at most one task; what else is due waits, or is counted as skipped. Every cause ends as one of the two,
//! once: the routine is written in the same transaction as the task, guarded by its version.

use jiff::tz::TimeZone;

use crate::base::time::Timestamp;
use crate::routine::cause::Cause;
use crate::routine::{CatchUp, Overlap, Routine, Trigger};

/// A moment that is decided later than this was missed.
const ON_TIME_MS: i64 = 5 * 60 * 1_000;
/// Moments decided in one firing. If more are due, the next firing goes on.
const DECIDED_MAX: usize = 500;
/// Causes that may wait for the run before them. Beyond it events are skipped, and moments that are all to take place are
/// left for later.
const WAITING_MAX: usize = 500;

/// What to do now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Firing {
    /// The routine as it is afterwards, apart from its last run.
    pub routine: Routine,
    /// What a task is to be created for.
    pub run: Option<Cause>,
    pub skipped: Vec<Cause>,
    /// Whether the task of the last run is to be cancelled.
    pub replaces: bool,
}

impl Firing {
    /// Whether there is anything to write.
    pub fn is_needed(&self, before: &Routine) -> bool {
        self.run.is_some() || !self.skipped.is_empty() || self.routine != *before
    }
}

impl Routine {
    /// Decides about what is due by time, what came in, and what waits. `is_busy` says that the task of the last run is open.
    pub fn fire(&self, came_in: Vec<Cause>, is_busy: bool, now: Timestamp, zone: &TimeZone) -> Firing {
        let mut routine = self.clone();
        let mut skipped = Vec::new();
        let mut due = routine.take_due(now, zone, &mut skipped);
        due.extend(came_in);
        let mut replaces = false;
        let run = match routine.overlap {
            Overlap::Queue => {
                for cause in due {
                    if routine.waiting.len() < WAITING_MAX {
                        routine.waiting.push(cause);
                    } else {
                        skipped.push(cause);
                    }
                }
                (!is_busy && !routine.waiting.is_empty()).then(|| routine.waiting.remove(0))
            }
            Overlap::Skip => {
                let run = (!is_busy && !due.is_empty()).then(|| due.remove(0));
                skipped.extend(due);
                run
            }
            Overlap::Replace => {
                let run = due.pop();
                skipped.extend(due);
                replaces = is_busy && run.is_some();
                run
            }
        };
        routine.run_count = routine.run_count.saturating_add(u64::from(run.is_some()));
        routine.skipped_count = routine.skipped_count.saturating_add(skipped.len() as u64);
        Firing { routine, run, skipped, replaces }
    }

    /// Whether as many causes wait as can: what is due by time is decided when there is room again.
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= WAITING_MAX
    }

    /// The moments of its schedule up to now that are to take place. The others are skipped.
    fn take_due(&mut self, now: Timestamp, zone: &TimeZone, skipped: &mut Vec<Cause>) -> Vec<Cause> {
        let Trigger::Time { schedule, catch_up, .. } = &self.trigger else { return Vec::new() };
        let decided_max = match (self.overlap, catch_up) {
            (Overlap::Queue, CatchUp::All) => WAITING_MAX.saturating_sub(self.waiting.len()),
            _ => DECIDED_MAX,
        };
        let mut moments = Vec::new();
        let mut next = self.next_at;
        while let Some(at) = next.filter(|at| *at <= now && moments.len() < decided_max) {
            moments.push(at);
            next = schedule.next_after(at, zone);
        }
        let has_more = next.is_some_and(|next| next <= now);
        self.next_at = next;
        let last_late = moments.iter().rposition(|at| now.ms_since(*at) > ON_TIME_MS);
        let has_one_on_time = last_late.is_none_or(|last| last + 1 < moments.len());
        let takes_place = |index: usize| match (last_late.is_none_or(|last| index > last), catch_up) {
            (true, _) | (false, CatchUp::All) => true,
            (false, CatchUp::None) => false,
            (false, CatchUp::One) => Some(index) == last_late && !has_more && !has_one_on_time,
        };
        let mut due = Vec::new();
        for (index, at) in moments.into_iter().enumerate() {
            let cause = Cause::Instant { at };
            if takes_place(index) { due.push(cause) } else { skipped.push(cause) }
        }
        due
    }
}
