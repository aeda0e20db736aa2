//! Metrics of the work, from the log of events: how attempts end, how long tasks wait and stay in each state, and what
//! agents use.
//!
//! The events since the last scrape are read at the next one, so a server that is not scraped does nothing. What is counted
//! began with this process, as Prometheus expects; it is the work of the whole store, on whichever machine it ran.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

use baton_core::base::id::{AttemptId, ProjectId, TaskId};
use baton_core::base::text::AgentName;
use baton_core::base::time::Timestamp;
use baton_core::records::event::{Event, EventBody};
use baton_core::task::Purpose;
use baton_core::task::attempt::{AttemptEnd, AttemptResult};
use baton_core::task::guard::RequeueReason;
use baton_engine::services::workspace::Workspace;
use baton_engine::store_error::StoreError;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Events read at once.
const PAGE: u32 = 500;
/// Pages read for one scrape. What is left after them is read for the next.
const PAGES_MAX: usize = 40;
/// Tasks whose current state is remembered; beyond that, new ones are not timed.
const TASKS_MAX: usize = 100_000;
/// Upper bounds of the buckets of what takes seconds to weeks.
const LONG_BUCKETS: [f64; 12] =
    [1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 43_200.0, 86_400.0, 259_200.0, 604_800.0];
/// Upper bounds of the buckets of a dispatch: a worktree is made, a set-up may run.
const DISPATCH_BUCKETS: [f64; 10] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EndLabel {
    end: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SpenderLabel {
    agent: String,
    project: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TokenLabel {
    agent: String,
    project: String,
    kind: &'static str,
}

type DollarCounter = Counter<f64, AtomicU64>;
type SecondsByState = Family<StateLabel, Histogram, fn() -> Histogram>;

pub struct WorkMetrics {
    attempts: Family<EndLabel, Counter>,
    state_seconds: SecondsByState,
    wait_seconds: Histogram,
    dispatch_seconds: Histogram,
    tokens: Family<TokenLabel, Counter>,
    cost_usd: Family<SpenderLabel, DollarCounter>,
    follower: Mutex<Follower>,
}

/// How far the log of events was read, and what tasks were in then.
#[derive(Default)]
struct Follower {
    /// None before the first scrape.
    read_to: Option<u64>,
    tasks: BTreeMap<TaskId, TrackedTask>,
}

/// A task that is not finished.
struct TrackedTask {
    state: &'static str,
    since: Timestamp,
    project: Option<ProjectId>,
    agent: Option<AgentName>,
}

impl Default for WorkMetrics {
    fn default() -> Self {
        let long: fn() -> Histogram = || Histogram::new(LONG_BUCKETS);
        Self {
            attempts: Family::default(),
            state_seconds: Family::new_with_constructor(long),
            wait_seconds: long(),
            dispatch_seconds: Histogram::new(DISPATCH_BUCKETS),
            tokens: Family::default(),
            cost_usd: Family::default(),
            follower: Mutex::default(),
        }
    }
}

impl WorkMetrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register("attempts", "Attempts that ended, by how they ended", self.attempts.clone());
        registry.register(
            "task_state_seconds",
            "How long tasks stayed in a state they have left",
            self.state_seconds.clone(),
        );
        registry.register(
            "task_wait_seconds",
            "From the moment a task was queued to its claim, dependencies included",
            self.wait_seconds.clone(),
        );
        registry.register(
            "dispatch_seconds",
            "From the claim of a task to the start of its agent",
            self.dispatch_seconds.clone(),
        );
        registry.register("agent_tokens", "Tokens used, as agents report them", self.tokens.clone());
        registry.register("agent_cost_usd", "Dollars spent, as agents report them", self.cost_usd.clone());
    }

    /// Begins with the events after this one. Until then nothing is counted.
    pub fn start_after(&self, seq: u64) {
        let mut follower = self.lock();
        follower.read_to.get_or_insert(seq);
    }

    /// Reads the events since the last scrape.
    pub async fn catch_up(&self, workspace: &Workspace) -> Result<(), StoreError> {
        let store = &workspace.tasks.store;
        let Some(mut read_to) = self.lock().read_to else { return Ok(()) };
        for _ in 0..PAGES_MAX {
            let events = store.events_after(read_to, PAGE).await?;
            let Some(last) = events.last().map(|recorded| recorded.seq) else { return Ok(()) };
            for attempt in self.unknown(events.iter().map(|recorded| &recorded.event)) {
                self.look_up(workspace, attempt).await?;
            }
            let mut follower = self.lock();
            // Another scrape was quicker; what it counted is not counted again.
            if follower.read_to != Some(read_to) {
                return Ok(());
            }
            for recorded in &events {
                self.count(&mut follower, &recorded.event);
            }
            follower.read_to = Some(last);
            read_to = last;
        }
        Ok(())
    }

    /// Attempts that end in these events and were claimed before this process began.
    fn unknown<'a>(&self, events: impl Iterator<Item = &'a Event>) -> Vec<(TaskId, AttemptId)> {
        let follower = self.lock();
        let mut claimed: Vec<TaskId> = Vec::new();
        let mut unknown = Vec::new();
        for event in events {
            match &event.body {
                EventBody::TaskClaimed { task, .. } => claimed.push(*task),
                EventBody::AttemptEnded { task, attempt, .. } => {
                    let has_agent = follower.tasks.get(task).is_some_and(|known| known.agent.is_some());
                    if !has_agent && !claimed.contains(task) {
                        unknown.push((*task, *attempt));
                    }
                }
                _ => {}
            }
        }
        unknown
    }

    async fn look_up(
        &self,
        workspace: &Workspace,
        (task, attempt): (TaskId, AttemptId),
    ) -> Result<(), StoreError> {
        let store = &workspace.tasks.store;
        let (Some(stored), Some(record)) = (store.task(task).await?, store.attempt(attempt).await?) else {
            return Ok(());
        };
        let known = TrackedTask {
            state: "claimed",
            since: record.attempt.started_at,
            project: stored.value.spec().project_id,
            agent: Some(record.attempt.agent),
        };
        self.lock().tasks.entry(task).or_insert(known);
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Follower> {
        self.follower.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, follower: &mut Follower, Event { at, body, .. }: &Event) {
        match body {
            EventBody::TaskCreated { spec, .. } if follower.tasks.len() < TASKS_MAX => {
                let state =
                    if matches!(spec.purpose, Purpose::Breakdown { .. }) { "breakdown" } else { "incoming" };
                let known = TrackedTask { state, since: *at, project: spec.project_id, agent: None };
                follower.tasks.insert(spec.id, known);
            }
            EventBody::TaskClaimed { task, agent, .. } => {
                if let Some(known) = follower.tasks.get_mut(task) {
                    self.wait_seconds.observe(seconds(known.since, *at));
                    self.enter(known, "claimed", *at);
                    known.agent = Some(agent.clone());
                }
            }
            EventBody::AgentStarted { task, .. } => {
                if let Some(known) = follower.tasks.get(task) {
                    self.dispatch_seconds.observe(seconds(known.since, *at));
                }
            }
            EventBody::AttemptEnded { task, end, .. } => self.count_end(follower, *task, end, *at),
            EventBody::TaskRequeued { task, reason: RequeueReason::LeaseExpired, .. } => {
                self.attempts.get_or_create(&EndLabel { end: "lost" }).inc();
                if let Some(known) = follower.tasks.get_mut(task) {
                    self.enter(known, "incoming", *at);
                }
            }
            EventBody::QuestionAnswered { task: Some(task), .. } => {
                if let Some(known) =
                    follower.tasks.get_mut(task).filter(|known| known.state == "awaiting_response")
                {
                    self.enter(known, "incoming", *at);
                }
            }
            _ => {
                if let (Some(task), Some(state)) = (body.task(), state_after(body))
                    && let Some(known) = follower.tasks.get_mut(&task)
                {
                    self.enter(known, state, *at);
                    if matches!(state, "done" | "cancelled" | "recycled") {
                        follower.tasks.remove(&task);
                    }
                }
            }
        }
    }

    fn count_end(&self, follower: &mut Follower, task: TaskId, end: &AttemptEnd, at: Timestamp) {
        self.attempts.get_or_create(&EndLabel { end: end.reported.result.kind().as_str() }).inc();
        let Some(known) = follower.tasks.get_mut(&task) else { return };
        let agent = known.agent.as_ref().map(ToString::to_string).unwrap_or_default();
        let project = known.project.map(|project| project.to_string()).unwrap_or_default();
        let used = &end.verified;
        for (kind, count) in [("input", used.input_tokens), ("output", used.output_tokens)] {
            let label = TokenLabel { agent: agent.clone(), project: project.clone(), kind };
            self.tokens.get_or_create(&label).inc_by(count);
        }
        #[expect(clippy::cast_precision_loss, reason = "a counter for charts; accounts use the exact number")]
        let dollars = used.cost_micro_usd as f64 / 1e6;
        self.cost_usd.get_or_create(&SpenderLabel { agent, project }).inc_by(dollars);
        // The events that follow tell the state, except for a task that waits for an answer.
        if matches!(end.reported.result, AttemptResult::Asked { .. } | AttemptResult::Blocked { .. }) {
            self.enter(known, "awaiting_response", at);
        }
    }

    fn enter(&self, known: &mut TrackedTask, state: &'static str, at: Timestamp) {
        let left = StateLabel { state: known.state };
        self.state_seconds.get_or_create(&left).observe(seconds(known.since, at));
        (known.state, known.since) = (state, at);
    }
}

/// The state a task is in after this event, where the event alone tells.
fn state_after(body: &EventBody) -> Option<&'static str> {
    Some(match body {
        EventBody::TaskProvisional { .. } => "provisional",
        EventBody::TaskLanding { .. } => "landing",
        EventBody::TaskSentBack { reason, .. } if !reason.is_fault_of_task() => "provisional",
        EventBody::TaskContinues { .. } => "needs_continuation",
        EventBody::TaskRequeued { .. }
        | EventBody::TaskRejected { .. }
        | EventBody::TaskConflicted { .. }
        | EventBody::TaskSentBack { .. }
        | EventBody::TaskRetried { .. } => "incoming",
        EventBody::TaskRecycled { .. } | EventBody::TaskReplaced { .. } => "recycled",
        EventBody::TaskDone { .. } => "done",
        EventBody::TaskFailed { .. } => "failed",
        EventBody::TaskCancelled { .. } => "cancelled",
        _ => return None,
    })
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of years fit")]
fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.ms().saturating_sub(from.ms()).max(0) as f64 / 1e3
}
