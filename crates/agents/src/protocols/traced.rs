//! Wraps a driver in a span per run.

use tokio::sync::{mpsc, watch};
use tracing::field::Empty;
use tracing::{Instrument, debug_span, info};

use crate::driver::{AgentEvent, Driver, Launch, RunFuture};
use crate::presets::kind::AgentKind;

pub(super) struct TracedDriver {
    pub(super) kind: AgentKind,
    /// The preset's name.
    pub(super) agent: &'static str,
    pub(super) driver: Box<dyn Driver>,
}

impl Driver for TracedDriver {
    fn run(
        &self,
        launch: Launch,
        events: mpsc::Sender<AgentEvent>,
        cancel: watch::Receiver<bool>,
    ) -> RunFuture<'_> {
        // The engine has an exported span around this one; this is for the log.
        let span = debug_span!(
            "agent_run",
            attempt = %launch.attempt,
            agent = self.agent,
            kind = self.kind.as_str(),
            reason = Empty,
            turns = Empty,
            input_tokens = Empty,
            output_tokens = Empty,
            cost_micro_usd = Empty,
            failure = Empty,
        );
        let recorded = span.clone();
        let run = async move {
            let result = self.driver.run(launch, events, cancel).await;
            recorded.record("reason", tracing::field::debug(result.reason));
            recorded.record("turns", result.turns);
            recorded.record("input_tokens", result.input_tokens);
            recorded.record("output_tokens", result.output_tokens);
            recorded.record("cost_micro_usd", result.cost_micro_usd);
            if let Some(failure) = &result.failure {
                recorded.record("failure", tracing::field::debug(failure.kind));
            }
            info!(reason = ?result.reason, exit = ?result.exit, turns = result.turns, "agent run ended");
            result
        };
        Box::pin(run.instrument(span))
    }
}
