//! Which agents take more work, judged by how their last attempts ended.

use baton_agents::failure::{AgentFailure, FailureKind};
use baton_core::base::text::AgentName;
use baton_core::limits::hold::{Hold, HoldReason};
use baton_core::task::Task;
use baton_core::task::attempt::{AttemptResult, ErrorCause};

use crate::base::error::EngineError;
use crate::limits::Limits;
use crate::limits::holds::hold_for;

impl Limits {
    /// How the agent fared decides whether it takes more work. To be noted before the task goes back to the queue.
    pub async fn note_intake(&self, task: &Task, result: &AttemptResult) -> Result<(), EngineError> {
        let Some(live) = task.state().live_attempt() else { return Ok(()) };
        match result {
            AttemptResult::Error { cause: ErrorCause::Systemic, message } => {
                let now = self.tasks.store.now().await?;
                // What is known already needs no counting.
                if self.intakes.is_excused(task.id()) || self.is_closed(&live.agent).await? {
                    return Ok(());
                }
                if let Some(until) = self.intakes.systemic_failure(&live.agent, task.id(), now) {
                    let why = HoldReason::Failures;
                    self.hold(&Hold::new(live.agent.clone(), why, message, now, Some(until))).await?;
                }
            }
            AttemptResult::Complete
            | AttemptResult::Incomplete
            | AttemptResult::NoEvidence
            | AttemptResult::NoChanges { .. }
            | AttemptResult::Asked { .. }
            | AttemptResult::Blocked { .. }
            | AttemptResult::Error { cause: ErrorCause::Own, .. }
            | AttemptResult::TurnLimit
            | AttemptResult::Stopped { .. } => self.intakes.success(&live.agent),
        }
        Ok(())
    }

    /// A failure that any other task would have met too holds the agent or its account, before the task goes back to the
    /// queue.
    pub async fn note_failure(
        &self,
        task: &Task,
        agent: &AgentName,
        account: Option<&AgentName>,
        failure: &AgentFailure,
    ) -> Result<(), EngineError> {
        if failure.kind == FailureKind::CrashAtStart {
            self.intakes.crash_at_start(agent);
        }
        let now = self.tasks.store.now().await?;
        match hold_for(agent, account, failure, now) {
            Some(hold) => {
                self.intakes.excuse(task.id());
                self.hold(&hold).await
            }
            None => Ok(()),
        }
    }

    pub async fn hold(&self, hold: &Hold) -> Result<(), EngineError> {
        if self.holds.place(hold).await? {
            let until = match hold.until {
                Some(until) => format!("rests until {until}"),
                None => format!("is held until you release it (baton hold release {})", hold.agent),
            };
            let what = if self.settings.accounts.contains_key(&hold.agent) { "account" } else { "agent" };
            (self.announce)(&format!("{what} {} {until}: {}", hold.agent, hold.reason));
        }
        Ok(())
    }
}
