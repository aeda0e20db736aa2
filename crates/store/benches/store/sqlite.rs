//! SQLite's part of the table.

use std::time::Duration;

use baton_store::{Backend, SqliteOptions, SqliteStore};
use tempfile::TempDir;

use crate::bodies::Bodies;
use crate::table::{head, least_middle_most, line, p50_p99, per_second};
use crate::{raw_sqlite, work};

const CLIENTS: u32 = 64;
const CYCLES: u32 = 20_000;
const SMALL: u32 = 10_000;
const FAN: u32 = 100_000;
const CALLS: u32 = 1_000;
/// Of the cycles, through the store and by hand in turn.
const ROUNDS: u32 = 9;

fn open(folder: &TempDir, name: &str) -> SqliteStore {
    SqliteStore::open(&folder.path().join(name), SqliteOptions::default()).unwrap()
}

pub(crate) async fn measure() {
    let folder = TempDir::new().unwrap();
    let large =
        std::env::var("BATON_BENCH_TASKS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    head("SQLite, WAL, synchronous = FULL");
    throughput(&folder).await;
    if large == 0 {
        return;
    }
    let (small, at_scale) = latencies(&folder, large).await;
    let names = ["claim one", "ready, the first 20", "empty poll"];
    let goals = ["claim within 2×", "< 1 ms", "microseconds"];
    for ((name, goal), (small, large_one)) in names.iter().zip(goals).zip(small.iter().zip(at_scale)) {
        let ratio = large_one.0.as_secs_f64() / small.0.as_secs_f64();
        let (what, ratio) =
            (format!("{name}: {large} tasks beside {SMALL}, p50 (p99)"), format!("{ratio:.2}×"));
        let show = |(p50, p99): (Duration, Duration)| format!("{p50:.1?} ({p99:.1?})");
        line(&what, &show(large_one), &show(*small), &ratio, goal);
    }
    let store = open(&folder, "fan.db");
    let (worst, took) = work::fan(&store, 0, FAN).await;
    line(
        &format!("fan of {FAN}: slowest commit meanwhile"),
        &format!("{worst:.1?}"),
        &format!("all told after {took:.1?}"),
        "–",
        "≤ 50 ms",
    );
    store.close().await.unwrap();
}

async fn throughput(folder: &TempDir) {
    let bodies = Bodies::of_one_cycle(&folder.path().join("bodies.db")).await;
    let (mut ours, mut raw, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    // In turn, several times over: each ratio is of one minute of the machine, and the middle one counts.
    for round in 0..ROUNDS {
        let store = open(folder, &format!("cycles-{round}.db"));
        work::fill(&store, 0, CYCLES + CLIENTS, &[]).await;
        ours.push(per_second(CYCLES, work::cycles(&store, CLIENTS, CYCLES).await));
        store.close().await.unwrap();
        let store = open(folder, &format!("raw-{round}.db"));
        work::fill(&store, 0, CYCLES + CLIENTS, &[]).await;
        store.close().await.unwrap();
        let path = folder.path().join(format!("raw-{round}.db"));
        let took = raw_sqlite::cycles(&path, &bodies, i64::from(CLIENTS), i64::from(CYCLES));
        raw.push(per_second(CYCLES, took));
        ratios.extend(ours.last().zip(raw.last()).map(|(ours, raw)| 100.0 * ours / raw));
    }
    let [(_, ours, _), (_, raw, _), (least, ratio, most)] = [ours, raw, ratios].map(least_middle_most);
    line(
        &format!("claim → done cycles, {CLIENTS} clients waiting, the middle of {ROUNDS} rounds"),
        &format!("{ours:.0}/s"),
        &format!("{raw:.0}/s raw: the same rows by hand, {CLIENTS} claims or settles to a commit"),
        &format!("{ratio:.0} % ({least:.0} to {most:.0} %)"),
        "≥ 60 %",
    );
}

/// The middle and the worst of the hundred, of a claim, of the ready list and of an empty poll.
type Latencies = [(Duration, Duration); 3];

/// In a small store and in one of `large` ready tasks, call by call in turn, so that both meet the same machine.
async fn latencies(folder: &TempDir, large: u32) -> (Latencies, Latencies) {
    let mut stores = Vec::new();
    for count in [SMALL, large] {
        let name = format!("tasks-{count}.db");
        let store = open(folder, &name);
        work::fill(&store, 0, count, &[]).await;
        // Opened anew, with its log put away.
        store.close().await.unwrap();
        let store = open(folder, &name);
        drop(store.ready(20).await.unwrap());
        stores.push(store);
    }
    let mut times = [[Vec::new(), Vec::new(), Vec::new()], [Vec::new(), Vec::new(), Vec::new()]];
    for _ in 0..CALLS {
        for (store, [claims, ready, polls]) in stores.iter().zip(&mut times) {
            claims.push(
                work::time(async { assert_eq!(store.claim(work::request(1)).await.unwrap().len(), 1) }).await,
            );
            ready.push(work::time(async { assert_eq!(store.ready(20).await.unwrap().len(), 20) }).await);
            let mut nothing = work::request(1);
            nothing.agents = [("nobody".parse().unwrap(), "claude".parse().unwrap())].into();
            polls.push(work::time(async { assert_eq!(store.claim(nothing).await.unwrap().len(), 0) }).await);
        }
    }
    for store in stores {
        store.close().await.unwrap();
    }
    let [small, large] = times.map(|each| each.map(|mut times| p50_p99(&mut times)));
    (small, large)
}
