//! What was used: turns, tokens, money and time, summed over attempts.

use serde::{Deserialize, Serialize};

use crate::base::id::ProjectId;
use crate::base::text::AgentName;
use crate::base::time::Timestamp;
use crate::task::attempt_record::AttemptUse;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// An amount of each measure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpendingAmount {
    pub turns: u64,
    pub tokens: u64,
    /// Millionths of a dollar.
    pub cost_micro_usd: u64,
    pub wall_ms: u64,
}

impl SpendingAmount {
    pub fn new(used: AttemptUse) -> Self {
        Self {
            turns: used.turns.into(),
            tokens: used.input_tokens.saturating_add(used.output_tokens),
            cost_micro_usd: used.cost_micro_usd,
            wall_ms: used.duration_ms,
        }
    }

    pub fn plus(self, other: Self) -> Self {
        Self {
            turns: self.turns.saturating_add(other.turns),
            tokens: self.tokens.saturating_add(other.tokens),
            cost_micro_usd: self.cost_micro_usd.saturating_add(other.cost_micro_usd),
            wall_ms: self.wall_ms.saturating_add(other.wall_ms),
        }
    }
}

/// What the spending is booked on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpendingAccount {
    Project(ProjectId),
    /// Days since 1970, in UTC.
    Day(i64),
    /// What agents used of one account on a day.
    Account {
        name: AgentName,
        day: i64,
    },
}

impl SpendingAccount {
    /// The day of a timestamp.
    pub fn day_of(at: Timestamp) -> Self {
        Self::Day(at.ms().div_euclid(DAY_MS))
    }

    /// An account on the day of a timestamp.
    pub fn of_account(name: AgentName, at: Timestamp) -> Self {
        Self::Account { name, day: at.ms().div_euclid(DAY_MS) }
    }

    /// The key of its row.
    pub fn key(&self) -> String {
        match self {
            Self::Project(project) => project.to_string(),
            Self::Day(day) => format!("day-{day}"),
            Self::Account { name, day } => format!("account-{name}-day-{day}"),
        }
    }
}

/// When the day of a timestamp ends.
pub fn end_of_day(at: Timestamp) -> Timestamp {
    Timestamp::from_ms((at.ms().div_euclid(DAY_MS) + 1).saturating_mul(DAY_MS))
}

/// What one account has used so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    pub account: SpendingAccount,
    #[serde(flatten)]
    pub amount: SpendingAmount,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_at_midnight() {
        let noon = Timestamp::from_ms(DAY_MS / 2);
        assert_eq!(
            (SpendingAccount::day_of(noon), end_of_day(noon)),
            (SpendingAccount::Day(0), Timestamp::from_ms(DAY_MS))
        );
        assert_eq!(SpendingAccount::day_of(end_of_day(noon)), SpendingAccount::Day(1));
    }

    #[test]
    fn the_stored_form_is_stable() {
        let amount = SpendingAmount { turns: 1, tokens: 2, cost_micro_usd: 3, wall_ms: 4 };
        let spending = Spending { account: SpendingAccount::Day(5), amount };
        let stored = serde_json::to_string(&spending).unwrap();
        insta::assert_snapshot!(stored, @r#"{"account":{"day":5},"turns":1,"tokens":2,"cost_micro_usd":3,"wall_ms":4}"#);
        assert_eq!(serde_json::from_str::<Spending>(&stored).unwrap(), spending);
    }
}
