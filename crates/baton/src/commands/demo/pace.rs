//! How long an agent takes, and how long a decision waits for the visitor.

use std::time::Duration;

use crate::cli::demo::DemoArgs;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DemoPace {
    /// How long an agent works on a task.
    pub(crate) agent: Duration,
    /// How long a decision waits for a visitor.
    pub(crate) patience: Duration,
    /// The same while nobody has opened a page, after the demo made a decision itself.
    pub(crate) patience_alone: Duration,
}

const AGENT_MS_HEADLESS: u64 = 200;
const AGENT_MS_SHOWN: u64 = 2_500;

/// Enough to read a page for the first time.
const PATIENCE_MS: u64 = 45_000;

/// Nobody made the last decision, and nobody reads: there is no visitor.
const PATIENCE_ALONE_MS: u64 = 4_000;

impl DemoPace {
    pub(crate) fn new(args: &DemoArgs) -> Self {
        let defaults = if args.headless { (AGENT_MS_HEADLESS, 0) } else { (AGENT_MS_SHOWN, PATIENCE_MS) };
        let patience = Duration::from_millis(args.patience_ms.unwrap_or(defaults.1));
        Self {
            agent: Duration::from_millis(args.agent_ms.unwrap_or(defaults.0)),
            patience,
            patience_alone: patience.min(Duration::from_millis(PATIENCE_ALONE_MS)),
        }
    }
}
