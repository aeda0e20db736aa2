//! More and more workers on one PostgreSQL: as fast as they can, and at the pace of agents that take their time.

use std::env;
use std::time::Duration;

use baton_store::Backend;

use crate::place::{Place, Stretch, lasts};
use crate::process::{Done, Order};
use crate::sheet::Sheet;
use crate::{raw_postgres, work};

const WORKERS: [u32; 3] = [1, 4, 16];
/// Agents of one worker.
const AGENTS: u32 = 8;
/// Connections a store writes through: one that commits, one that claims. Plain SQL is given as many for each worker.
const WRITING: u32 = 2;
/// Agents that take their time take this long. Real ones take minutes; these are quick so that few of them show the limit.
const WORK: Duration = Duration::from_millis(50);
const SECONDS: u64 = 3;
/// Each is measured as often, in turn with the others, and the best counts: the machine may be busy in between.
/// `BATON_BENCH_ROUNDS` sets it.
const ROUNDS: u32 = 3;
/// More than any of them gets done in its time.
const TASKS: u32 = 25_000;

/// One measurement: how many cycles in a second, and how busy the server was.
#[derive(Clone, Copy, Default)]
struct Seen {
    rate: f64,
    server_cores: Option<f64>,
    own_cores: f64,
}

impl Seen {
    fn better(self, other: Self) -> Self {
        if other.rate > self.rate { other } else { self }
    }

    fn cores(&self) -> String {
        let server = self.server_cores.map_or("–".to_owned(), |cores| format!("{cores:.2}"));
        format!("{server} + {:.2}", self.own_cores)
    }
}

pub(crate) async fn measure() {
    let place = Place::new("throughput").await;
    let mut best = [[Seen::default(); 3]; WORKERS.len()];
    let rounds = env::var("BATON_BENCH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    for round in 0..rounds {
        for (workers, [paced, full, raw]) in WORKERS.into_iter().zip(&mut best) {
            let name = |what: &str| format!("{what}{round}_{workers}");
            *paced = paced.better(run(&place, &name("paced"), workers, &store(WORK)).await);
            *full = full.better(run(&place, &name("full"), workers, &store(Duration::ZERO)).await);
            *raw = raw.better(run(&place, &name("raw"), workers, &sql()).await);
        }
    }
    show(&best, rounds);
}

fn store(work: Duration) -> Order {
    let (address, namespace) = (String::new(), String::new());
    Order { is_store: true, address, namespace, clients: AGENTS, work, lasts: lasts(SECONDS) }
}

fn sql() -> Order {
    Order { is_store: false, clients: WRITING, ..store(Duration::ZERO) }
}

async fn run(place: &Place, name: &str, workers: u32, order: &Order) -> Seen {
    let filler = place.open(name).await;
    work::fill(&filler, 0, TASKS, &[]).await;
    filler.close().await.unwrap();
    if !order.is_store {
        raw_postgres::prepare(&place.address, &Place::schema(name)).await;
    }
    let order = Order { address: place.address.clone(), namespace: Place::namespace(name), ..order.clone() };
    place.settle().await;
    place.forget_statements().await;
    let before = place.look().await;
    let done: Vec<Done> = tokio::task::spawn_blocking(move || order.give(workers)).await.unwrap();
    let stretch: Stretch = before.until(&place.look().await);
    place.print_statements().await;
    place.remove(name).await;
    let took = done.iter().map(|done| done.took).max().unwrap();
    let cycles: u32 = done.iter().map(|done| done.cycles).sum();
    let scale = stretch.seconds / took.as_secs_f64();
    Seen {
        rate: f64::from(cycles) / took.as_secs_f64(),
        server_cores: stretch.server_cores.map(|cores| cores * scale),
        own_cores: stretch.own_cores * scale,
    }
}

fn show(best: &[[Seen; 3]; WORKERS.len()], rounds: u32) {
    let [paced_alone, full_alone, _] = best[0];
    let raw_best = best.iter().map(|[_, _, raw]| raw.rate).fold(0.0, f64::max);
    let mut sheet = Sheet::new(format!(
        "Workers, each a process of its own with {AGENTS} agents: claim → done cycles, the best of {rounds} round(s)"
    ));
    let paced_title = format!("agents that take {} ms for a task", WORK.as_millis());
    for (workers, [paced, full, raw]) in WORKERS.into_iter().zip(best) {
        let times = |rate: f64, alone: f64| format!("{rate:.0}/s, {:.1}×", rate / alone);
        let share = |of: f64| format!("{:.0} %", 100.0 * full.rate / of);
        let values = vec![
            (paced_title.as_str(), times(paced.rate, paced_alone.rate)),
            ("busy cores: server + clients", paced.cores()),
            ("agents that take no time", times(full.rate, full_alone.rate)),
            ("busy cores: server + clients", full.cores()),
            ("the same rows by plain SQL, as many writing connections", format!("{:.0}/s", raw.rate)),
            ("busy cores: server + clients", raw.cores()),
            ("store / plain SQL", share(raw.rate)),
            ("store / plain SQL at its best", share(raw_best)),
        ];
        sheet.add(format!("{workers} worker(s)"), values);
    }
    sheet.print();
}
