//! PostgreSQL's part of the table.

use std::env;
use std::time::Duration;

use baton_store::{Backend, PostgresOptions, PostgresStore};

use crate::server::Server;
use crate::table::{head, line, p50_p99, per_second};
use crate::{raw_postgres, work};

const CLIENTS: u32 = 64;
const CYCLES: u32 = 20_000;
const SMALL: u32 = 10_000;
const FAN: u32 = 100_000;
const CALLS: u32 = 500;
const CHURN: u32 = 200_000;
/// Looks at the claims during the churn, the first before it.
const LOOKS: u32 = 11;

/// A server for the measurement, kept for as long as it is in use, and its address.
fn server() -> Result<(Option<Server>, String), String> {
    if let Ok(address) = env::var("BATON_TEST_POSTGRES") {
        return Ok((None, address));
    }
    let own = Server::private("bench")?;
    let address = own.address();
    Ok((Some(own), address))
}

pub(crate) async fn measure() {
    let (_own, address) = match server() {
        Ok(found) => found,
        Err(reason) => return println!("\nPostgreSQL was not measured: {reason}"),
    };
    let large: u32 =
        env::var("BATON_BENCH_TASKS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    head("PostgreSQL, fsync and synchronous_commit on");
    throughput(&address).await;
    churn(&address, CHURN.min(large)).await;
    let [small, at_scale] = latencies(&address, [SMALL, large]).await;
    let names = ["claim one", "ready, the first 20", "empty poll"];
    let goals = ["claim within 2×", "< 1 ms", "microseconds"];
    for ((name, goal), (small, large_one)) in names.iter().zip(goals).zip(small.iter().zip(at_scale)) {
        let ratio = large_one.0.as_secs_f64() / small.0.as_secs_f64();
        let what = format!("{name}: {large} tasks beside {SMALL}, p50 (p99)");
        line(&what, &show(large_one), &show(*small), &format!("{ratio:.2}×"), goal);
    }
    let store = open(&address, "fan").await;
    let (worst, took) = work::fan(&store, 0, FAN.min(large)).await;
    let what = format!("fan of {}: slowest commit meanwhile", FAN.min(large));
    line(&what, &format!("{worst:.1?}"), &format!("all told after {took:.1?}"), "–", "≤ 50 ms");
    store.close().await.unwrap();
}

fn show((p50, p99): (Duration, Duration)) -> String {
    format!("{p50:.1?} ({p99:.1?})")
}

pub(crate) fn namespace(name: &str) -> String {
    format!("bench_{name}_{}", std::process::id())
}

pub(crate) async fn open(address: &str, name: &str) -> PostgresStore {
    PostgresStore::open(&PostgresOptions::new(address, namespace(name))).await.unwrap()
}

async fn throughput(address: &str) {
    let mut rates = Vec::new();
    // In turn, three times over: the machine may be busier in one minute than in the next.
    for round in 0..3 {
        let store = open(address, &format!("cycles{round}")).await;
        work::fill(&store, 0, CYCLES + CLIENTS, &[]).await;
        let ours = work::cycles(&store, CLIENTS, CYCLES).await;
        store.close().await.unwrap();
        let mut best = Duration::MAX;
        // Fewer connections than clients are often faster; the faster counts.
        for connections in [16, CLIENTS] {
            let name = format!("raw{round}_{connections}");
            let store = open(address, &name).await;
            work::fill(&store, 0, CYCLES + CLIENTS, &[]).await;
            store.close().await.unwrap();
            let schema = format!("baton_{}", namespace(&name));
            raw_postgres::prepare(address, &schema).await;
            let clients = raw_postgres::connect(address, &schema, connections).await;
            best = best.min(raw_postgres::count_down(clients, CYCLES).await);
        }
        rates.push((per_second(CYCLES, ours), per_second(CYCLES, best)));
    }
    rates.sort_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)));
    let (ours, raw) = rates[1];
    let what = format!("claim → done cycles, {CLIENTS} clients waiting");
    let ratio = format!("{:.0} %", 100.0 * ours / raw);
    line(&what, &format!("{ours:.0}/s"), &format!("{raw:.0}/s raw SKIP LOCKED"), &ratio, "≥ 70 %");
}

/// A client that is alone claims, again and again, while `cycles` go by in between.
async fn churn(address: &str, cycles: u32) {
    let store = open(address, "churn").await;
    work::fill(&store, 0, cycles + LOOKS * CALLS, &[]).await;
    let mut medians = Vec::new();
    for look in 0..LOOKS {
        if look > 0 {
            work::cycles(&store, CLIENTS, cycles / (LOOKS - 1)).await;
        }
        let mut claims = Vec::new();
        for _ in 0..CALLS {
            let mut claimed = Vec::new();
            claims.push(work::time(async { claimed = store.claim(work::request(1)).await.unwrap() }).await);
            work::write(&store, work::settled(&claimed[0])).await;
        }
        medians.push(p50_p99(&mut claims));
    }
    let (first, last) = (medians[0], medians[medians.len() - 1]);
    let worst = medians.iter().copied().max().unwrap();
    let what = format!("claim after {cycles} cycles of churn beside before, p50 (p99)");
    let ratio = format!("{:.2}×", last.0.as_secs_f64() / first.0.as_secs_f64());
    line(
        &what,
        &show(last),
        &show(first),
        &ratio,
        &format!("does not grow; worst on the way {}", show(worst)),
    );
    store.close().await.unwrap();
}

/// Of a claim, of the ready list and of an empty poll, in stores of so many ready tasks.
async fn latencies(address: &str, counts: [u32; 2]) -> [[(Duration, Duration); 3]; 2] {
    let mut stores = Vec::new();
    for count in counts {
        let store = open(address, &format!("tasks{count}")).await;
        work::fill(&store, 0, count, &[]).await;
        stores.push(store);
    }
    raw_postgres::settle(address).await;
    let mut times = [[Vec::new(), Vec::new(), Vec::new()], [Vec::new(), Vec::new(), Vec::new()]];
    // In turn, so that a busy moment of the machine falls on all of them.
    for _ in 0..CALLS {
        for (store, [claims, ready, polls]) in stores.iter().zip(&mut times) {
            let claim = async { assert_eq!(store.claim(work::request(1)).await.unwrap().len(), 1) };
            claims.push(work::time(claim).await);
            ready.push(work::time(async { assert_eq!(store.ready(20).await.unwrap().len(), 20) }).await);
            let mut nothing = work::request(1);
            nothing.agents = [("nobody".parse().unwrap(), "claude".parse().unwrap())].into();
            polls.push(work::time(async { assert!(store.claim(nothing).await.unwrap().is_empty()) }).await);
        }
    }
    for store in stores {
        store.close().await.unwrap();
    }
    times.map(|each| each.map(|mut times| p50_p99(&mut times)))
}
