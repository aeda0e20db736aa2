//! Progress: whether anything in git changes while an agent works.
//!
//! Looked at only after as many turns as may pass without any, so it costs one look for all of them.

use crate::git::{Checkout, Trace, Worktrees};

pub(crate) struct Progress<'a> {
    worktrees: &'a Worktrees,
    checkout: &'a Checkout,
    idle_turns_max: Option<u32>,
    /// What was there, and at which turn it was looked at.
    seen: Option<Trace>,
    looked_at: u32,
}

impl<'a> Progress<'a> {
    pub(crate) async fn begin(
        worktrees: &'a Worktrees,
        checkout: &'a Checkout,
        idle_turns_max: Option<u32>,
    ) -> Progress<'a> {
        let seen = match idle_turns_max {
            Some(_) => worktrees.trace(checkout).await.ok(),
            None => None,
        };
        Self { worktrees, checkout, idle_turns_max, seen, looked_at: 0 }
    }

    /// Whether the agent has come to this turn without anything new. What git cannot say counts for the agent.
    pub(crate) async fn is_missing(&mut self, turn: u32) -> bool {
        let Some(max) = self.idle_turns_max else { return false };
        if turn.saturating_sub(self.looked_at) < max {
            return false;
        }
        let Ok(now) = self.worktrees.trace(self.checkout).await else { return false };
        let is_same = self.seen.as_ref() == Some(&now);
        self.seen = Some(now);
        self.looked_at = turn;
        is_same
    }
}
