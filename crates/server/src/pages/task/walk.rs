//! The states a task has been in, with times, from its events.

use baton_core::ask::question::QuestionKind;
use baton_core::base::time::Timestamp;
use baton_core::records::event::EventBody;
use baton_core::task::state::StateName;
use baton_core::task::{Purpose, Task};
use baton_engine::StoredEvent;

/// A period in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StateSpan {
    pub state: StateName,
    pub from: Timestamp,
    /// None for the current state.
    pub until: Option<Timestamp>,
}

impl StateSpan {
    pub(crate) fn ms(&self, now: Timestamp) -> i64 {
        self.until.unwrap_or(now).ms_since(self.from)
    }
}

/// The periods in order. The last one is the current state, whatever the events left out.
pub(crate) fn walk(task: &Task, events: &[StoredEvent]) -> Vec<StateSpan> {
    let mut way = WalkBuilder { spans: Vec::new(), home: home(task), is_live: false };
    for recorded in events {
        if let Some(state) = way.next(&recorded.event.body) {
            way.enter(state, recorded.event.at);
        }
    }
    way.enter(task.state().name(), task.updated_at());
    way.spans
}

/// The state in which a task waits for an agent.
fn home(task: &Task) -> StateName {
    match task.spec().purpose {
        Purpose::Work | Purpose::Run => StateName::Incoming,
        Purpose::Breakdown { .. } => StateName::Breakdown,
    }
}

struct WalkBuilder {
    spans: Vec<StateSpan>,
    home: StateName,
    /// While an agent runs, a question does not change the state.
    is_live: bool,
}

impl WalkBuilder {
    /// The state an event leads to, if any.
    fn next(&mut self, event: &EventBody) -> Option<StateName> {
        Some(match event {
            EventBody::TaskCreated { .. } | EventBody::TaskRetried { .. } => self.home,
            EventBody::TaskClaimed { .. } => {
                self.is_live = true;
                StateName::Claimed
            }
            EventBody::AttemptEnded { .. } => {
                self.is_live = false;
                return None;
            }
            EventBody::TaskSentBack { reason, .. } if !reason.is_fault_of_task() => StateName::Provisional,
            EventBody::TaskRequeued { .. }
            | EventBody::TaskRejected { .. }
            | EventBody::TaskConflicted { .. }
            | EventBody::TaskSentBack { .. }
            | EventBody::PlanRejected { .. } => {
                self.is_live = false;
                self.home
            }
            EventBody::QuestionAsked { question, .. } if !self.is_live => match question.kind() {
                QuestionKind::Danger => StateName::Blocked,
                QuestionKind::Clarification
                | QuestionKind::Confirmation
                | QuestionKind::Gate
                | QuestionKind::Permission
                | QuestionKind::Escalation
                | QuestionKind::Completion => StateName::AwaitingResponse,
            },
            EventBody::QuestionAnswered { .. } if !self.is_live => self.home,
            EventBody::TaskHeldBack { .. } => StateName::Held,
            EventBody::TaskLetGo { .. } => StateName::Incoming,
            EventBody::TaskContinues { .. } => StateName::NeedsContinuation,
            EventBody::TaskProvisional { .. } => StateName::Provisional,
            EventBody::TaskDone { .. } | EventBody::PlanApproved { .. } => StateName::Done,
            EventBody::TaskLanding { .. } => StateName::Landing,
            EventBody::TaskRecycled { .. } => StateName::Recycled,
            EventBody::TaskFailed { .. } => StateName::Failed,
            EventBody::TaskCancelled { .. } => StateName::Cancelled,
            // No state change; this includes questions of a running agent.
            EventBody::ProjectCreated { .. }
            | EventBody::ProjectCompleted { .. }
            | EventBody::ProjectReopened { .. }
            | EventBody::ProjectLimited { .. }
            | EventBody::SessionOpened { .. }
            | EventBody::MessagePosted { .. }
            | EventBody::MessagesDelivered { .. }
            | EventBody::AgentStarted { .. }
            | EventBody::TaskLandingDelayed { .. }
            | EventBody::TaskLanded { .. }
            | EventBody::TaskForced { .. }
            | EventBody::TaskReplaced { .. }
            | EventBody::TaskRevised { .. }
            | EventBody::DependentsRewired { .. }
            | EventBody::BreakdownReleased { .. }
            | EventBody::PlanSubmitted { .. }
            | EventBody::QuestionAsked { .. }
            | EventBody::QuestionAnswered { .. }
            | EventBody::QuestionWithdrawn { .. }
            | EventBody::AnswerQueued { .. }
            | EventBody::RunStarted { .. }
            | EventBody::RunBound { .. }
            | EventBody::StepStarted { .. }
            | EventBody::StepLeft { .. }
            | EventBody::OutcomeRefused { .. }
            | EventBody::RunStopping { .. }
            | EventBody::RunExited { .. }
            | EventBody::PhaseHandedOff { .. }
            | EventBody::EffectGivenUp { .. }
            | EventBody::ItemFailed { .. }
            | EventBody::AgentMoved { .. }
            | EventBody::AttemptFenced { .. }
            | EventBody::EnvironmentChanged { .. }
            | EventBody::AttemptRefused { .. }
            | EventBody::NetworkRefused { .. }
            | EventBody::IntakePaused { .. }
            | EventBody::IntakeResumed { .. }
            | EventBody::RoutineChanged { .. }
            | EventBody::RoutineRan { .. }
            | EventBody::RoutineSkipped { .. }
            | EventBody::TokenCreated { .. }
            | EventBody::TokenRevoked { .. } => return None,
        })
    }

    /// Drops periods of zero length.
    fn enter(&mut self, state: StateName, at: Timestamp) {
        let passed = |span: &StateSpan| span.from == at && span.state == self.home;
        if self.spans.len() > 1 && self.spans.last().is_some_and(passed) {
            self.spans.pop();
        }
        if let Some(last) = self.spans.last_mut() {
            if last.state == state {
                last.until = None;
                return;
            }
            last.until = Some(at);
        }
        self.spans.push(StateSpan { state, from: at, until: None });
    }
}
