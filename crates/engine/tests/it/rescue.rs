//! Attempts that die, burn out or are lost.

use baton_core::base::id::AttemptId;
use baton_core::task::attempt::AttemptResult;
use baton_core::task::state::QueueName;
use baton_engine::base::supervisor::{ServiceName, Services};
use baton_engine::cluster::running::Running;
use baton_engine::services::leases::LeaseKeeper;
use baton_engine::services::recycler::Recycler;

use crate::fixture::Office;

/// Longer than any of these tests, so that nothing expires by itself.
const LEASE_MS: i64 = 60_000;

fn rescuer(office: &Office, running: &Running) -> LeaseKeeper {
    let items = Services::default().items(ServiceName::Leases, &office.tasks.store);
    LeaseKeeper::new(office.tasks.clone(), running.clone(), "here".to_owned(), LEASE_MS, items)
}

#[tokio::test]
async fn after_a_crash_everything_in_flight_goes_back_unblamed() {
    let office = Office::open();
    let tasks = [office.add("one", &[]).await, office.add("two", &[]).await];
    assert_eq!(office.claim().await.len(), 2);

    let taken = rescuer(&office, &Running::default()).take_back_own().await.unwrap();
    assert_eq!(taken.len(), 2);
    for task in tasks {
        let task = office.tasks.task(task).await.unwrap().value;
        assert_eq!((task.state().queue(), task.ledger().tries), (QueueName::Incoming, 0));
    }
    assert_eq!(office.claim().await.len(), 2, "they can be claimed again");
}

#[tokio::test]
async fn what_runs_here_is_not_taken_back() {
    let office = Office::open();
    office.add("one", &[]).await;
    let [(_, attempt)] = office.claim().await[..] else { panic!() };
    let running = Running::default();
    let place = running.enter(attempt);
    let rescuer = rescuer(&office, &running);
    assert!(rescuer.take_back_own().await.unwrap().is_empty());
    assert!(rescuer.run_once().await.unwrap().is_empty());
    drop(place);
    let taken = rescuer.take_back_own().await.unwrap();
    assert_eq!(taken.iter().map(|lease| lease.attempt).collect::<Vec<_>>(), [attempt]);
}

#[tokio::test]
async fn an_attempt_whose_lease_is_gone_is_told_to_stop() {
    let office = Office::open();
    let running = Running::default();
    let place = running.enter(AttemptId::from_bits(77));
    rescuer(&office, &running).run_once().await.unwrap();
    assert!(*place.stop_signal().borrow());
}

#[tokio::test]
async fn burned_out_work_is_recycled_once_and_good_work_is_left_alone() {
    let office = Office::open();
    let (burned, good) = (office.add("burned", &[]).await, office.add("good", &[]).await);
    for (task, attempt) in office.claim().await {
        let (result, commits, turns) =
            if task == burned { (AttemptResult::TurnLimit, 0, 50) } else { (AttemptResult::Complete, 2, 50) };
        office.settle(task, attempt, result, commits, turns).await;
    }
    let items = Services::default().items(ServiceName::Recycler, &office.tasks.store);
    let recycler = Recycler::new(office.tasks.clone(), items);
    assert_eq!(recycler.run_once().await.unwrap(), vec![burned]);
    assert!(recycler.run_once().await.unwrap().is_empty());
    assert_eq!(office.tasks.task(good).await.unwrap().value.state().queue(), QueueName::Provisional);
}
