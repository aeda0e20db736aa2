//! Token and cost counts, and what they cover.
//!
//! Agents count differently: per turn, per session, or only the last call. Each count is kept with its kind, because
//! adding up the wrong ones is worse than having none.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Millionths of a dollar, so that sums stay exact.
    pub cost_micro_usd: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UsageKind {
    /// Since the last report of this kind; added up.
    #[default]
    PerTurn,
    /// Since the session began, earlier attempts included; the last one counts.
    PerSession,
    /// The last model call only: a lower bound.
    LastCall,
}

/// Usage of one attempt, as reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageTotals {
    pub usage: Usage,
    pub token_kind: UsageKind,
    pub cost_kind: UsageKind,
}

impl UsageTotals {
    pub fn add_tokens(&mut self, kind: UsageKind, input: u64, output: u64) {
        self.token_kind = kind;
        match kind {
            UsageKind::PerTurn | UsageKind::LastCall => {
                self.usage.input_tokens = self.usage.input_tokens.saturating_add(input);
                self.usage.output_tokens = self.usage.output_tokens.saturating_add(output);
            }
            UsageKind::PerSession => {
                self.usage.input_tokens = input;
                self.usage.output_tokens = output;
            }
        }
    }

    pub fn add_cost(&mut self, kind: UsageKind, micro_usd: u64) {
        self.cost_kind = kind;
        match kind {
            UsageKind::PerTurn | UsageKind::LastCall => {
                self.usage.cost_micro_usd = self.usage.cost_micro_usd.saturating_add(micro_usd);
            }
            UsageKind::PerSession => self.usage.cost_micro_usd = micro_usd,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_add_up_and_a_sessions_total_replaces_the_last() {
        let mut totals = UsageTotals::default();
        totals.add_tokens(UsageKind::PerTurn, 100, 20);
        totals.add_tokens(UsageKind::PerTurn, 50, 5);
        assert_eq!((totals.usage.input_tokens, totals.usage.output_tokens), (150, 25));

        let mut totals = UsageTotals::default();
        totals.add_tokens(UsageKind::PerSession, 100, 20);
        totals.add_tokens(UsageKind::PerSession, 400, 80);
        totals.add_cost(UsageKind::PerSession, 7);
        totals.add_cost(UsageKind::PerSession, 9);
        assert_eq!((totals.usage.input_tokens, totals.usage.output_tokens), (400, 80));
        assert_eq!(totals.usage.cost_micro_usd, 9);
    }
}
