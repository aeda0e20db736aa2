//! Builders for tasks, changes, requests and attempt results.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use baton_core::base::id::{AttemptId, QuestionId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::{AgentName, NonBlank, Role};
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Versioned};
use baton_core::records::event::{Event, EventBody};
use baton_core::recycle::plan::{ItemDraft, Plan, PlanDraft};
use baton_core::schedule::{Capacity, LimitsByKey, WorkerFit};
use baton_core::task::attempt::{AttemptEnd, AttemptReport, AttemptResult, Evidence};
use baton_core::task::{Task, TaskSpec};
use baton_core::transition::approval::Approval;
use baton_core::transition::command::{Command, CommandContext, FreshIds};
use baton_store::Backend;
use baton_store::model::claim::{ClaimRequest, ClaimedTask};
use baton_store::model::commit::{Commit, Conflict};

/// A fixed start time.
pub(crate) const START: Timestamp = Timestamp::from_ms(1_800_000_000_000);

pub(crate) fn at(ms: i64) -> Timestamp {
    START.plus_ms(ms)
}

pub(crate) fn task_id(number: u32) -> TaskId {
    TaskId::from_bits(number)
}

pub(crate) fn text(words: &str) -> NonBlank {
    NonBlank::new(words).unwrap()
}

pub(crate) fn role(name: &str) -> Role {
    name.parse().unwrap()
}

pub(crate) fn agent(name: &str) -> AgentName {
    name.parse().unwrap()
}

/// A task whose output is its deliverable, so that one settle completes it.
pub(crate) fn spec(number: u32) -> TaskSpec {
    TaskSpec {
        description: format!("Do what task {number} asks."),
        ..TaskSpec::new(
            task_id(number),
            "chat".parse().unwrap(),
            TaskType::ReadInfo,
            text(&format!("Task {number}")),
            at(i64::from(number)),
        )
    }
}

pub(crate) fn create(spec: TaskSpec, depends_on: &[TaskId]) -> Change {
    let body = EventBody::TaskCreated { spec: Box::new(spec.clone()), depends_on: depends_on.to_vec() };
    let event = Event { at: spec.created_at, by: Actor::human("mia"), body };
    Change::create(Task::create(spec), depends_on, event)
}

/// The same, requested by an actor.
pub(crate) fn created_by(spec: TaskSpec, by: &Actor) -> Change {
    let body = EventBody::TaskCreated { spec: Box::new(spec.clone()), depends_on: Vec::new() };
    let event = Event { at: spec.created_at, by: by.clone(), body };
    Change::create(Task::create(spec).with_requester(by.person()), &[], event)
}

/// A task with dependencies, by their numbers.
pub(crate) fn created(number: u32, depends_on: &[u32]) -> Change {
    let depends_on: Vec<TaskId> = depends_on.iter().copied().map(task_id).collect();
    create(spec(number), &depends_on)
}

/// Unique in the test run.
pub(crate) fn fresh_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

pub(crate) fn attempt_ids(count: u32) -> Vec<AttemptId> {
    (0..count).map(|_| AttemptId::from_bits(fresh_number())).collect()
}

pub(crate) fn context(actor: Actor, ms: i64) -> CommandContext {
    let number = u32::try_from(fresh_number()).unwrap();
    let fresh = FreshIds {
        question: QuestionId::from_bits(number),
        // Far from the small ids of the tests' own tasks.
        breakdown: task_id(0x8000_0000 + number),
    };
    CommandContext { now: at(ms), actor, fresh }
}

pub(crate) fn human(ms: i64) -> CommandContext {
    context(Actor::human("mia"), ms)
}

/// Limits that are never reached.
pub(crate) fn no_limits() -> Capacity {
    Capacity {
        total_max: u32::MAX,
        per_role: LimitsByKey::all(u32::MAX),
        per_agent: LimitsByKey::all(u32::MAX),
        unaccepted_max: u32::MAX,
        per_project: LimitsByKey::none(),
        per_person: LimitsByKey::none(),
    }
}

/// Requests up to `count` tasks of the role `implement`.
pub(crate) fn request(worker: &str, count: u32) -> ClaimRequest {
    ClaimRequest {
        agents: BTreeMap::from([(Role::implement(), agent("claude"))]),
        worker: worker.to_owned(),
        attempt_ids: attempt_ids(count),
        lease_ms: 60_000,
        capacity: no_limits(),
        intakes: BTreeMap::new(),
        fit: WorkerFit::default(),
        actor: Actor::Baton,
    }
}

/// A successful attempt.
pub(crate) fn complete() -> AttemptEnd {
    AttemptEnd {
        reported: AttemptReport::new(AttemptResult::Complete, "Here is the answer."),
        verified: Evidence { turns: 3, turns_max: 50, ..Evidence::default() },
    }
}

