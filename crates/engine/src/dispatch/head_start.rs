//! The head start of machines that have a project's code at hand: work on it is left to them for a moment after anything
//! changed, since what changed may be that it became ready.

use std::time::Duration;

use tokio::time::Instant;

/// How long work on a project that is not at hand here is left to machines where it is.
pub(crate) const HEAD_START: Duration = Duration::from_secs(1);
/// Where something changes all the time the head start would never end; it does after this long.
const HEAD_START_MAX: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Copy)]
pub(crate) struct HeadStart {
    /// When it is over, if nothing changes until then.
    ends_at: Instant,
    /// And when it is in any case.
    ends_by: Instant,
}

impl HeadStart {
    pub(crate) fn new(now: Instant) -> Self {
        Self { ends_at: now + HEAD_START, ends_by: now + HEAD_START_MAX }
    }

    /// Something may have become ready.
    pub(crate) fn changed(&mut self, now: Instant) {
        self.ends_at = now + HEAD_START;
    }

    /// Whether work on what is not at hand may be taken now. If so, the others have their next head start.
    pub(crate) fn is_over(&mut self, now: Instant) -> bool {
        let is_over = now >= self.ends_at.min(self.ends_by);
        if is_over {
            *self = Self::new(now);
        }
        is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_have_a_whole_second_after_every_change_but_not_for_ever() {
        let begun = Instant::now();
        let at = |ms: u64| begun + Duration::from_millis(ms);
        let mut start = HeadStart::new(at(0));
        assert!(!start.is_over(at(999)));
        assert!(start.is_over(at(1_000)));
        assert!(!start.is_over(at(1_100)), "the next has begun");
        start.changed(at(1_900));
        assert!(!start.is_over(at(2_001)), "a moment ago something became ready");
        assert!(start.is_over(at(2_900)));
        // Something changes all the time: it is over after three seconds all the same.
        let over = (2_901..9_000).step_by(10).filter(|ms| {
            start.changed(at(*ms));
            start.is_over(at(*ms))
        });
        let over: Vec<u64> = over.collect();
        assert!(over.windows(2).all(|pair| pair[1] - pair[0] >= 2_990), "{over:?}");
        assert_eq!(over.len(), 2, "{over:?}");
    }
}
