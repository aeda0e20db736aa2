//! Reads the store's new events and wakes only the services they concern.
//!
//! Otherwise every commit would wake every service. Services also have a period, so a missed wake-up costs only seconds.

use baton_core::records::event::EventBody;
use baton_store::Store;
use tokio::sync::watch;

use crate::base::supervisor::{Round, Service, ServiceError};

/// Events read at once.
const PAGE: u32 = 200;

/// Signals for services, incremented when there is something to do. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Topics {
    pub loops: watch::Sender<u64>,
    /// Work that may be too large.
    pub provisional: watch::Sender<u64>,
    /// Runs, and tasks that ended without their run.
    pub runs: watch::Sender<u64>,
    /// A worktree was taken.
    pub claims: watch::Sender<u64>,
    /// Accepted work entered a lane.
    pub lanes: watch::Sender<u64>,
    /// Routines, and tasks that ended.
    pub routines: watch::Sender<u64>,
}

impl Topics {
    fn all(&self) -> [&watch::Sender<u64>; 6] {
        [&self.loops, &self.provisional, &self.runs, &self.claims, &self.lanes, &self.routines]
    }

    fn concerned(&self, body: &EventBody) -> Vec<&watch::Sender<u64>> {
        match body {
            EventBody::TaskProvisional { .. } => vec![&self.loops, &self.provisional, &self.runs],
            EventBody::TaskLanding { .. } => vec![&self.lanes],
            EventBody::TaskClaimed { .. } | EventBody::AgentStarted { .. } => vec![&self.claims],
            EventBody::TaskDone { .. }
            | EventBody::TaskFailed { .. }
            | EventBody::TaskCancelled { .. }
            | EventBody::TaskRecycled { .. } => vec![&self.loops, &self.runs, &self.routines],
            EventBody::RoutineChanged { .. } | EventBody::RoutineRan { .. } => vec![&self.routines],
            EventBody::RunStarted { .. } | EventBody::RunBound { .. } | EventBody::RunStopping { .. } => {
                vec![&self.loops, &self.runs]
            }
            EventBody::IntakePaused { .. }
            | EventBody::IntakeResumed { .. }
            | EventBody::TokenCreated { .. }
            | EventBody::TokenRevoked { .. }
            | EventBody::RoutineSkipped { .. }
            | EventBody::ProjectLimited { .. }
            | EventBody::EffectGivenUp { .. }
            | EventBody::AgentMoved { .. }
            | EventBody::AttemptFenced { .. }
            | EventBody::EnvironmentChanged { .. }
            | EventBody::MessagesDelivered { .. }
            | EventBody::AttemptRefused { .. }
            | EventBody::NetworkRefused { .. }
            | EventBody::ItemFailed { .. } => Vec::new(),
            // Loops depend on questions, plans, messages and the tasks of their phases.
            EventBody::ProjectCreated { .. }
            | EventBody::ProjectCompleted { .. }
            | EventBody::ProjectReopened { .. }
            | EventBody::SessionOpened { .. }
            | EventBody::MessagePosted { .. }
            | EventBody::TaskCreated { .. }
            | EventBody::AttemptEnded { .. }
            | EventBody::TaskContinues { .. }
            | EventBody::TaskRequeued { .. }
            | EventBody::TaskRejected { .. }
            | EventBody::TaskConflicted { .. }
            | EventBody::TaskLanded { .. }
            | EventBody::TaskLandingDelayed { .. }
            | EventBody::TaskSentBack { .. }
            | EventBody::TaskForced { .. }
            | EventBody::TaskReplaced { .. }
            | EventBody::TaskRetried { .. }
            | EventBody::TaskHeldBack { .. }
            | EventBody::TaskLetGo { .. }
            | EventBody::TaskRevised { .. }
            | EventBody::DependentsRewired { .. }
            | EventBody::BreakdownReleased { .. }
            | EventBody::PlanSubmitted { .. }
            | EventBody::PlanApproved { .. }
            | EventBody::PlanRejected { .. }
            | EventBody::QuestionAsked { .. }
            | EventBody::QuestionAnswered { .. }
            | EventBody::QuestionWithdrawn { .. }
            | EventBody::AnswerQueued { .. }
            | EventBody::StepStarted { .. }
            | EventBody::StepLeft { .. }
            | EventBody::OutcomeRefused { .. }
            | EventBody::RunExited { .. }
            | EventBody::PhaseHandedOff { .. } => vec![&self.loops],
        }
    }
}

pub(super) struct ChangeRouter {
    store: Store,
    topics: Topics,
    /// The last event that was read.
    seen: Option<u64>,
}

impl ChangeRouter {
    pub(super) fn new(store: Store, topics: Topics) -> Self {
        Self { store, topics, seen: None }
    }
}

impl Service for ChangeRouter {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        let Some(mut seen) = self.seen else {
            // Events may have been missed before a start or during a failure.
            self.seen = Some(*self.store.subscribe().borrow());
            self.topics.all().into_iter().for_each(wake);
            return Ok(Round::default());
        };
        let mut round = Round::default();
        loop {
            let events = self.store.events_after(seen, PAGE).await?;
            let Some(last) = events.last() else { return Ok(round) };
            seen = last.seq;
            for recorded in &events {
                self.topics.concerned(&recorded.event.body).into_iter().for_each(wake);
            }
            round.items_done += events.len() as u64;
            self.seen = Some(seen);
        }
    }
}

fn wake(topic: &watch::Sender<u64>) {
    topic.send_modify(|count| *count += 1);
}
