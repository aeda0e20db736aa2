//! Maps events of the log to WebSocket messages.
//!
//! A pure function of the event, so that a client that reconnects gets the same messages again. Names and fields are a
//! contract, held by a snapshot.

mod landing_change;
#[cfg(test)]
mod tests;

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::question::Question;
use baton_core::base::id::{AttemptId, QuestionId, RunId, SessionId, TaskId};
use baton_core::base::text::{NonBlank, OutcomeName, RecipeId, StepName};
use baton_core::phase::Phase;
use baton_core::phase::handoff::{HandoffDecision, PhaseResults};
use baton_core::recipe::exit_reason::{ExitCategory, ExitReason};
use baton_core::records::event::EventBody;
use baton_engine::StoredEvent;
use serde::Serialize;

pub use self::landing_change::LandingChange;

/// What the hub offers after a loop.
const HUB_OPTIONS: [&str; 3] = ["new_session", "view_results", "edit_tasks"];

/// One durable message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WireMessage {
    #[serde(flatten)]
    pub body: WireBody,
    /// The event's sequence number.
    pub seq: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WireBody {
    RecipeStarted {
        recipe_id: RecipeId,
        recipe_label: NonBlank,
        run_id: RunId,
        session_id: SessionId,
        task_id: Option<TaskId>,
        current_step: StepName,
        step_count: u32,
        iteration: u32,
    },
    RecipeStepStarted {
        run_id: RunId,
        session_id: SessionId,
        step: StepName,
        step_count: u32,
        iteration: u32,
    },
    RecipeStepTransition {
        run_id: RunId,
        session_id: SessionId,
        from_step: StepName,
        to_step: StepName,
        outcome: OutcomeName,
    },
    /// The agent's report was invalid; it is asked again.
    OrchestrationRetry {
        run_id: RunId,
        session_id: SessionId,
        step: StepName,
        error: NonBlank,
    },
    RecipeExited {
        session_id: SessionId,
        reason: ExitReason,
        category: ExitCategory,
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<NonBlank>,
    },
    /// A loop moved from one phase to another. In the hub it is over, and `results` has its totals.
    PhaseChanged {
        session_id: SessionId,
        from_phase: Phase,
        to_phase: Phase,
        iteration: u32,
        decision: HandoffDecision,
        results: Box<PhaseResults>,
        /// What a person can do next, when the loop is over.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        options: Vec<&'static str>,
    },
    QuestionAsked {
        session_id: SessionId,
        task_id: Option<TaskId>,
        question: Box<Question>,
    },
    QuestionAnswered {
        session_id: SessionId,
        task_id: Option<TaskId>,
        question_id: QuestionId,
        answer: NonBlank,
        answered_by: AnsweredBy,
    },
    /// The task changed; `change` says how. Read the task for its current state.
    TaskChanged {
        task_id: TaskId,
        change: TaskChange,
        /// What the change says about its way into its branch.
        #[serde(skip_serializing_if = "Option::is_none")]
        landing: Option<LandingChange>,
    },
    /// An agent ended its turn.
    TurnComplete {
        task_id: TaskId,
        attempt_id: AttemptId,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskChange {
    Created,
    Claimed,
    Provisional,
    Done,
    Continues,
    Requeued,
    Rejected,
    Conflicted,
    Landing,
    LandingDelayed,
    Landed,
    SentBack,
    Forced,
    Recycled,
    Replaced,
    Failed,
    Retried,
    Cancelled,
    Revised,
    DependentsRewired,
    Released,
    PlanSubmitted,
    PlanApproved,
    PlanRejected,
    QuestionWithdrawn,
}

/// The message for an event, if there is one.
#[expect(clippy::too_many_lines, reason = "one arm for each kind of event")]
pub fn message(recorded: &StoredEvent) -> Option<WireMessage> {
    let changed = |task_id: &TaskId, change| {
        let landing = LandingChange::of_event(&recorded.event.body);
        Some(WireBody::TaskChanged { task_id: *task_id, change, landing })
    };
    let body = match &recorded.event.body {
        EventBody::RunStarted { run, recipe, label, session, task, step, step_count, iteration } => {
            Some(WireBody::RecipeStarted {
                recipe_id: recipe.clone(),
                recipe_label: label.clone(),
                run_id: *run,
                session_id: session.clone(),
                task_id: *task,
                current_step: step.clone(),
                step_count: *step_count,
                iteration: *iteration,
            })
        }
        EventBody::StepStarted { run, session, step, step_count, iteration } => {
            Some(WireBody::RecipeStepStarted {
                run_id: *run,
                session_id: session.clone(),
                step: step.clone(),
                step_count: *step_count,
                iteration: *iteration,
            })
        }
        EventBody::StepLeft { run, session, from, to, outcome } => Some(WireBody::RecipeStepTransition {
            run_id: *run,
            session_id: session.clone(),
            from_step: from.clone(),
            to_step: to.clone(),
            outcome: outcome.clone(),
        }),
        EventBody::PhaseHandedOff { session, handoff } => Some(WireBody::PhaseChanged {
            session_id: session.clone(),
            from_phase: handoff.from,
            to_phase: handoff.to,
            iteration: handoff.iteration,
            decision: handoff.decision,
            results: Box::new(handoff.results.clone()),
            options: if handoff.to == Phase::Hub { HUB_OPTIONS.to_vec() } else { Vec::new() },
        }),
        EventBody::OutcomeRefused { run, session, step, error } => Some(WireBody::OrchestrationRetry {
            run_id: *run,
            session_id: session.clone(),
            step: step.clone(),
            error: error.clone(),
        }),
        EventBody::RunExited { session, reason, error, .. } => Some(WireBody::RecipeExited {
            session_id: session.clone(),
            reason: reason.clone(),
            category: reason.category(),
            message: reason.message(),
            error: error.clone(),
        }),
        EventBody::QuestionAsked { session, task, question } => Some(WireBody::QuestionAsked {
            session_id: session.clone(),
            task_id: *task,
            question: question.clone(),
        }),
        EventBody::QuestionAnswered { session, task, question, answer, answered_by } => {
            Some(WireBody::QuestionAnswered {
                session_id: session.clone(),
                task_id: *task,
                question_id: *question,
                answer: answer.clone(),
                answered_by: answered_by.clone(),
            })
        }
        EventBody::AttemptEnded { task, attempt, .. } => {
            Some(WireBody::TurnComplete { task_id: *task, attempt_id: *attempt })
        }
        EventBody::TaskCreated { spec, .. } => changed(&spec.id, TaskChange::Created),
        EventBody::TaskClaimed { task, .. } => changed(task, TaskChange::Claimed),
        EventBody::TaskProvisional { task, .. } => changed(task, TaskChange::Provisional),
        EventBody::TaskDone { task, .. } => changed(task, TaskChange::Done),
        EventBody::TaskContinues { task, .. } => changed(task, TaskChange::Continues),
        EventBody::TaskRequeued { task, .. } => changed(task, TaskChange::Requeued),
        EventBody::TaskRejected { task, .. } => changed(task, TaskChange::Rejected),
        EventBody::TaskConflicted { task, .. } => changed(task, TaskChange::Conflicted),
        EventBody::TaskLanding { task, .. } => changed(task, TaskChange::Landing),
        EventBody::TaskLanded { task, .. } => changed(task, TaskChange::Landed),
        EventBody::TaskLandingDelayed { task, .. } => changed(task, TaskChange::LandingDelayed),
        EventBody::TaskSentBack { task, .. } => changed(task, TaskChange::SentBack),
        EventBody::TaskForced { task, .. } => changed(task, TaskChange::Forced),
        EventBody::TaskRecycled { task, .. } => changed(task, TaskChange::Recycled),
        EventBody::TaskReplaced { task, .. } => changed(task, TaskChange::Replaced),
        EventBody::TaskFailed { task, .. } => changed(task, TaskChange::Failed),
        EventBody::TaskRetried { task } => changed(task, TaskChange::Retried),
        EventBody::TaskCancelled { task, .. } => changed(task, TaskChange::Cancelled),
        EventBody::TaskRevised { task, .. } => changed(task, TaskChange::Revised),
        EventBody::DependentsRewired { from, .. } => changed(from, TaskChange::DependentsRewired),
        EventBody::BreakdownReleased { task } => changed(task, TaskChange::Released),
        EventBody::PlanSubmitted { task, .. } => changed(task, TaskChange::PlanSubmitted),
        EventBody::PlanApproved { task, .. } => changed(task, TaskChange::PlanApproved),
        EventBody::PlanRejected { task, .. } => changed(task, TaskChange::PlanRejected),
        EventBody::QuestionWithdrawn { task: Some(task), .. } => changed(task, TaskChange::QuestionWithdrawn),
        // No WebSocket message; pages and the event stream cover these.
        EventBody::QuestionWithdrawn { task: None, .. }
        | EventBody::ProjectCreated { .. }
        | EventBody::ProjectCompleted { .. }
        | EventBody::ProjectReopened { .. }
        | EventBody::ProjectLimited { .. }
        | EventBody::SessionOpened { .. }
        | EventBody::MessagePosted { .. }
        | EventBody::MessagesDelivered { .. }
        | EventBody::RunBound { .. }
        | EventBody::AgentStarted { .. }
        | EventBody::TaskHeldBack { .. }
        | EventBody::TaskLetGo { .. }
        | EventBody::AnswerQueued { .. }
        | EventBody::EffectGivenUp { .. }
        | EventBody::ItemFailed { .. }
        | EventBody::AgentMoved { .. }
        | EventBody::AttemptFenced { .. }
        | EventBody::EnvironmentChanged { .. }
        | EventBody::AttemptRefused { .. }
        | EventBody::NetworkRefused { .. }
        | EventBody::RunStopping { .. }
        | EventBody::IntakePaused { .. }
        | EventBody::IntakeResumed { .. }
        | EventBody::RoutineChanged { .. }
        | EventBody::RoutineRan { .. }
        | EventBody::RoutineSkipped { .. }
        | EventBody::TokenCreated { .. }
        | EventBody::TokenRevoked { .. } => None,
    };
    body.map(|body| WireMessage { body, seq: recorded.seq })
}
