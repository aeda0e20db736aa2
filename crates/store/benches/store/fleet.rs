//! A fleet on one PostgreSQL: more and more workers, each with connections of its own, as separate machines have them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use baton_core::id::AttemptId;
use baton_store::{PostgresStore, Store};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::table::{line, p50_p99, per_second};
use crate::{postgres, raw_postgres, work};

/// Agents of one worker.
const AGENTS: u32 = 8;
/// What an agent takes for one task. Real ones take minutes; these are in a hurry so that the store is the limit.
const WORK: Duration = Duration::from_millis(20);
/// Tasks for each worker of a round.
const TASKS: u32 = 1_500;
const ROUNDS: [u32; 3] = [1, 4, 16];
/// Agents at work at once in the simulation of a large fleet, and on how many machines.
const MANY_AGENTS: u32 = 10_000;
const MACHINES: u32 = 100;
/// Tasks that go through the fleet while all these are at work.
const PASSING: u32 = 2_000;

pub async fn measure(address: &str) {
    let raw = raw(address).await;
    let mut alone = 0.0;
    for workers in ROUNDS {
        let count = TASKS * workers;
        let took = round(address, workers, count).await;
        let rate = per_second(count, took);
        if workers == 1 {
            alone = rate;
        }
        let beside = format!("{raw:.0}/s raw SKIP LOCKED");
        let ratio = format!("{:.1}× one worker, {:.0} % of raw", rate / alone, 100.0 * rate / raw);
        let what = format!("{workers} worker(s) of {AGENTS} agents, each {} ms a task", WORK.as_millis());
        line(&what, &format!("{rate:.0}/s"), &beside, &ratio, "linear, then ≥ 70 % of raw");
    }
    many(address).await;
}

async fn raw(address: &str) -> f64 {
    let store = postgres::open(address, "fleet_raw").await;
    work::fill(&store, 0, 4_000 + 64, &[]).await;
    store.close().await.unwrap();
    let schema = format!("baton_{}", postgres::namespace("fleet_raw"));
    per_second(4_000, raw_postgres::cycles(address, &schema, 16, 4_000).await)
}

async fn stores(address: &str, name: &str, count: u32) -> Vec<PostgresStore> {
    let mut stores = Vec::new();
    for _ in 0..count {
        stores.push(postgres::open(address, name).await);
    }
    stores
}

async fn round(address: &str, workers: u32, count: u32) -> Duration {
    let stores = stores(address, &format!("fleet{workers}"), workers).await;
    work::fill(&stores[0], 0, count + workers * AGENTS, &[]).await;
    let took = pass(&stores, count, WORK).await;
    for store in stores {
        store.close().await.unwrap();
    }
    took
}

/// Lets so many tasks go through the fleet.
async fn pass(stores: &[PostgresStore], count: u32, takes: Duration) -> Duration {
    let left = Arc::new(AtomicU32::new(count));
    let begun = Instant::now();
    let mut agents = JoinSet::new();
    for store in stores {
        for _ in 0..AGENTS {
            let (store, left) = (store.clone(), Arc::clone(&left));
            agents.spawn(async move {
                let take = |left: u32| left.checked_sub(1);
                while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
                    let claimed = store.claim(work::request(1)).await.unwrap().remove(0);
                    sleep(takes).await;
                    work::write(&store, work::settled(&claimed)).await;
                }
            });
        }
    }
    agents.join_all().await;
    begun.elapsed()
}

/// Ten thousand agents at work: what their leases cost, and what is left for others.
async fn many(address: &str) {
    let stores = stores(address, "many", 4).await;
    work::fill(&stores[0], 0, MANY_AGENTS + PASSING + 400, &[]).await;
    let mut attempts: Vec<AttemptId> = Vec::new();
    while attempts.len() < MANY_AGENTS as usize {
        let claimed = stores[0].claim(work::request(500)).await.unwrap();
        attempts.extend(claimed.iter().map(|one| one.lease.attempt));
    }
    let mut renewals = Vec::new();
    for of_machine in attempts.chunks((MANY_AGENTS / MACHINES) as usize) {
        let renew =
            async { assert!(stores[1].renew("worker", of_machine, 60_000).await.unwrap().is_empty()) };
        renewals.push(work::time(renew).await);
    }
    let all: Duration = renewals.iter().sum();
    let (p50, p99) = p50_p99(&mut renewals);
    let what =
        format!("{MANY_AGENTS} agents on {MACHINES} machines: one machine renews its leases, p50 (p99)");
    let beside = format!("all of them: {all:.1?} of every 10 s");
    line(&what, &format!("{p50:.1?} ({p99:.1?})"), &beside, "–", "a small part of 10 s");
    let took = pass(&stores, PASSING, Duration::ZERO).await;
    let rate = per_second(PASSING, took);
    let what = format!("claim → done cycles beside {MANY_AGENTS} agents at work, 4 workers");
    let needed = f64::from(MANY_AGENTS) / 300.0;
    let beside = format!("{needed:.0}/s if each task takes five minutes");
    line(&what, &format!("{rate:.0}/s"), &beside, &format!("{:.1}×", rate / needed), "> 1×");
    for store in stores {
        store.close().await.unwrap();
    }
}
