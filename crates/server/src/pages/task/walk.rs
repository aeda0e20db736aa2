//! The way a task has gone so far: which states it was in, from when to when. Read from its own history.

use baton_core::ask::question::QuestionKind;
use baton_core::base::time::Timestamp;
use baton_core::records::event::EventBody;
use baton_core::task::state::StateName;
use baton_core::task::{Purpose, Task};
use baton_engine::StoredEvent;

/// One stay in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stay {
    pub state: StateName,
    pub from: Timestamp,
    /// None while it lasts.
    pub until: Option<Timestamp>,
}

impl Stay {
    pub fn ms(&self, now: Timestamp) -> i64 {
        self.until.unwrap_or(now).ms_since(self.from)
    }
}

/// The stays, first to last. The last one is where the task is, whatever the history left out.
pub fn walk(task: &Task, events: &[StoredEvent]) -> Vec<Stay> {
    let mut way = Way { stays: Vec::new(), home: home(task), is_live: false };
    for recorded in events {
        if let Some(state) = way.next(&recorded.event.body) {
            way.enter(state, recorded.event.at);
        }
    }
    way.enter(task.state().name(), task.updated_at());
    way.stays
}

/// Where a task waits for an agent: work and plans have queues of their own.
fn home(task: &Task) -> StateName {
    match task.spec().purpose {
        Purpose::Work | Purpose::Run => StateName::Incoming,
        Purpose::Breakdown { .. } => StateName::Breakdown,
    }
}

struct Way {
    stays: Vec<Stay>,
    home: StateName,
    /// An agent is at work, so a question does not yet make the task wait.
    is_live: bool,
}

impl Way {
    /// The state an event leads to, where it leads anywhere.
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
            EventBody::TaskRequeued { .. }
            | EventBody::TaskRejected { .. }
            | EventBody::TaskConflicted { .. }
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
                | QuestionKind::Escalation => StateName::AwaitingResponse,
            },
            EventBody::QuestionAnswered { .. } if !self.is_live => self.home,
            EventBody::TaskContinues { .. } => StateName::NeedsContinuation,
            EventBody::TaskProvisional { .. } => StateName::Provisional,
            EventBody::TaskDone { .. } | EventBody::PlanApproved { .. } => StateName::Done,
            EventBody::TaskRecycled { .. } => StateName::Recycled,
            EventBody::TaskFailed { .. } => StateName::Failed,
            EventBody::TaskCancelled { .. } => StateName::Cancelled,
            // These happen without leading anywhere, a question of an agent at work among them.
            EventBody::ProjectCreated { .. }
            | EventBody::ProjectCompleted { .. }
            | EventBody::ProjectLimited { .. }
            | EventBody::SessionOpened { .. }
            | EventBody::MessagePosted { .. }
            | EventBody::AgentStarted { .. }
            | EventBody::TaskReplaced { .. }
            | EventBody::TaskHeldBack { .. }
            | EventBody::TaskLetGo { .. }
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
            | EventBody::IntakePaused { .. }
            | EventBody::IntakeResumed { .. }
            | EventBody::TokenCreated { .. }
            | EventBody::TokenRevoked { .. } => return None,
        })
    }

    /// What passes in no time at all was not a stay.
    fn enter(&mut self, state: StateName, at: Timestamp) {
        let passed = |stay: &Stay| stay.from == at && stay.state == self.home;
        if self.stays.len() > 1 && self.stays.last().is_some_and(passed) {
            self.stays.pop();
        }
        if let Some(last) = self.stays.last_mut() {
            if last.state == state {
                last.until = None;
                return;
            }
            last.until = Some(at);
        }
        self.stays.push(Stay { state, from: at, until: None });
    }
}
