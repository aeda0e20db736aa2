//! What is measured, for any store.

use std::collections::BTreeMap;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use baton_core::base::id::{AttemptId, QuestionId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::{NonBlank, Role};
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::records::change::Change;
use baton_core::records::event::{Event, EventBody};
use baton_core::schedule::{Capacity, LimitsByKey, WorkerFit};
use baton_core::task::attempt::{AttemptEnd, AttemptReport, AttemptResult, Evidence};
use baton_core::task::{Task, TaskSpec};
use baton_core::transition::command::{Command, CommandContext, FreshIds};
use baton_store::Backend;
use baton_store::model::claim::{ClaimRequest, ClaimedTask};
use baton_store::model::commit::Commit;

pub(crate) fn task(number: u32) -> Task {
    Task::create(TaskSpec {
        description: "Read the code, say what it does and what calls it.".to_owned(),
        ..TaskSpec::new(
            TaskId::from_bits(number),
            format!("session-{}", number / 50).parse().unwrap(),
            TaskType::ReadInfo,
            NonBlank::new(format!("Find out what part {number} does")).unwrap(),
            Timestamp::from_ms(1_700_000_000_000 + i64::from(number)),
        )
    })
}

fn created(number: u32, on: &[TaskId]) -> Change {
    let task = task(number);
    let body = EventBody::TaskCreated { spec: Box::new(task.spec().clone()), depends_on: on.to_vec() };
    let event = Event { at: task.spec().created_at, by: Actor::human("mia"), body };
    Change::create(task, on, event)
}

/// `count` tasks from `first` on, each waiting on `on`.
pub(crate) async fn fill<S: Backend>(store: &S, first: u32, count: u32, on: &[TaskId]) {
    const PER_COMMIT: u32 = 1_000;
    let mut next = first;
    while next < first + count {
        let end = (next + PER_COMMIT).min(first + count);
        write(store, (next..end).fold(Change::new(), |change, number| change.and(created(number, on)))).await;
        next = end;
    }
}

pub(crate) async fn write<S: Backend>(store: &S, change: Change) {
    match store.commit(change).await.unwrap() {
        Commit::Written { .. } => {}
        Commit::Conflict(conflict) => panic!("{conflict}"),
    }
}

pub(crate) fn request(count: u32) -> ClaimRequest {
    ClaimRequest {
        agents: BTreeMap::from([(Role::implement(), "claude".parse().unwrap())]),
        worker: "worker".to_owned(),
        attempt_ids: (0..count).map(|_| attempt_id()).collect(),
        lease_ms: 60_000,
        capacity: Capacity {
            total_max: u32::MAX,
            per_role: LimitsByKey::all(u32::MAX),
            per_agent: LimitsByKey::all(u32::MAX),
            unaccepted_max: u32::MAX,
            per_project: LimitsByKey::none(),
            per_person: LimitsByKey::none(),
        },
        intakes: BTreeMap::new(),
        fit: WorkerFit::default(),
        actor: Actor::Baton,
    }
}

/// One that no other process makes either.
fn attempt_id() -> AttemptId {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let number = u64::from(NEXT.fetch_add(1, Ordering::Relaxed));
    AttemptId::from_bits(u64::from(process::id()) << 32 | number)
}

pub(crate) fn settled(claimed: &ClaimedTask) -> Change {
    let end = AttemptEnd {
        reported: AttemptReport::new(AttemptResult::Complete, "It adds two numbers; the parser calls it."),
        verified: Evidence { turns: 3, turns_max: 50, ..Evidence::default() },
    };
    let command = Command::Settle { attempt: claimed.lease.attempt, end };
    let fresh = FreshIds { question: QuestionId::from_bits(0), breakdown: TaskId::from_bits(0) };
    let now = claimed.task.value.updated_at();
    let context = CommandContext { now, actor: Actor::Baton, fresh };
    Change::transition(claimed.task.version, claimed.task.value.apply(command, &context).unwrap())
}

/// Claims and settles one at a time with `clients` waiting at once, until `count` are done.
pub(crate) async fn cycles<S: Backend>(store: &S, clients: u32, count: u32) -> Duration {
    let left = Arc::new(AtomicU32::new(count));
    let begun = Instant::now();
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..clients {
        let (store, left) = (store.clone(), Arc::clone(&left));
        all.spawn(async move {
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
            {
                let claimed = store.claim(request(1)).await.unwrap().remove(0);
                write(&store, settled(&claimed)).await;
            }
        });
    }
    all.join_all().await;
    begun.elapsed()
}

/// How long one call takes.
pub(crate) async fn time(call: impl Future<Output = ()>) -> Duration {
    let begun = Instant::now();
    call.await;
    begun.elapsed()
}

/// Completes the root of a fan of `width`, and returns how long the slowest commit beside it took until every
/// dependent was told, and how long that was.
pub(crate) async fn fan<S: Backend>(store: &S, first: u32, width: u32) -> (Duration, Duration) {
    fill(store, first, 1, &[]).await;
    fill(store, first + 1, width, &[TaskId::from_bits(first)]).await;
    let root = store.claim(request(1)).await.unwrap().remove(0);
    assert_eq!(root.task.value.id(), TaskId::from_bits(first));
    let begun = Instant::now();
    write(store, settled(&root)).await;
    let mut worst = begun.elapsed();
    let mut next = first + width + 1;
    while store.ready_count().await.unwrap() < u64::from(width) {
        let one = Instant::now();
        // Waits on the root too: it is done, so this one is ready at once.
        write(store, created(next, &[TaskId::from_bits(first)])).await;
        worst = worst.max(one.elapsed());
        next += 1;
    }
    (worst, begun.elapsed())
}
