//! The turns of an attempt. Each agent, or role with a limit of its own, has one limit, which all its steps and reminders
//! share: one attempt never exceeds it.

use crate::settings::TurnLimit;

/// What an agent may still use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnAllowance {
    pub limit: TurnLimit,
    pub left: u32,
    /// The limits of everything that ran in the attempt, this one included.
    pub attempt_max: u32,
}

#[derive(Debug, Default)]
pub(crate) struct TurnCount(Vec<(TurnLimit, u32)>);

impl TurnCount {
    pub(crate) fn allow(&self, limit: TurnLimit) -> TurnAllowance {
        let known = self.0.iter().find(|(of, _)| *of == limit);
        let used = known.map_or(0, |(_, used)| *used);
        let attempt_max = if known.is_some() { self.max() } else { self.max().saturating_add(limit.max) };
        TurnAllowance { left: limit.max.saturating_sub(used), limit, attempt_max }
    }

    pub(crate) fn add(&mut self, limit: &TurnLimit, turns: u32) {
        match self.0.iter_mut().find(|(of, _)| of == limit) {
            Some((_, used)) => *used = used.saturating_add(turns),
            None => self.0.push((limit.clone(), turns)),
        }
    }

    pub(crate) fn used(&self) -> u32 {
        self.0.iter().fold(0, |sum, (_, used)| sum.saturating_add(*used))
    }

    pub(crate) fn max(&self) -> u32 {
        self.0.iter().fold(0, |sum, (limit, _)| sum.saturating_add(limit.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(of: &str, max: u32) -> TurnLimit {
        TurnLimit { of: of.to_owned(), max }
    }

    #[test]
    fn all_runs_of_an_agent_share_its_limit() {
        let mut count = TurnCount::default();
        count.add(&limit("mine", 50), 39);
        assert_eq!(count.allow(limit("mine", 50)).left, 11);
        count.add(&limit("mine", 50), 11);
        let allowance = count.allow(limit("mine", 50));
        assert_eq!((allowance.left, allowance.attempt_max), (0, 50));
        assert_eq!((count.used(), count.max()), (50, 50));
    }

    #[test]
    fn another_limit_has_turns_of_its_own() {
        let mut count = TurnCount::default();
        count.add(&limit("mine", 50), 45);
        let allowance = count.allow(limit("review", 10));
        assert_eq!((allowance.left, allowance.attempt_max), (10, 60));
    }
}
