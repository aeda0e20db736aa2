//! A hundred machines with nothing to do: what they cost, and what it costs them all that a task comes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_core::base::id::TaskId;
use baton_store::{Backend, PostgresStore};
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::fleet::Fleet;
use crate::place::{Place, Stretch, lasts};
use crate::sheet::Sheet;
use crate::table::p50_p99;
use crate::{life, work};

const MACHINES: u32 = 100;
const AGENTS: u32 = 100;
/// Tasks that come in a second, each by itself; none first.
const RATES: [u32; 3] = [0, 5, 50];
const WARM_UP: Duration = Duration::from_secs(5);
const SECONDS: u64 = 15;
const NAME: &str = "idle";

pub(crate) async fn measure() {
    let lasts = lasts(SECONDS);
    let place = Place::new("idle").await;
    let people = place.open(NAME).await;
    let (fleet, _inbox) = Fleet::new(MACHINES, 0);
    let (machines, services) = fleet.machines(&place, NAME, AGENTS).await;
    sleep(WARM_UP).await;
    let mut sheet = Sheet::new(format!(
        "{MACHINES} machines with room for {AGENTS} agents each, {} s for each column",
        lasts.as_secs()
    ));
    let mut first = 0;
    for rate in RATES {
        let (before, counted) = (place.look().await, fleet.tally.count());
        let made = bring(&people, &fleet, rate, first, lasts).await;
        first += made;
        let (after, count) = (place.look().await, fleet.tally.count().since(&counted));
        let stretch = before.until(&after);
        sheet.add(format!("{rate} tasks/s"), seen(&fleet, made, &stretch, count.claims, after.connections));
    }
    sheet.print();
    fleet.close(machines, services).await;
    people.close().await.unwrap();
    place.remove(NAME).await;
}

/// Tasks one by one, for as long as a line lasts; returns how many.
async fn bring(people: &PostgresStore, fleet: &Arc<Fleet>, rate: u32, first: u32, lasts: Duration) -> u32 {
    let begun = Instant::now();
    if rate == 0 {
        sleep(lasts).await;
        return 0;
    }
    let mut made = 0;
    let mut tick = interval(Duration::from_secs(1) / rate);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while begun.elapsed() < lasts {
        tick.tick().await;
        let now = people.now().await.unwrap();
        let number = first + made;
        fleet.waiting.lock().unwrap().insert(TaskId::from_bits(number), Instant::now());
        work::write(people, life::created(number, now)).await;
        made += 1;
    }
    made
}

#[expect(clippy::cast_precision_loss, reason = "counted numbers are far below that")]
fn seen(
    fleet: &Arc<Fleet>,
    made: u32,
    stretch: &Stretch,
    claims: u64,
    connections: u64,
) -> Vec<(&'static str, String)> {
    let mut waited = std::mem::take(&mut *fleet.waited.lock().unwrap());
    let waited = if waited.is_empty() {
        "–".to_owned()
    } else {
        let (p50, p99) = p50_p99(&mut waited);
        format!("{p50:.1?} ({p99:.1?})")
    };
    let tried = if made == 0 { "–".to_owned() } else { format!("{:.1}", claims as f64 / f64::from(made)) };
    vec![
        ("from its commit to its machine, p50 (p99)", waited),
        ("claims tried for each task", tried),
        ("transactions", format!("{:.0}/s", stretch.transactions_per_second)),
        ("busy cores of the server", stretch.server_cores()),
        ("busy cores of the simulation", format!("{:.2}", stretch.own_cores)),
        ("connections", connections.to_string()),
    ]
}
