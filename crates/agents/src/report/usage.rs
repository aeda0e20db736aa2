//! What was used, and what the number means.
//!
//! Agents count differently: some say what a turn took, some what the whole session took so far, some only
//! what the last call took. The number is kept with its meaning, because adding up the wrong ones is worse
//! than having none.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Millionths of a dollar, so that sums stay exact.
    pub cost_micro_usd: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UsageKind {
    /// Everything since the last report of this kind. These add up.
    #[default]
    PerTurn,
    /// Everything since the agent's session began, earlier attempts included. The last one stands.
    PerSession,
    /// The last call to the model alone: at least this much was used.
    LastCall,
}

/// What one attempt used, as far as its agent says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub usage: Usage,
    pub tokens_are: UsageKind,
    pub cost_is: UsageKind,
}

impl Tally {
    pub fn tokens(&mut self, kind: UsageKind, input: u64, output: u64) {
        self.tokens_are = kind;
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

    pub fn cost(&mut self, kind: UsageKind, micro_usd: u64) {
        self.cost_is = kind;
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
        let mut tally = Tally::default();
        tally.tokens(UsageKind::PerTurn, 100, 20);
        tally.tokens(UsageKind::PerTurn, 50, 5);
        assert_eq!((tally.usage.input_tokens, tally.usage.output_tokens), (150, 25));

        let mut tally = Tally::default();
        tally.tokens(UsageKind::PerSession, 100, 20);
        tally.tokens(UsageKind::PerSession, 400, 80);
        tally.cost(UsageKind::PerSession, 7);
        tally.cost(UsageKind::PerSession, 9);
        assert_eq!((tally.usage.input_tokens, tally.usage.output_tokens), (400, 80));
        assert_eq!(tally.usage.cost_micro_usd, 9);
    }
}
