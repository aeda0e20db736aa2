//! What one run of an agent has used, counted while it works and corrected when it is over.

use std::time::Instant;

use baton_agents::driver::AgentEvent;
use baton_agents::driver::run_result::RunResult;
use baton_agents::report::usage::{UsageKind, UsageTotals};
use baton_core::limits::spending::SpendingAmount;
use baton_core::task::attempt::SessionUse;
use baton_core::task::attempt_record::AttemptUse;

pub(crate) struct RunUsage {
    started: Instant,
    turns: u32,
    totals: UsageTotals,
    /// What the session had used before, for agents that count by session.
    before: SessionUse,
}

impl RunUsage {
    pub(crate) fn new(before: SessionUse) -> Self {
        Self { started: Instant::now(), turns: 0, totals: UsageTotals::default(), before }
    }

    /// It is not the session that was to be resumed: nothing was used in it before.
    pub(crate) fn begin_session(&mut self) {
        self.before = SessionUse::default();
    }

    pub(crate) const fn before(&self) -> SessionUse {
        self.before
    }

    /// Whether the event changed what is used.
    pub(crate) fn note(&mut self, event: &AgentEvent) -> bool {
        match event {
            AgentEvent::Turn(turn) => self.turns = *turn,
            AgentEvent::Usage(kind, usage) => {
                if usage.input_tokens > 0 || usage.output_tokens > 0 {
                    self.totals.add_tokens(*kind, usage.input_tokens, usage.output_tokens);
                }
                if usage.cost_micro_usd > 0 {
                    self.totals.add_cost(*kind, usage.cost_micro_usd);
                }
            }
            _ => return false,
        }
        true
    }

    pub(crate) fn amount(&self) -> SpendingAmount {
        let used = self.without_before(self.totals);
        SpendingAmount {
            turns: self.turns.into(),
            tokens: used.input_tokens.saturating_add(used.output_tokens),
            cost_micro_usd: used.cost_micro_usd,
            wall_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// The same with what the result says, once the run is over.
    pub(crate) fn of_run(&self, ended: &RunResult) -> AttemptUse {
        AttemptUse {
            turns: ended.turns,
            input_tokens: ended.input_tokens,
            output_tokens: ended.output_tokens,
            cost_micro_usd: ended.cost_micro_usd,
            duration_ms: self.amount().wall_ms,
        }
    }

    /// Events may be dropped; the result has the last word. Its numbers become those of the run alone. Returns what the
    /// session has used in all, if its agent counts that way.
    pub(crate) fn finish(&mut self, ended: &mut RunResult) -> Option<SessionUse> {
        self.turns = ended.turns;
        self.totals.usage.input_tokens = ended.input_tokens;
        self.totals.usage.output_tokens = ended.output_tokens;
        self.totals.usage.cost_micro_usd = ended.cost_micro_usd;
        (self.totals.token_kind, self.totals.cost_kind) = (ended.token_kind, ended.cost_kind);
        let in_all = self.by_session(self.totals);
        let run = self.without_before(self.totals);
        ended.input_tokens = run.input_tokens;
        ended.output_tokens = run.output_tokens;
        ended.cost_micro_usd = run.cost_micro_usd;
        (in_all != SessionUse::default() && in_all != self.before).then_some(in_all)
    }

    fn without_before(&self, totals: UsageTotals) -> SessionUse {
        let run = self.by_session(totals).since(self.before);
        let usage = totals.usage;
        let is_by_session = |kind: UsageKind| kind == UsageKind::PerSession;
        SessionUse {
            input_tokens: if is_by_session(totals.token_kind) {
                run.input_tokens
            } else {
                usage.input_tokens
            },
            output_tokens: if is_by_session(totals.token_kind) {
                run.output_tokens
            } else {
                usage.output_tokens
            },
            cost_micro_usd: if is_by_session(totals.cost_kind) {
                run.cost_micro_usd
            } else {
                usage.cost_micro_usd
            },
        }
    }

    /// The counts that cover the session; for the others what was known before.
    fn by_session(&self, totals: UsageTotals) -> SessionUse {
        let mut used = self.before;
        if totals.token_kind == UsageKind::PerSession {
            (used.input_tokens, used.output_tokens) = (totals.usage.input_tokens, totals.usage.output_tokens);
        }
        if totals.cost_kind == UsageKind::PerSession {
            used.cost_micro_usd = totals.usage.cost_micro_usd;
        }
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_agents::report::usage::Usage;

    fn ended(token_kind: UsageKind, tokens: u64, cost_kind: UsageKind, cost: u64) -> RunResult {
        RunResult {
            input_tokens: tokens,
            token_kind,
            cost_kind,
            cost_micro_usd: cost,
            ..RunResult::failed_to_start(String::new())
        }
    }

    #[test]
    fn what_a_resumed_session_used_before_is_not_used_again() {
        let before = SessionUse { input_tokens: 100, output_tokens: 0, cost_micro_usd: 40 };
        let mut usage = RunUsage::new(before);
        let cost = Usage { cost_micro_usd: 55, ..Usage::default() };
        assert!(usage.note(&AgentEvent::Usage(UsageKind::PerSession, cost)));
        assert_eq!((usage.amount().tokens, usage.amount().cost_micro_usd), (0, 15));
        let mut result = ended(UsageKind::PerTurn, 30, UsageKind::PerSession, 60);
        let in_all = SessionUse { cost_micro_usd: 60, ..before };
        assert_eq!(usage.finish(&mut result), Some(in_all));
        assert_eq!((result.input_tokens, result.cost_micro_usd), (30, 20));
        assert_eq!((usage.amount().tokens, usage.amount().cost_micro_usd), (30, 20));
    }

    #[test]
    fn an_agent_that_counts_by_run_leaves_nothing_to_remember() {
        let mut usage = RunUsage::new(SessionUse::default());
        let mut result = ended(UsageKind::PerTurn, 30, UsageKind::PerTurn, 60);
        assert_eq!(usage.finish(&mut result), None);
        assert_eq!((result.input_tokens, result.cost_micro_usd), (30, 60));
    }
}
