//! Ten thousand agents on a hundred machines behind one PostgreSQL.
//!
//! Their heartbeats and leases come at the true rate. Their work is first as slow as that of real agents and then faster,
//! so that it is seen where the limit is.

use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_core::records::change::Change;
use baton_store::{Backend, PostgresStore};
use tokio::time::sleep;

use crate::fleet::{Count, Fleet};
use crate::place::{Look, Place, lasts};
use crate::sheet::Sheet;
use crate::table::p50_p99;
use crate::{life, office, work};

const MACHINES: u32 = 100;
/// Agents of one machine.
const AGENTS: u32 = 100;
/// How much faster than real ones the agents are, one after the other.
const SPEEDS: [f64; 3] = [1.0, 2.0, 4.0];
/// All agents are put to work at once, which takes a while; where it takes longer than this, something is wrong.
const WARM_UP_MAX: Duration = Duration::from_mins(2);
/// After a change of pace.
const SETTLE: Duration = Duration::from_secs(5);
const SECONDS: u64 = 30;
/// More than are worked through.
const TASKS: u32 = MACHINES * AGENTS + 20_000;
const NAME: &str = "agents";

pub(crate) async fn measure() {
    let lasts = lasts(SECONDS);
    let place = Place::new("agents").await;
    let filler = place.open(NAME).await;
    fill(&filler, 0, TASKS).await;
    filler.close().await.unwrap();
    place.settle().await;
    let (fleet, inbox) = Fleet::new(MACHINES, MACHINES * AGENTS);
    let (mut machines, mut services) = fleet.machines(&place, NAME, AGENTS).await;
    let servers = office::open(&fleet, inbox, &place, NAME, &machines, &mut services).await;
    let begun = Instant::now();
    while fleet.tally.count().started < u64::from(MACHINES * AGENTS) {
        assert!(begun.elapsed() < WARM_UP_MAX, "{} agents at work", fleet.tally.count().started);
        sleep(Duration::from_millis(100)).await;
    }
    let warm_up = begun.elapsed();
    let mut sheet = Sheet::new(format!(
        "{} agents on {MACHINES} machines behind one PostgreSQL, all put to work within {:.0} s; then {} s at each pace, \
         1× being that of real agents",
        MACHINES * AGENTS,
        warm_up.as_secs_f64(),
        lasts.as_secs()
    ));
    for speed in SPEEDS {
        fleet.speed.send_replace(speed);
        sleep(SETTLE).await;
        let (before, counted) = (place.look().await, fleet.tally.count());
        let _ = fleet.lag.take();
        sleep(lasts).await;
        let (after, count) = (place.look().await, fleet.tally.count().since(&counted));
        sheet.add(format!("{speed:.0}×"), seen(&fleet, &before, &after, &count));
    }
    sheet.print();
    place.print_statements().await;
    machines.extend(servers);
    fleet.close(machines, services).await;
    place.remove(NAME).await;
}

pub(crate) async fn fill(store: &PostgresStore, first: u32, count: u32) {
    const PER_COMMIT: u32 = 1_000;
    let now = store.now().await.unwrap();
    for begin in (first..first + count).step_by(PER_COMMIT as usize) {
        let end = (begin + PER_COMMIT).min(first + count);
        let change =
            (begin..end).fold(Change::new(), |change, number| change.and(life::created(number, now)));
        work::write(store, change).await;
    }
}

#[expect(clippy::cast_precision_loss, reason = "counted numbers are far below that")]
fn seen(fleet: &Arc<Fleet>, before: &Look, after: &Look, count: &Count) -> Vec<(&'static str, String)> {
    let stretch = before.until(after);
    let each = |number: u64| format!("{:.1}/s", number as f64 / stretch.seconds);
    let mut lag = fleet.lag.take();
    let (p50, p99) = if lag.is_empty() { (Duration::MAX, Duration::MAX) } else { p50_p99(&mut lag) };
    let of_task = |number: f64| number / count.accepted.max(1) as f64;
    vec![
        ("tasks claimed", each(count.claimed)),
        ("attempts settled", each(count.settled)),
        ("tasks accepted", each(count.accepted)),
        ("questions asked", each(count.asked)),
        ("leases renewed", each(count.renewed)),
        ("by so many statements", each(count.renewals)),
        ("signs of life", each(count.beats)),
        ("leases lost", count.lost.to_string()),
        ("claims tried", each(count.claims)),
        ("looks into the outbox", each(count.outbox_looks)),
        ("pieces of watched logs", each(count.log_pieces)),
        ("looks for watched logs", each(count.log_looks)),
        ("transactions", format!("{:.0}/s", stretch.transactions_per_second)),
        ("a reader of events is behind, p50 (p99)", format!("{p50:.1?} ({p99:.1?})")),
        ("busy cores of the server", stretch.server_cores()),
        ("busy cores of the simulation", format!("{:.2}", stretch.own_cores)),
        ("WAL for each accepted task", format!("{:.1} kB", of_task(stretch.wal_bytes) / 1_000.0)),
        ("connections", after.connections.to_string()),
    ]
}
