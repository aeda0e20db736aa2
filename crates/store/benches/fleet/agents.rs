//! Ten thousand agents on a hundred machines behind one PostgreSQL.
//!
//! Their heartbeats and leases come at the true rate. Their work is first as slow as that of real agents and then faster,
//! so that it is seen where the limit is.

use std::sync::Arc;
use std::time::Duration;

use baton_core::change::Change;
use baton_store::{PostgresStore, Store};
use tokio::time::sleep;

use crate::fleet::{Count, Fleet};
use crate::place::{Look, Place};
use crate::table::p50_p99;
use crate::{life, office, work};

const MACHINES: u32 = 100;
/// Agents of one machine.
const AGENTS: u32 = 100;
/// How much faster than real ones the agents are, one after the other.
const SPEEDS: [f64; 3] = [1.0, 4.0, 10.0];
/// Until every machine is full and everything goes its way.
const WARM_UP: Duration = Duration::from_secs(20);
/// After a change of pace.
const SETTLE: Duration = Duration::from_secs(5);
const LASTS: Duration = Duration::from_secs(40);
/// More than are worked through.
const TASKS: u32 = MACHINES * AGENTS + 40_000;
const NAME: &str = "agents";

pub async fn measure() {
    let place = Place::new("agents").await;
    let filler = place.open(NAME).await;
    fill(&filler, 0, TASKS).await;
    filler.close().await.unwrap();
    place.settle().await;
    let (fleet, inbox) = Fleet::new(u64::from(MACHINES * AGENTS));
    let (mut machines, mut services) = fleet.machines(&place, NAME, MACHINES, AGENTS).await;
    let servers = office::open(&fleet, inbox, &place, NAME, &machines, &mut services).await;
    sleep(WARM_UP).await;
    let working = machines.iter().map(|machine| machine.running().len()).sum::<usize>();
    println!(
        "\n{working} agents on {MACHINES} machines behind one PostgreSQL, {} s at each pace\n",
        LASTS.as_secs()
    );
    head();
    for speed in SPEEDS {
        fleet.speed.send_replace(speed);
        sleep(SETTLE).await;
        let (before, counted) = (place.look().await, fleet.tally.count());
        let _ = fleet.lag.take();
        sleep(LASTS).await;
        let (after, count) = (place.look().await, fleet.tally.count().since(&counted));
        show(&fleet, speed, &before, &after, &count);
    }
    machines.extend(servers);
    fleet.close(machines, services).await;
    place.remove(NAME).await;
}

pub async fn fill(store: &PostgresStore, first: u32, count: u32) {
    const PER_COMMIT: u32 = 1_000;
    let now = store.now().await.unwrap();
    for begin in (first..first + count).step_by(PER_COMMIT as usize) {
        let end = (begin + PER_COMMIT).min(first + count);
        let change =
            (begin..end).fold(Change::new(), |change, number| change.and(life::created(number, now)));
        work::write(store, change).await;
    }
}

fn head() {
    println!(
        "| pace | tasks claimed | attempts settled | accepted | questions | leases renewed (statements) | signs of life \
         | leases lost | looks into the outbox | log pieces (looks) | transactions | events behind, p50 (p99) \
         | busy cores: server + clients | WAL per accepted task | connections |"
    );
    println!("|{}", " --- |".repeat(15));
}

#[expect(clippy::cast_precision_loss, reason = "counted numbers are far below that")]
fn show(fleet: &Arc<Fleet>, speed: f64, before: &Look, after: &Look, count: &Count) {
    let stretch = before.until(after);
    let each = |number: u64| format!("{:.0}/s", number as f64 / stretch.seconds);
    let mut lag = fleet.lag.take();
    let (p50, p99) = if lag.is_empty() { (Duration::MAX, Duration::MAX) } else { p50_p99(&mut lag) };
    println!(
        "| {speed:.0}× | {} | {} | {} | {} | {} ({}) | {} | {} | {} | {} ({}) | {:.0}/s | {p50:.1?} ({p99:.1?}) | {} + {:.2} | {:.1} kB | {} |",
        each(count.claimed),
        each(count.settled),
        each(count.accepted),
        each(count.asked),
        each(count.renewed),
        each(count.renewals),
        each(count.beats),
        count.lost,
        each(count.outbox_looks),
        each(count.log_pieces),
        each(count.log_looks),
        stretch.transactions_per_second,
        stretch.server_cores(),
        stretch.own_cores,
        stretch.wal_bytes / 1_000.0 / count.accepted.max(1) as f64,
        after.connections,
    );
}
