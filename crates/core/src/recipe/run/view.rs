//! Read access to a run. Only its own transitions change it.

use crate::base::id::{RunId, SessionId, TaskId};
use crate::base::text::{NonBlank, RecipeId, StepName};
use crate::base::time::Timestamp;
use crate::phase::summary::LoopSummary;
use crate::recipe::exit_reason::ExitReason;
use crate::recipe::run::{Run, RunMemory, RunOrigin, RunState};

impl Run {
    pub fn id(&self) -> RunId {
        self.id
    }

    pub fn recipe(&self) -> &RecipeId {
        &self.recipe
    }

    pub fn session(&self) -> &SessionId {
        &self.session
    }

    pub fn task(&self) -> Option<TaskId> {
        self.task
    }

    pub fn origin(&self) -> RunOrigin {
        self.origin
    }

    pub fn memory(&self) -> &RunMemory {
        &self.memory
    }

    pub fn step(&self) -> &StepName {
        &self.step
    }

    /// How often the step was entered in this iteration.
    pub fn visits(&self, step: &StepName) -> u32 {
        self.visits.get(step).copied().unwrap_or(0)
    }

    /// How often the agent was prompted in this iteration.
    pub fn total_steps(&self) -> u32 {
        self.total_steps
    }

    /// How often the agent was prompted in the whole run.
    pub fn step_count(&self) -> u32 {
        self.earlier_steps.saturating_add(self.total_steps)
    }

    /// 1, plus one for every time the human sent the run back.
    pub fn iteration(&self) -> u32 {
        self.iteration
    }

    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    pub fn was_reminded(&self) -> bool {
        self.reminded
    }

    /// Whether the run is over.
    pub fn has_exited(&self) -> bool {
        matches!(self.state, RunState::Exited { .. })
    }

    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// Why the run ended, or is about to.
    pub fn exit_reason(&self) -> Option<&ExitReason> {
        match &self.state {
            RunState::Leaving { reason } | RunState::Exited { reason } => Some(reason),
            RunState::Working | RunState::AtGate { .. } => None,
        }
    }

    pub fn started_at(&self) -> Option<Timestamp> {
        self.started_at
    }

    pub fn ended_at(&self) -> Option<Timestamp> {
        self.ended_at
    }

    pub fn summary(&self) -> Option<LoopSummary> {
        self.summary
    }

    pub fn error(&self) -> Option<&NonBlank> {
        self.error.as_ref()
    }
}
