//! Readiness: a task is ready exactly when nothing blocks it, in whatever order rows are written.

use baton_core::base::id::TaskId;
use baton_core::records::change::{Change, EdgeChange};
use baton_store::Backend;
use baton_store::model::commit::Conflict;
use baton_store::model::query::TaskDependency;

use super::Fixture;
use super::make::{
    approval, claim_one, coding, complete, conflict, create, create_all, created, finish_one, ready_ids,
    recycle, settled, task_id, write,
};

fn edge(task: u32, on: u32, is_met: bool) -> TaskDependency {
    TaskDependency { task: task_id(task), on: task_id(on), is_met }
}

fn waits_on(task: u32, on: u32) -> Change {
    Change { edges: vec![EdgeChange::Add { task: task_id(task), on: task_id(on) }], ..Change::new() }
}

pub(crate) async fn a_dependent_is_ready_when_its_last_blocker_is_done<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    // In one change, referenced before they are created in it.
    write(&store, created(3, &[1, 2]).and(created(1, &[])).and(created(2, &[]))).await;
    assert_eq!(ready_ids(&store).await, [task_id(1), task_id(2)]);
    assert_eq!(finish_one(&store).await, task_id(1));
    assert_eq!(store.dependencies(task_id(3)).await.unwrap(), [edge(3, 1, true), edge(3, 2, false)]);
    assert_eq!(ready_ids(&store).await, [task_id(2)]);
    assert_eq!(finish_one(&store).await, task_id(2));
    assert_eq!(ready_ids(&store).await, [task_id(3)]);
    assert_eq!(store.ready_count().await.unwrap(), 1);
}

pub(crate) async fn an_edge_to_a_done_task_is_met<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    write(&store, created(1, &[])).await;
    finish_one(&store).await;
    write(&store, created(2, &[1])).await;
    assert_eq!(store.dependencies(task_id(2)).await.unwrap(), [edge(2, 1, true)]);
    assert_eq!(ready_ids(&store).await, [task_id(2)]);

    // A ready task that gets a blocker is no longer ready.
    write(&store, created(3, &[]).and(waits_on(2, 3)).and(waits_on(2, 3))).await;
    assert_eq!(ready_ids(&store).await, [task_id(3)]);
    finish_one(&store).await;
    assert_eq!(ready_ids(&store).await, [task_id(2)]);
}

pub(crate) async fn an_edge_to_an_unknown_task_is_a_conflict<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let expected = Conflict::UnknownDependency { task: task_id(1), on: task_id(2) };
    assert_eq!(conflict(&store, created(1, &[2])).await, expected);
    assert_eq!(store.task(task_id(1)).await.unwrap(), None);
    assert_eq!(store.ready_count().await.unwrap(), 0);
}

pub(crate) async fn a_cycle_is_a_conflict_with_its_path<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    write(&store, created(1, &[]).and(created(2, &[1])).and(created(3, &[2]))).await;
    let circle = |path: &[u32]| Conflict::Cycle { path: path.iter().copied().map(task_id).collect() };
    assert_eq!(conflict(&store, waits_on(1, 3)).await, circle(&[1, 3, 2, 1]));
    assert_eq!(conflict(&store, waits_on(1, 1)).await, circle(&[1, 1]));
    let among_new_ones = created(7, &[8]).and(created(8, &[9])).and(created(9, &[7]));
    assert_eq!(conflict(&store, among_new_ones).await, circle(&[9, 7, 8, 9]));
    // Through a task created in the same change: 1 depends on 5, and 5 on 3.
    let through_a_new_one = created(5, &[]).and(waits_on(1, 5)).and(waits_on(5, 3));
    assert_eq!(conflict(&store, through_a_new_one).await, circle(&[5, 3, 2, 1, 5]));
    assert_eq!(ready_ids(&store).await, [task_id(1)]);
}

pub(crate) async fn dependents_of_a_replaced_task_are_rewired<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    write(&store, create(coding(1), &[]).and(created(2, &[1]))).await;
    let breakdown = recycle(&store, 1).await;
    write(&store, created(3, &[1])).await;
    assert_eq!(store.ready_count().await.unwrap(), 0, "I13: its dependents wait for the plan");

    let parts = [task_id(11), task_id(12)];
    let approve = approval(&store, task_id(1), breakdown, &parts).await;
    write(&store, approve.clone()).await;
    assert_eq!(store.dependencies(task_id(2)).await.unwrap(), [edge(2, 12, false)], "the plan's last part");
    assert_eq!(store.dependents(task_id(1), None, 10).await.unwrap(), []);
    write(&store, created(4, &[1])).await;
    assert_eq!(store.dependencies(task_id(4)).await.unwrap(), [edge(4, 11, false), edge(4, 12, false)]);
    assert!(matches!(conflict(&store, approve).await, Conflict::Moved { .. }), "approved once");
    assert_eq!(ready_ids(&store).await, [task_id(11)]);

    for part in parts {
        let claimed = claim_one(&store).await;
        assert_eq!(claimed.task.value.id(), part);
        write(&store, settled(&claimed, super::make::with_commits(), 3_000)).await;
        let work = super::make::load(&store, part).await;
        let accept = baton_core::transition::command::Command::Accept { force: false };
        write(&store, super::make::transition(&work, accept, &super::make::human(3_001))).await;
    }
    assert_eq!(ready_ids(&store).await, [task_id(2), task_id(3), task_id(4)]);
}

pub(crate) async fn a_wide_fan_out_is_unblocked_in_steps_and_after_a_restart<F: Fixture>() {
    const WIDTH: u32 = 5_000;
    let place = F::fresh().await;
    let store = place.open().await;
    write(&store, created(0, &[])).await;
    create_all(&store, 1, &vec![vec![0]; WIDTH as usize]).await;
    let claimed = claim_one(&store).await;
    write(&store, settled(&claimed, complete(), 10)).await;
    // Closed while most of them are still blocked.
    store.close().await.unwrap();

    let store = place.open().await;
    write(&store, created(WIDTH + 1, &[0])).await;
    let mut news = store.subscribe();
    let mut finished = 0;
    while finished <= WIDTH {
        news.borrow_and_update();
        let claimed = store.claim(super::make::request("worker", 100)).await.unwrap();
        if claimed.is_empty() {
            news.changed().await.unwrap();
        }
        let settle = |change: Change, claim| change.and(settled(claim, complete(), 20));
        write(&store, claimed.iter().fold(Change::new(), settle)).await;
        finished += u32::try_from(claimed.len()).unwrap();
    }
    assert_eq!(finished, WIDTH + 1);
    assert_eq!(store.ready_count().await.unwrap(), 0);
}

pub(crate) async fn dependents_are_paged<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    write(&store, created(100, &[])).await;
    for number in [3, 1, 2] {
        write(&store, created(number, &[100])).await;
    }
    let ids = |found: Vec<TaskDependency>| found.iter().map(|edge| edge.task).collect::<Vec<TaskId>>();
    let first = ids(store.dependents(task_id(100), None, 2).await.unwrap());
    assert_eq!(first, [task_id(1), task_id(2)]);
    assert_eq!(ids(store.dependents(task_id(100), Some(task_id(2)), 2).await.unwrap()), [task_id(3)]);
}
