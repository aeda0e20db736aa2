//! Several processes on one PostgreSQL store, each with its own handle.

use std::collections::BTreeSet;
use std::time::Duration;

use baton_core::base::id::TaskId;
use baton_core::records::change::{Change, EdgeChange};
use baton_store::model::claim::ClaimRequest;
use baton_store::model::commit::{Commit, Conflict};
use baton_store::{Backend, PostgresStore, StoreError};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::postgres::{Postgres, run};
use crate::suite::Fixture;
use crate::suite::make::{created, finish_one, no_limits, request, task_id, write};

/// Far longer than anything here takes; only a hang reaches it.
const SOON: Duration = Duration::from_mins(3);

async fn fill(store: &PostgresStore, count: u32) {
    let changes = (1..=count).map(|number| created(number, &[])).reduce(Change::and).unwrap();
    write(store, changes).await;
}

#[test]
fn two_handles_never_claim_the_same_task() {
    run(async {
        let place = Postgres::new();
        let handles = [place.open().await, place.open().await];
        fill(&handles[0], 400).await;
        let mut claimers = JoinSet::new();
        for number in 0..16_usize {
            let store = handles[number % 2].clone();
            claimers.spawn(async move {
                let mut mine: Vec<TaskId> = Vec::new();
                while store.ready_count().await.unwrap() > 0 {
                    let claimed = store.claim(request(&format!("worker {number}"), 3)).await.unwrap();
                    mine.extend(claimed.iter().map(|claimed| claimed.task.value.id()));
                }
                mine
            });
        }
        let all: Vec<TaskId> = claimers.join_all().await.concat();
        assert_eq!(all.len(), 400);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 400);
    });
}

#[test]
fn limits_count_all_handles() {
    run(async {
        let place = Postgres::new();
        let handles = [place.open().await, place.open().await, place.open().await];
        fill(&handles[0], 60).await;
        let mut claimers = JoinSet::new();
        for number in 0..12_usize {
            let store = handles[number % 3].clone();
            claimers.spawn(async move {
                let mut capacity = no_limits();
                capacity.total_max = 7;
                let request = ClaimRequest { capacity, ..request("worker", 3) };
                store.claim(request).await.unwrap().len()
            });
        }
        let claimed: usize = claimers.join_all().await.into_iter().sum();
        assert_eq!(claimed, 7);
        assert_eq!(handles[0].leases().await.unwrap().len(), 7);
    });
}

#[test]
fn a_failing_request_does_not_affect_others() {
    run(async {
        let store = Postgres::new().open().await;
        fill(&store, 40).await;
        let used = request("worker", 1);
        assert_eq!(store.claim(used.clone()).await.unwrap().len(), 1);
        let mut claims = JoinSet::new();
        for number in 0..12 {
            // Every third request reuses an attempt id.
            let request = if number % 3 == 0 { used.clone() } else { request("worker", 1) };
            let store = store.clone();
            claims.spawn(async move { store.claim(request).await.map_or(0, |claimed| claimed.len()) });
        }
        assert_eq!(claims.join_all().await.into_iter().sum::<usize>(), 8);
    });
}

#[test]
fn a_commit_notifies_the_other_handle() {
    run(async {
        let place = Postgres::new();
        let (one, other) = (place.open().await, place.open().await);
        let mut news = other.subscribe();
        for number in 1..=20 {
            let seq = write(&one, created(number, &[])).await;
            timeout(SOON, news.wait_for(|known| *known >= seq)).await.unwrap().unwrap();
        }
    });
}

#[test]
fn any_process_unblocks_a_wide_fan_out() {
    run(async {
        let place = Postgres::new();
        let store = place.open().await;
        write(&store, created(1, &[])).await;
        let fan = (2..=3_501).map(|number| created(number, &[1])).reduce(Change::and).unwrap();
        write(&store, fan).await;
        assert_eq!(store.ready_count().await.unwrap(), 1);
        finish_one(&store).await;
        // Closed while most of the fan-out is still blocked; the next handle continues.
        store.close().await.unwrap();

        let next = place.open().await;
        let mut news = next.subscribe();
        let all_free = async {
            while next.ready_count().await.unwrap() < 3_500 {
                news.changed().await.unwrap();
            }
        };
        timeout(SOON, all_free).await.unwrap();
        assert!(next.dependents(task_id(1), None, 5_000).await.unwrap().iter().all(|edge| edge.is_met));
    });
}

#[test]
fn concurrent_halves_of_a_cycle_conflict() {
    run(async {
        let place = Postgres::new();
        let (one, other) = (place.open().await, place.open().await);
        let mut circles = 0;
        for round in 0..50_u32 {
            // 1 depends on 2, and 3 on 4; the race is 2 on 3 against 4 on 1.
            let [a, b, c, d] = [1, 2, 3, 4].map(|number| round * 4 + number);
            let four = created(b, &[]).and(created(d, &[])).and(created(a, &[b])).and(created(c, &[d]));
            write(&one, four).await;
            let add = |task, on| Change {
                edges: vec![EdgeChange::Add { task: task_id(task), on: task_id(on) }],
                ..Change::new()
            };
            let (first, second) = tokio::join!(one.commit(add(b, c)), other.commit(add(d, a)));
            match (first.unwrap(), second.unwrap()) {
                (Commit::Written { .. }, Commit::Conflict(Conflict::Cycle { path }))
                | (Commit::Conflict(Conflict::Cycle { path }), Commit::Written { .. }) => {
                    assert_eq!(path.len(), 5, "{path:?}");
                    assert_eq!(path.first(), path.last());
                    circles += 1;
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(circles, 50);
    });
}

#[test]
fn concurrent_opens_of_an_empty_namespace_succeed() {
    run(async {
        let place = Postgres::new();
        let mut opening = JoinSet::new();
        for _ in 0..8 {
            let options = place.options.clone();
            opening.spawn(async move { PostgresStore::open(&options).await });
        }
        let stores: Vec<PostgresStore> = opening.join_all().await.into_iter().map(Result::unwrap).collect();
        write(&stores[0], created(1, &[])).await;
        assert!(stores[7].task(task_id(1)).await.unwrap().is_some());
    });
}

#[test]
fn a_newer_schema_is_refused() {
    run(async {
        let place = Postgres::new();
        place.open().await.close().await.unwrap();
        let (client, connection) =
            tokio_postgres::connect(&place.options.url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        let raise = format!("INSERT INTO baton_{}.schema_version VALUES (99)", place.options.namespace);
        client.batch_execute(&raise).await.unwrap();
        let error = PostgresStore::open(&place.options).await.unwrap_err();
        assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
    });
}

#[test]
fn a_backup_error_names_pg_dump() {
    run(async {
        let place = Postgres::new();
        let error = place.open().await.backup("/tmp/copy".as_ref()).await.unwrap_err();
        let command = format!(
            "pg_dump --format=custom --schema=baton_{} --file=/tmp/copy postgres",
            place.options.namespace
        );
        assert!(error.to_string().contains(&command), "{error}");
    });
}

#[test]
fn a_closed_store_returns_closed() {
    run(async {
        let store = Postgres::new().open().await;
        store.close().await.unwrap();
        assert!(matches!(store.commit(created(1, &[])).await, Err(StoreError::Closed)));
        assert!(matches!(store.claim(request("worker", 1)).await, Err(StoreError::Closed)));
        assert!(matches!(store.now().await, Err(StoreError::Closed)));
    });
}
