//! Races that could leave a task blocked forever, run many times.

use baton_core::records::change::Change;
use baton_core::transition::command::Command;
use baton_store::Backend;
use baton_store::model::commit::Commit;
use tokio::task::JoinSet;

use super::Fixture;
use super::make::{
    approval, claim_one, coding, complete, create, create_all, created, human, load, recycle, request,
    settled, task_id, transition, write,
};

/// Several races at a time through two handles, so that a change runs before, after or in the same transaction as the
/// other.
pub(crate) async fn a_dependent_created_while_its_blocker_completes_becomes_ready<F: Fixture>() {
    const ROUNDS: u32 = 300;
    const RACES: u32 = 10;
    let place = F::fresh().await;
    let store = place.open().await;
    let beside = place.open().await;
    for round in 0..ROUNDS {
        let first = round * RACES * 2;
        create_all(&store, first, &vec![Vec::new(); RACES as usize]).await;
        let mut commits = JoinSet::new();
        for claimed in store.claim(request("worker", RACES)).await.unwrap() {
            let blocker = claimed.task.value.id().bits();
            let dependent = created(blocker + RACES, &[blocker]);
            let (completer, maker) = (store.clone(), beside.clone());
            commits.spawn(async move { completer.commit(settled(&claimed, complete(), 10)).await });
            commits.spawn(async move { maker.commit(dependent).await });
        }
        assert_eq!(commits.len(), 2 * RACES as usize);
        for answer in commits.join_all().await {
            assert!(matches!(answer, Ok(Commit::Written { .. })), "{answer:?}");
        }
        let ready = store.claim(request("worker", 2 * RACES)).await.unwrap();
        assert_eq!(ready.len(), RACES as usize, "round {round}: every dependent is claimable");
        let all_done =
            ready.iter().fold(Change::new(), |change, claim| change.and(settled(claim, complete(), 20)));
        write(&store, all_done).await;
    }
    assert_eq!(store.ready_count().await.unwrap(), 0);
}

pub(crate) async fn a_dependent_created_while_its_blocker_is_replaced_is_rewired<F: Fixture>() {
    const ROUNDS: u32 = 200;
    let place = F::fresh().await;
    let store = place.open().await;
    let beside = place.open().await;
    for round in 0..ROUNDS {
        let (blocker, dependent, part) = (10 * round, 10 * round + 1, 10 * round + 2);
        write(&store, create(coding(blocker), &[])).await;
        let breakdown = recycle(&store, blocker).await;
        let approve = approval(&store, task_id(blocker), breakdown, &[task_id(part)]).await;
        let (made, approved) =
            tokio::join!(beside.commit(created(dependent, &[blocker])), store.commit(approve));
        assert!(matches!((made, approved), (Ok(Commit::Written { .. }), Ok(Commit::Written { .. }))));
        let waits_on = store.dependencies(task_id(dependent)).await.unwrap();
        assert_eq!(waits_on.iter().map(|edge| edge.on).collect::<Vec<_>>(), [task_id(part)], "round {round}");
        for number in [dependent, part] {
            let open = load(&store, task_id(number)).await;
            write(&store, transition(&open, Command::Cancel { reason: None }, &human(9_000))).await;
        }
        assert_eq!(store.ready_count().await.unwrap(), 0);
    }
}

pub(crate) async fn one_of_two_concurrent_changes_conflicts<F: Fixture>() {
    const ROUNDS: u32 = 200;
    let place = F::fresh().await;
    let store = place.open().await;
    let beside = place.open().await;
    for round in 0..ROUNDS {
        write(&store, created(round, &[])).await;
        let claimed = claim_one(&store).await;
        let done = settled(&claimed, complete(), 10);
        let cancelled = transition(&claimed.task, Command::Cancel { reason: None }, &human(10));
        let (done, cancelled) = tokio::join!(store.commit(done), beside.commit(cancelled));
        let written = [done.unwrap(), cancelled.unwrap()]
            .iter()
            .filter(|it| matches!(it, Commit::Written { .. }))
            .count();
        assert_eq!(written, 1, "round {round}");
        assert_eq!(load(&store, task_id(round)).await.version, 3);
    }
}

/// Some changes write a row and then conflict, in the middle of others that settle, create and claim: only the writes
/// of the latter are stored, and all counters agree.
pub(crate) async fn a_conflict_does_not_affect_its_batch<F: Fixture>() {
    const ROUNDS: u32 = 40;
    const EACH: u32 = 8;
    let place = F::fresh().await;
    let store = place.open().await;
    for round in 0..ROUNDS {
        let first = round * 4 * EACH;
        create_all(&store, first, &vec![Vec::new(); EACH as usize]).await;
        let mut commits = JoinSet::new();
        let running = store.claim(request("worker", EACH)).await.unwrap();
        assert_eq!(running.len(), EACH as usize, "round {round}");
        for (number, claimed) in (first..).zip(&running) {
            let spoilt = created(number + 2 * EACH, &[]).and(created(number, &[]));
            for change in [settled(claimed, complete(), 10), created(number + EACH, &[]), spoilt] {
                let store = store.clone();
                commits.spawn(async move { store.commit(change).await.unwrap() });
            }
        }
        let early = store.claim(request("worker", 1)).await.unwrap();
        let answers = commits.join_all().await;
        let written = answers.iter().filter(|answer| matches!(answer, Commit::Written { .. })).count();
        assert_eq!(written, 2 * EACH as usize, "round {round}");
        for number in first + 2 * EACH..first + 3 * EACH {
            assert_eq!(store.task(task_id(number)).await.unwrap(), None, "round {round}");
        }
        let rest = store.claim(request("worker", 4 * EACH)).await.unwrap();
        assert_eq!(early.len() + rest.len(), EACH as usize, "round {round}");
        assert_eq!(store.leases().await.unwrap().len(), EACH as usize, "round {round}");
        let all_done = early
            .iter()
            .chain(&rest)
            .fold(Change::new(), |change, claim| change.and(settled(claim, complete(), 20)));
        write(&store, all_done).await;
    }
    assert_eq!(store.ready_count().await.unwrap(), 0);
    let events = store.events_after(0, u32::MAX).await.unwrap();
    assert!((1..).zip(&events).all(|(seq, event)| event.seq == seq), "numbers without a gap");
    // Created, claimed, attempt ended, done: for two tasks in each place.
    assert_eq!(events.len(), (ROUNDS * EACH * 2 * 4) as usize);
    // Nothing counts as running: the smallest limit admits one.
    write(&store, created(u32::MAX, &[])).await;
    let mut one = request("worker", 1);
    one.capacity.total_max = 1;
    assert_eq!(store.claim(one).await.unwrap().len(), 1);
}
