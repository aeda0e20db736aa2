//! A run of a recipe or of the loop, as clients see it.

use baton_core::base::id::{ProjectId, QuestionId, RunId, SessionId, TaskId};
use baton_core::base::text::{NonBlank, RecipeId, StepName};
use baton_core::base::time::Timestamp;
use baton_core::phase::summary::LoopSummary;
use baton_core::recipe::exit_reason::{ExitCategory, ExitReason};
use baton_core::recipe::run::{Run, RunOrigin, RunState, StepHandover};
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::runs::is_loop;
use crate::tasks::service::TaskService;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunView {
    pub run_id: RunId,
    pub recipe_id: RecipeId,
    pub session_id: SessionId,
    /// The project of its session.
    pub project_id: Option<ProjectId>,
    /// The task it works on. The loop has none of its own.
    pub task_id: Option<TaskId>,
    pub state: RunStateName,
    pub has_exited: bool,
    /// The step of a recipe, the phase of a loop.
    pub current_step: StepName,
    /// Steps of the whole run so far.
    pub step_count: u32,
    pub iteration: u32,
    /// How the last finished step ended.
    pub last_outcome: Option<StepHandover>,
    /// The question it waits for.
    pub question_id: Option<QuestionId>,
    /// Why it ended, or is about to.
    pub reason: Option<ExitReason>,
    pub category: Option<ExitCategory>,
    pub message: Option<String>,
    /// What went wrong, if anything did.
    pub error: Option<NonBlank>,
    /// The totals of a loop that has ended.
    pub summary: Option<LoopSummary>,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStateName {
    Working,
    AtGate,
    Leaving,
    Exited,
}

impl RunStateName {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::AtGate => "at_gate",
            Self::Leaving => "leaving",
            Self::Exited => "exited",
        }
    }
}

impl RunView {
    pub async fn load(tasks: &TaskService, run: &Run) -> Result<Self, EngineError> {
        let reason = run.exit_reason().cloned();
        let session = tasks.store.session(run.session()).await?;
        Ok(Self {
            run_id: run.id(),
            recipe_id: run.recipe().clone(),
            session_id: run.session().clone(),
            project_id: session.and_then(|stored| stored.value.project_id),
            task_id: run.task(),
            state: match run.state() {
                RunState::Working => RunStateName::Working,
                RunState::AtGate { .. } => RunStateName::AtGate,
                RunState::Leaving { .. } => RunStateName::Leaving,
                RunState::Exited { .. } => RunStateName::Exited,
            },
            has_exited: run.has_exited(),
            current_step: run.step().clone(),
            step_count: run.step_count(),
            iteration: run.iteration(),
            last_outcome: run.memory().handover().cloned(),
            question_id: pending_question(tasks, run).await?,
            category: reason.as_ref().map(ExitReason::category),
            message: reason.as_ref().map(ExitReason::message),
            reason,
            error: run.error().cloned(),
            summary: run.summary(),
            started_at: run.started_at(),
            ended_at: run.ended_at(),
        })
    }
}

async fn pending_question(tasks: &TaskService, run: &Run) -> Result<Option<QuestionId>, EngineError> {
    if run.has_exited() {
        return Ok(None);
    }
    if is_loop(run) {
        let stored = tasks.store.phase_loop(run.session()).await?;
        return Ok(stored.and_then(|stored| stored.value.pending().map(|question| question.id)));
    }
    let Some(task) = run.task() else { return Ok(None) };
    let stored = tasks.store.task(task).await?;
    Ok(stored.and_then(|stored| stored.value.pending_question().map(|question| question.id)))
}

/// Whether people are told of the run.
pub fn is_told(run: &Run) -> bool {
    run.origin() != RunOrigin::Default
}
