//! Read access to a run. Only its own transitions change it.

use crate::base::id::{RunId, SessionId, TaskId};
use crate::base::text::{RecipeId, StepName};
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
}
