//! PostgreSQL stops, crashes and comes back.

use std::time::Duration;

use baton_core::base::id::TaskId;
use baton_store::model::commit::Commit;
use baton_store::{Backend, PostgresOptions, PostgresStore, StoreError};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::killed::check_counters;
use crate::postgres::run;
use crate::server::Server;
use crate::suite::make::{created, task_id, write};

const KILLS: u32 = 8;
const WRITERS: u32 = 8;
const SOON: Duration = Duration::from_mins(3);

/// Keeps the ids of different writers apart.
const PER_WRITER: u32 = 1_000_000;

/// Writes pairs of tasks, each pair in one change, and returns those acknowledged.
async fn write_pairs(
    store: PostgresStore,
    writer: u32,
    stop: watch::Receiver<bool>,
    acknowledged: watch::Sender<u32>,
) -> Vec<u32> {
    let mut known = Vec::new();
    for pair in 0..PER_WRITER / 2 {
        if *stop.borrow() {
            break;
        }
        let first = writer * PER_WRITER + pair * 2;
        match store.commit(created(first, &[]).and(created(first + 1, &[first]))).await {
            Ok(Commit::Written { .. }) => {
                known.push(first);
                acknowledged.send_modify(|count| *count += 1);
            }
            // Not written or unknown; in either case not acknowledged.
            Err(StoreError::CommitUnknown { .. } | StoreError::Unreachable { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
    known
}

#[test]
fn acknowledged_changes_survive_a_server_crash() {
    run(async {
        let server = Server::private("killed").unwrap();
        let options = PostgresOptions::new(server.address(), "kill");
        let store = PostgresStore::open(&options).await.unwrap();
        let stop = watch::Sender::new(false);
        let acknowledged = watch::Sender::new(0);
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                tokio::spawn(write_pairs(store.clone(), writer, stop.subscribe(), acknowledged.clone()))
            })
            .collect();
        let mut count = acknowledged.subscribe();
        for _ in 0..KILLS {
            // In the middle of writing: some were written since the last time.
            let before = *count.borrow_and_update();
            timeout(SOON, count.wait_for(|count| *count > before + 50)).await.unwrap().unwrap();
            tokio::task::block_in_place(|| server.kill_and_restart());
        }
        stop.send_replace(true);
        let mut known = Vec::new();
        for writer in writers {
            known.extend(writer.await.unwrap());
        }
        for first in &known {
            assert!(
                store.task(task_id(*first)).await.unwrap().is_some(),
                "{first} was acknowledged and is lost"
            );
        }
        check_whole(&store).await;
        check_counters(&options).await;
    });
}

/// Every event has its number and its task, and no pair is incomplete.
async fn check_whole(store: &PostgresStore) {
    let mut seq = 0;
    let mut tasks: Vec<TaskId> = Vec::new();
    loop {
        let events = store.events_after(seq, 10_000).await.unwrap();
        let Some(last) = events.last() else { break };
        assert_eq!(last.seq, seq + events.len() as u64, "the numbers have no gaps");
        seq = last.seq;
        tasks.extend(events.iter().filter_map(|recorded| recorded.event.body.task()));
    }
    assert_eq!(tasks.len() % 2, 0);
    for pair in tasks.chunks(2) {
        assert_eq!(pair[0].bits() + 1, pair[1].bits());
        assert_eq!(store.dependencies(pair[1]).await.unwrap().len(), 1);
    }
    assert_eq!(store.ready_count().await.unwrap(), tasks.len() as u64 / 2);
}

#[test]
fn notifications_resume_after_a_server_restart() {
    run(async {
        let server = Server::private("listened").unwrap();
        let options = PostgresOptions::new(server.address(), "news");
        let (one, other) =
            (PostgresStore::open(&options).await.unwrap(), PostgresStore::open(&options).await.unwrap());
        let mut news = other.subscribe();
        for number in 1..=3 {
            let seq = loop {
                match one.commit(created(number, &[])).await {
                    Ok(Commit::Written { last_seq }) => break last_seq,
                    // It was written after all, exactly once.
                    Ok(Commit::Conflict(_)) => break u64::from(number),
                    Err(StoreError::CommitUnknown { .. }) => {}
                    other => panic!("{other:?}"),
                }
            };
            timeout(SOON, news.wait_for(|known| *known >= seq)).await.unwrap().unwrap();
            tokio::task::block_in_place(|| server.kill_and_restart());
        }
        write(&one, created(4, &[])).await;
    });
}

#[test]
fn an_unreachable_server_is_an_error() {
    run(async {
        let mut options = PostgresOptions::new("host=/nonexistent user=baton", "none");
        options.patience = Duration::from_millis(200);
        let error = PostgresStore::open(&options).await.unwrap_err();
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
        let error = PostgresStore::open(&PostgresOptions::new("nonsense", "none")).await.unwrap_err();
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    });
}
