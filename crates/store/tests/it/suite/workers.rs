//! Many workers on one store: heartbeats, locks and matching tasks to workers.

use std::collections::BTreeSet;

use baton_core::base::id::{ProjectId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::{Label, Role};
use baton_core::records::change::Change;
use baton_core::schedule::worker::{Worker, WorkerDuty};
use baton_core::schedule::{Capacity, LimitsByKey, OwnedQueue, OwnedQueues, ProjectScope, WorkerFit};
use baton_core::task::TaskSpec;
use baton_store::Backend;
use baton_store::model::claim::ClaimRequest;

use super::Fixture;
use super::make::{at, create, no_limits, request, spec, task_id, write};

pub(crate) fn worker(name: &str) -> Worker {
    Worker {
        name: name.to_owned(),
        host: "build-7".to_owned(),
        duty: WorkerDuty::Worker,
        version: "0.1.0".to_owned(),
        roles: [Role::implement()].into(),
        agents: ["claude".parse().unwrap()].into(),
        labels: BTreeSet::new(),
        capacity: 4,
        is_draining: false,
        warm: BTreeSet::new(),
        started_at: at(0),
    }
}

pub(crate) async fn a_worker_is_listed_from_first_heartbeat_until_forgotten<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    assert_eq!(store.workers().await.unwrap(), []);
    let before = store.now().await.unwrap();
    store.beat(&worker("b")).await.unwrap();
    store.beat(&worker("a")).await.unwrap();
    let seen = store.workers().await.unwrap();
    assert_eq!(seen.iter().map(|one| one.worker.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(seen[0].worker, worker("a"));
    assert!(seen.iter().all(|one| one.seen_at >= before), "by the store's clock");

    place.advance(1).await;
    let draining = Worker { is_draining: true, ..worker("b") };
    store.beat(&draining).await.unwrap();
    let again = store.workers().await.unwrap();
    assert_eq!(again[1].worker, draining);
    assert!(again[1].seen_at > seen[1].seen_at);
    assert_eq!(again[0], seen[0]);

    store.forget_worker("b").await.unwrap();
    store.forget_worker("nobody").await.unwrap();
    assert_eq!(store.workers().await.unwrap(), &again[..1]);
}

pub(crate) async fn a_lock_has_one_holder_until_released_or_expired<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    assert!(store.lock("merge", "a", 60_000).await.unwrap());
    assert!(!store.lock("merge", "b", 60_000).await.unwrap(), "a has it");
    assert!(store.lock("other", "b", 60_000).await.unwrap(), "another lock");
    assert!(store.lock("merge", "a", 60_000).await.unwrap(), "a renews it");
    store.unlock("merge", "b").await.unwrap();
    assert!(!store.lock("merge", "b", 60_000).await.unwrap(), "only its holder releases it");
    store.unlock("merge", "a").await.unwrap();
    assert!(store.lock("merge", "b", 1).await.unwrap());
    place.advance(10).await;
    assert!(store.lock("merge", "c", 60_000).await.unwrap(), "b's lock has expired");
    assert!(!store.lock("merge", "b", 60_000).await.unwrap(), "c has it");
    let takers = (0..8).map(|number| {
        let store = store.clone();
        tokio::spawn(async move { store.lock("race", &format!("taker-{number}"), 60_000).await.unwrap() })
    });
    let mut won = 0;
    for taker in takers.collect::<Vec<_>>() {
        won += u32::from(taker.await.unwrap());
    }
    assert_eq!(won, 1);
}

fn labels(names: &[&str]) -> BTreeSet<Label> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

async fn claimed<S: Backend>(store: &S, count: u32, fit: WorkerFit) -> Vec<TaskId> {
    let claimed = store.claim(ClaimRequest { fit, ..request("worker", count) }).await.unwrap();
    let mut ids: Vec<TaskId> = claimed.iter().map(|one| one.lease.task).collect();
    ids.sort();
    ids
}

pub(crate) async fn a_worker_claims_only_tasks_that_fit<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let project = ProjectId::from_bits(1);
    let needing = |number, names: &[&str]| TaskSpec { needs: labels(names), ..spec(number) };
    write(&store, create(needing(1, &["gpu"]), &[])).await;
    write(&store, create(needing(2, &["gpu", "mac"]), &[])).await;
    write(&store, create(TaskSpec { project_id: Some(project), ..spec(3) }, &[])).await;
    write(&store, create(spec(4), &[])).await;

    let homeless = WorkerFit { elsewhere: [project].into(), has_home: false, ..WorkerFit::default() };
    assert_eq!(claimed(&store, 9, homeless).await, []);
    let away = WorkerFit { elsewhere: [project].into(), ..WorkerFit::default() };
    assert_eq!(claimed(&store, 9, away).await, [task_id(4)]);
    let gpu = WorkerFit { labels: labels(&["gpu", "ssd"]), ..WorkerFit::default() };
    assert_eq!(claimed(&store, 9, gpu).await, [task_id(1), task_id(3)]);
    assert_eq!(claimed(&store, 9, WorkerFit::default()).await, []);
    let both = WorkerFit { labels: labels(&["gpu", "mac"]), ..WorkerFit::default() };
    assert_eq!(claimed(&store, 9, both).await, [task_id(2)]);
}

pub(crate) async fn any_number_of_unfit_tasks_is_skipped<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    for number in 1..=40 {
        write(&store, create(TaskSpec { needs: labels(&["gpu"]), ..spec(number) }, &[])).await;
    }
    for number in 41..=43 {
        write(&store, create(spec(number), &[])).await;
    }
    assert_eq!(claimed(&store, 2, WorkerFit::default()).await, [task_id(41), task_id(42)]);
    assert_eq!(claimed(&store, 2, WorkerFit::default()).await, [task_id(43)]);
    assert_eq!(claimed(&store, 2, WorkerFit::default()).await, []);
    let gpu = WorkerFit { labels: labels(&["gpu"]), ..WorkerFit::default() };
    assert_eq!(claimed(&store, 2, gpu).await, [task_id(1), task_id(2)]);
}

pub(crate) async fn what_a_run_works_through_is_left_to_it<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let work = |number| TaskSpec { task_type: TaskType::Implementation, ..spec(number) };
    let other = |number| TaskSpec { project_id: Some(ProjectId::from_bits(1)), ..work(number) };
    let all = (1..=1_200).map(work).chain((1_201..=1_203).map(other));
    write(&store, all.fold(Change::new(), |change, spec| change.and(create(spec, &[])))).await;
    let queue = OwnedQueue {
        session: "mine".parse().unwrap(),
        recipe: "implement-and-review-all".parse().unwrap(),
        projects: ProjectScope::NoProject,
    };
    let owned = OwnedQueues { queues: vec![queue], bound: [task_id(1)].into() };
    let fit = || WorkerFit { owned: owned.clone(), ..WorkerFit::default() };
    // However many are left out, what comes behind them is found.
    assert_eq!(claimed(&store, 2, fit()).await, [task_id(1), task_id(1_201)]);
    let capacity = Capacity { per_person: LimitsByKey::all(5), ..no_limits() };
    let limited = ClaimRequest { fit: fit(), capacity, ..request("worker", 1) };
    let limited = store.claim(limited).await.unwrap();
    assert_eq!(limited[0].task.value.id(), task_id(1_202), "by share too");
    assert_eq!(claimed(&store, 2, fit()).await, [task_id(1_203)]);
    assert_eq!(claimed(&store, 2, fit()).await, []);
    assert_eq!(claimed(&store, 2, WorkerFit::default()).await, [task_id(2), task_id(3)]);
}
