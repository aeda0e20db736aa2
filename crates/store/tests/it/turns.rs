//! Concurrent processes on PostgreSQL: each learns what the others write, and none can block the others.

use std::io::{BufRead, BufReader};
use std::process::Command;
use std::time::{Duration, Instant};

use baton_store::Backend;
use tokio::time::timeout;

use crate::killed::start_writer;
use crate::postgres::{Postgres, run};
use crate::suite::Fixture;
use crate::suite::make::{created, request, write};

/// Well below the poll interval.
const SOON: Duration = Duration::from_secs(4);
/// The server ends a transaction that idles while holding its slot after three seconds.
const PATIENCE: Duration = Duration::from_secs(6);

#[test]
fn the_last_of_many_commits_is_announced() {
    run(async {
        let place = Postgres::new();
        let (store, beside) = (place.open().await, place.open().await);
        let mut news = beside.subscribe();
        for burst in 0..20 {
            let mut seq = 0;
            for number in 0..5 {
                seq = write(&store, created(burst * 10 + number, &[])).await;
            }
            timeout(SOON, news.wait_for(|newest| *newest >= seq)).await.unwrap().unwrap();
        }
    });
}

#[test]
fn closing_announces_the_last_commit() {
    run(async {
        let place = Postgres::new();
        let beside = place.open().await;
        let mut news = beside.subscribe();
        for life in 0..5 {
            let store = place.open().await;
            write(&store, created(life * 10, &[])).await;
            let seq = write(&store, created(life * 10 + 1, &[])).await;
            store.close().await.unwrap();
            timeout(SOON, news.wait_for(|newest| *newest >= seq)).await.unwrap().unwrap();
        }
    });
}

#[test]
fn a_stalled_process_does_not_block_others_for_long() {
    const STOPS: u32 = 6;
    run(async {
        let place = Postgres::new();
        let store = place.open().await;
        let mut writer = start_writer(&place.options, 1);
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines().map_while(Result::ok);
        for stop in 0..STOPS {
            // It is in the middle of its work, at an arbitrary moment.
            tokio::task::block_in_place(|| lines.find(|line| line.starts_with("pair "))).unwrap();
            signal("-STOP", writer.id());
            let begun = Instant::now();
            timeout(PATIENCE, write(&store, created(stop, &[]))).await.unwrap();
            let claimed = timeout(PATIENCE, store.claim(request("beside", 1))).await.unwrap().unwrap();
            assert_eq!(claimed.len(), 1);
            assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
            signal("-CONT", writer.id());
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
    });
}

fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}
