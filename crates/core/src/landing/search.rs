//! The next step of a lane, from what is known about each prefix of its batch.
//!
//! Prefix `k` is the tip of the branch with the first `k` candidates merged; prefix 0 is the tip itself. The whole batch is
//! checked first. If it fails, halving finds the shortest prefix that fails: ⌈log₂ n⌉ runs, and one more that confirms it, so
//! that a check that fails now and then blames nobody. What comes before it was checked on the way and lands without another
//! run; its last candidate goes back.

use crate::landing::verdict::TreeState;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneStep {
    /// Run the checks on this prefix.
    Check(usize),
    /// Move the branch to this prefix: it is green (I18). At least one candidate.
    Land(usize),
    /// The first candidate fails on a branch that passes.
    SendBackFirst,
    /// The first candidate fails, and so does the branch without it.
    BranchFails,
}

/// What to do with a batch. `prefixes` has one entry for the tip and one for each candidate; without a candidate there is
/// nothing to do.
pub fn next_step(prefixes: &[TreeState]) -> Option<LaneStep> {
    let last = prefixes.len().checked_sub(1).filter(|last| *last > 0)?;
    let is_red = |prefix: usize| matches!(prefixes[prefix], TreeState::Suspect | TreeState::Red);
    // The longest prefix that may be landed, or the tip, which need not be.
    let green = (1..=last).rev().find(|prefix| prefixes[*prefix] == TreeState::Green).unwrap_or(0);
    if green == last {
        return Some(LaneStep::Land(last));
    }
    let Some(red) = (green + 1..=last).find(|prefix| is_red(*prefix)) else {
        return Some(LaneStep::Check(last));
    };
    if red > green + 1 {
        return Some(LaneStep::Check(green + (red - green) / 2));
    }
    Some(match (prefixes[red], green, prefixes[0]) {
        (TreeState::Suspect, _, _) => LaneStep::Check(red),
        (_, 1.., _) => LaneStep::Land(green),
        (_, 0, TreeState::Green) => LaneStep::SendBackFirst,
        (_, 0, TreeState::Red) => LaneStep::BranchFails,
        (_, 0, TreeState::Unknown | TreeState::Suspect) => LaneStep::Check(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use TreeState::{Green, Red, Suspect, Unknown};

    #[test]
    fn the_next_step_for_what_is_known() {
        let table: [(&[TreeState], Option<LaneStep>); 14] = [
            (&[], None),
            (&[Green], None),
            (&[Unknown, Unknown], Some(LaneStep::Check(1))),
            (&[Unknown, Green], Some(LaneStep::Land(1))),
            (&[Green, Suspect], Some(LaneStep::Check(1))),
            (&[Green, Red], Some(LaneStep::SendBackFirst)),
            (&[Unknown, Red], Some(LaneStep::Check(0))),
            (&[Suspect, Red], Some(LaneStep::Check(0))),
            (&[Red, Red], Some(LaneStep::BranchFails)),
            (&[Red, Green], Some(LaneStep::Land(1))),
            (&[Green, Unknown, Unknown, Unknown, Suspect], Some(LaneStep::Check(2))),
            (&[Green, Unknown, Green, Unknown, Suspect], Some(LaneStep::Check(3))),
            (&[Green, Unknown, Green, Red, Suspect], Some(LaneStep::Land(2))),
            // Known from before a crash: nobody checks the rest first.
            (&[Green, Red, Unknown, Unknown], Some(LaneStep::SendBackFirst)),
        ];
        for (prefixes, step) in table {
            assert_eq!(next_step(prefixes), step, "{prefixes:?}");
        }
    }
}