pub(crate) fn settled(claimed: &ClaimedTask, end: AttemptEnd, ms: i64) -> Change {
    let command = Command::Settle { attempt: claimed.lease.attempt, end };
    transition(&claimed.task, command, &context(Actor::Baton, ms))
}

pub(crate) fn transition(task: &Versioned<Task>, command: Command, context: &CommandContext) -> Change {
    Change::transition(task.version, task.value.apply(command, context).unwrap())
}

pub(crate) async fn write<S: Backend>(store: &S, change: Change) -> u64 {
    match store.commit(change).await.unwrap() {
        Commit::Written { last_seq } => last_seq,
        Commit::Conflict(conflict) => panic!("{conflict}"),
    }
}

pub(crate) async fn conflict<S: Backend>(store: &S, change: Change) -> Conflict {
    match store.commit(change).await.unwrap() {
        Commit::Written { last_seq } => panic!("it was written, up to {last_seq}"),
        Commit::Conflict(conflict) => conflict,
    }
}

/// Claims one task, which must exist.
pub(crate) async fn claim_one<S: Backend>(store: &S) -> ClaimedTask {
    let mut claimed = store.claim(request("worker", 1)).await.unwrap();
    assert_eq!(claimed.len(), 1, "one task was to be claimed");
    claimed.remove(0)
}

/// Claims the next task and completes it.
pub(crate) async fn finish_one<S: Backend>(store: &S) -> TaskId {
    let claimed = claim_one(store).await;
    write(store, settled(&claimed, complete(), 10_000_000)).await;
    claimed.task.value.id()
}

pub(crate) async fn ready_ids<S: Backend>(store: &S) -> Vec<TaskId> {
    store.ready(10_000).await.unwrap().iter().map(|stored| stored.value.id()).collect()
}

/// Creates a task for each entry of `edges`, many per commit: task `n` depends on `edges[n]`.
pub(crate) async fn create_all<S: Backend>(store: &S, first: u32, edges: &[Vec<u32>]) {
    const PER_COMMIT: usize = 250;
    let numbered: Vec<(u32, &Vec<u32>)> = (first..).zip(edges).collect();
    for some in numbered.chunks(PER_COMMIT) {
        let change = some.iter().fold(Change::new(), |change, (number, on)| change.and(created(*number, on)));
        write(store, change).await;
    }
}

/// A code-changing task with commits: it waits to be accepted.
pub(crate) fn with_commits() -> AttemptEnd {
    let mut end = complete();
    end.verified.commits = 2;
    end
}

/// The agent used up its turns without a result.
pub(crate) fn burned_out() -> AttemptEnd {
    AttemptEnd {
        reported: AttemptReport::new(AttemptResult::TurnLimit, ""),
        verified: Evidence { turns: 50, turns_max: 50, ..Evidence::default() },
    }
}

pub(crate) fn coding(number: u32) -> TaskSpec {
    TaskSpec { task_type: TaskType::Implementation, ..spec(number) }
}

pub(crate) async fn load<S: Backend>(store: &S, id: TaskId) -> Versioned<Task> {
    store.task(id).await.unwrap().unwrap()
}

/// Claims and burns out `number`, which must be next, then recycles it. Returns its breakdown.
pub(crate) async fn recycle<S: Backend>(store: &S, number: u32) -> TaskId {
    let claimed = claim_one(store).await;
    assert_eq!(claimed.task.value.id(), task_id(number));
    write(store, settled(&claimed, burned_out(), 1_000)).await;
    let burned = load(store, task_id(number)).await;
    let context = human(1_001);
    let command = Command::Recycle { reason: baton_core::recycle::RecycleReason::TooLarge };
    write(store, transition(&burned, command, &context)).await;
    context.fresh.breakdown
}

/// The approval of a plan of `subtasks` for a recycled task: each depends on the one before it, so the last is the
/// only leaf.
pub(crate) async fn approval<S: Backend>(
    store: &S,
    replaced: TaskId,
    breakdown: TaskId,
    subtasks: &[TaskId],
) -> Change {
    let mut planned = load(store, breakdown).await;
    if planned.value.state().name() == baton_core::task::state::StateName::Breakdown {
        write(store, transition(&planned, Command::SubmitPlan, &human(2_000))).await;
        planned = load(store, breakdown).await;
    }
    let items = (1..=subtasks.len()).map(|number| ItemDraft {
        title: format!("Part {number} of {replaced}"),
        depends_on: if number > 1 { vec![(number - 1).into()] } else { Vec::new() },
        ..ItemDraft::default()
    });
    let plan = Plan::check(PlanDraft { items: items.collect() }).unwrap();
    let replaced = load(store, replaced).await;
    let approval =
        Approval { breakdown: &planned, plan: &plan, replaced: Some(&replaced), subtask_ids: subtasks };
    approval.approve(&human(2_001)).unwrap()
}
