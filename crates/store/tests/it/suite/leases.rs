//! Leases: they expire by the store's clock, and results of a lost attempt are discarded.

use baton_core::people::actor::Actor;
use baton_core::task::state::StateName;
use baton_core::transition::command::Command;
use baton_store::Backend;
use baton_store::model::claim::ClaimRequest;
use baton_store::model::commit::Conflict;

use super::Fixture;
use super::make::{
    attempt_ids, claim_one, complete, conflict, context, created, load, request, settled, task_id,
    transition, write,
};

pub(crate) async fn leases_expire_by_the_stores_clock<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    write(&store, created(1, &[]).and(created(2, &[]))).await;
    let lease_ms = |lease_ms| ClaimRequest { lease_ms, ..request("worker", 1) };
    let before = store.now().await.unwrap();
    let long = store.claim(lease_ms(600_000)).await.unwrap().remove(0);
    assert!(long.lease.expires_at >= before.plus_ms(600_000));
    assert_eq!(store.expired_leases(10).await.unwrap(), []);
    let short = store.claim(lease_ms(1)).await.unwrap().remove(0);
    place.advance(10).await;
    assert_eq!(store.expired_leases(10).await.unwrap(), [short.lease]);
    assert_eq!(store.expired_leases(0).await.unwrap(), []);
}

pub(crate) async fn renewing_returns_the_lost_leases<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    write(&store, created(1, &[])).await;
    let mut wanted = request("worker", 1);
    wanted.lease_ms = 1;
    let attempt = store.claim(wanted).await.unwrap().remove(0).lease.attempt;
    place.advance(10).await;
    let unknown = attempt_ids(1)[0];
    assert_eq!(store.renew("worker", &[attempt, unknown], 60_000).await.unwrap(), [unknown]);
    assert_eq!(store.expired_leases(10).await.unwrap(), [], "late, but nobody had taken it back");
    assert_eq!(store.renew("somebody else", &[attempt], 60_000).await.unwrap(), [attempt]);

    let task = load(&store, task_id(1)).await;
    write(&store, transition(&task, Command::ExpireLease { attempt }, &context(Actor::Baton, 0))).await;
    assert_eq!(store.leases().await.unwrap(), []);
    assert_eq!(store.renew("worker", &[attempt], 60_000).await.unwrap(), [attempt], "taken back by now");
}

pub(crate) async fn the_result_of_a_lost_attempt_is_not_written<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    write(&store, created(1, &[])).await;
    let lost = claim_one(&store).await;
    let attempt = lost.lease.attempt;
    write(&store, transition(&lost.task, Command::ExpireLease { attempt }, &context(Actor::Baton, 0))).await;
    let current = claim_one(&store).await;
    assert_ne!(current.lease.attempt, attempt);

    let late = settled(&lost, complete(), 10);
    assert!(matches!(conflict(&store, late).await, Conflict::Moved { .. }), "I16");
    assert_eq!(load(&store, task_id(1)).await, current.task);
    assert_eq!(store.leases().await.unwrap(), std::slice::from_ref(&current.lease));
    write(&store, settled(&current, complete(), 20)).await;
    assert_eq!(load(&store, task_id(1)).await.value.state().name(), StateName::Done);
}

pub(crate) async fn workers_of_many_attempts_are_read_at_once<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    write(&store, created(1, &[])).await;
    write(&store, created(2, &[])).await;
    let here = store.claim(request("here", 1)).await.unwrap().remove(0);
    let there = store.claim(request("there", 1)).await.unwrap().remove(0);
    write(&store, settled(&here, complete(), 10)).await;
    let (ended, live) = (here.lease.attempt, there.lease.attempt);
    let workers = store.workers_of(&[ended, live, attempt_ids(1)[0]]).await.unwrap();
    assert_eq!(workers, [(ended, "here".to_owned()), (live, "there".to_owned())].into());
    assert!(store.workers_of(&[]).await.unwrap().is_empty());
}
