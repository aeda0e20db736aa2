//! How fast the story goes: how long an agent takes, and how long a decision waits for a person.

use std::time::Duration;

use crate::cli::demo::DemoArgs;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemoPace {
    /// An agent at one task.
    pub agent: Duration,
    /// A decision, while a person seems to be there.
    pub patience: Duration,
    /// A decision, after the demo had to take the one before itself.
    pub patience_alone: Duration,
}

/// Long enough to see that work is going on, short enough to be waited for.
const AGENT_MS_HEADLESS: u64 = 200;
const AGENT_MS_SHOWN: u64 = 2_500;

/// Long enough to read a page one has never seen.
const PATIENCE_MS: u64 = 45_000;

/// Nobody took the last decision: the rest of the story is told to whoever only watches.
const PATIENCE_ALONE_MS: u64 = 4_000;

impl DemoPace {
    pub fn of(asked: &DemoArgs) -> Self {
        let usual = if asked.headless { (AGENT_MS_HEADLESS, 0) } else { (AGENT_MS_SHOWN, PATIENCE_MS) };
        let patience = Duration::from_millis(asked.patience_ms.unwrap_or(usual.1));
        Self {
            agent: Duration::from_millis(asked.agent_ms.unwrap_or(usual.0)),
            patience,
            patience_alone: patience.min(Duration::from_millis(PATIENCE_ALONE_MS)),
        }
    }
}
