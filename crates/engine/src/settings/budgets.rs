//! `[budgets]`: how much a task, a project or a day may use before a person is asked.

use baton_core::limits::budget::Budget;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Budgets {
    #[serde(deserialize_with = "budget")]
    #[schemars(with = "BudgetTable")]
    pub task: Budget,
    #[serde(deserialize_with = "budget")]
    #[schemars(with = "BudgetTable")]
    pub project: Budget,
    #[serde(deserialize_with = "budget")]
    #[schemars(with = "BudgetTable")]
    pub day: Budget,
}

/// One budget as the file has it.
#[derive(Deserialize, JsonSchema)]
struct BudgetTable {
    /// Tool calls. When a task or a project has used its budget, you are asked; a day's holds every agent until the next
    /// day (UTC).
    turns: Option<u64>,
    /// Tokens, as far as agents report them.
    tokens: Option<u64>,
    /// US dollars, as far as agents report them.
    usd: Option<f64>,
    /// Minutes that agents run.
    minutes: Option<u64>,
    /// Tool calls without a new commit, change or passing check.
    idle_turns: Option<u64>,
}

/// Larger than any real budget, and still exact in millionths of a dollar.
const USD_MAX: f64 = 1e9;

fn budget<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Budget, D::Error> {
    let BudgetTable { turns, tokens, usd, minutes, idle_turns } = BudgetTable::deserialize(deserializer)?;
    let cost_micro_usd = match usd {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bounded in the same line"
        )]
        Some(usd) if (0.0..=USD_MAX).contains(&usd) => Some((usd * 1e6).round() as u64),
        Some(usd) => return Err(serde::de::Error::custom(format!("{usd} is not a valid amount in dollars"))),
        None => None,
    };
    let wall_ms = minutes.map(|minutes| minutes.saturating_mul(60_000));
    Ok(Budget { turns, tokens, cost_micro_usd, wall_ms, idle_turns })
}
