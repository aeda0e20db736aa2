//! A worker that is a process of its own, as `baton worker` is: opened, told to go, and asked what it got done.

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead, BufReader, Write, stdin};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use baton_core::base::id::AttemptId;
use baton_core::schedule::worker::BEAT_MS;
use baton_store::{Backend, PostgresOptions, PostgresStore};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::{fleet, raw_postgres, work};

/// What runs in this process.
type Running = Arc<Mutex<BTreeSet<AttemptId>>>;

const MARK: &str = "--as-worker";
/// Leases are renewed ten times as often as by a worker with the default settings, so that a short run has some of it.
const RENEW_EVERY: Duration = Duration::from_secs(1);
const LEASE_MS: i64 = 30_000;

/// What such a process is to do.
#[derive(Clone)]
pub(crate) struct Order {
    /// With the store, or by plain SQL.
    pub(crate) is_store: bool,
    pub(crate) address: String,
    pub(crate) namespace: String,
    /// Agents of the store, connections of plain SQL.
    pub(crate) clients: u32,
    /// What an agent takes for one task.
    pub(crate) work: Duration,
    pub(crate) lasts: Duration,
}

/// What it got done, and in what time.
pub(crate) struct Done {
    pub(crate) cycles: u32,
    pub(crate) took: Duration,
}

impl Order {
    /// The order given to this process, if it is such a one.
    pub(crate) fn of(arguments: &[String]) -> Option<Self> {
        let [mark, is_store, address, namespace, clients, work_ms, lasts_ms] = arguments else { return None };
        let ms = |text: &String| Duration::from_millis(text.parse().unwrap());
        (mark == MARK).then(|| Self {
            is_store: is_store == "store",
            address: address.clone(),
            namespace: namespace.clone(),
            clients: clients.parse().unwrap(),
            work: ms(work_ms),
            lasts: ms(lasts_ms),
        })
    }

    fn start(&self) -> Child {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args([MARK, if self.is_store { "store" } else { "sql" }, &self.address, &self.namespace]);
        let numbers = [u128::from(self.clients), self.work.as_millis(), self.lasts.as_millis()];
        command.args(numbers.map(|number| number.to_string()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    }

    /// Starts so many processes, lets them go at the same moment, and waits for all.
    pub(crate) fn give(&self, processes: u32) -> Vec<Done> {
        let mut children: Vec<Child> = (0..processes).map(|_| self.start()).collect();
        let mut lines: Vec<_> =
            children.iter_mut().map(|child| BufReader::new(child.stdout.take().unwrap()).lines()).collect();
        for line in &mut lines {
            assert_eq!(line.next().unwrap().unwrap(), "ready");
        }
        for child in &mut children {
            child.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
        }
        let done = lines.iter_mut().map(|line| {
            let line = line.next().unwrap().unwrap();
            let (cycles, micros) = line.split_once(' ').unwrap();
            Done { cycles: cycles.parse().unwrap(), took: Duration::from_micros(micros.parse().unwrap()) }
        });
        let done = done.collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        done
    }

    /// In the process itself.
    pub(crate) async fn carry_out(self) {
        if self.is_store { self.with_store().await } else { self.with_sql().await }
    }

    async fn with_store(&self) {
        let options = PostgresOptions::new(&self.address, &self.namespace);
        let store = PostgresStore::open(&options).await.unwrap();
        let name = format!("worker-{}", std::process::id());
        let running = Running::default();
        let mut services = JoinSet::new();
        services.spawn(beat(store.clone(), name.clone(), self.clients));
        services.spawn(renew(store.clone(), name.clone(), running.clone()));
        let begun = go().await;
        let mut agents = JoinSet::new();
        for _ in 0..self.clients {
            let (store, name, order) = (store.clone(), name.clone(), self.clone());
            let running = running.clone();
            agents.spawn(async move {
                let mut cycles = 0;
                while begun.elapsed() < order.lasts && order.cycle(&store, &name, &running).await {
                    cycles += 1;
                }
                cycles
            });
        }
        let cycles = agents.join_all().await.into_iter().sum();
        tell(cycles, begun);
        services.shutdown().await;
        store.close().await.unwrap();
    }

    /// False when there was nothing to claim.
    async fn cycle(&self, store: &PostgresStore, name: &str, running: &Running) -> bool {
        let mut request = work::request(1);
        name.clone_into(&mut request.worker);
        let claimed = store.claim(request).await.unwrap();
        let Some(claimed) = claimed.first() else { return false };
        let attempt = claimed.lease.attempt;
        running.lock().unwrap().insert(attempt);
        if !self.work.is_zero() {
            sleep(self.work).await;
        }
        work::write(store, work::settled(claimed)).await;
        running.lock().unwrap().remove(&attempt);
        true
    }

    async fn with_sql(&self) {
        let schema = format!("baton_{}", self.namespace);
        let clients = raw_postgres::connect(&self.address, &schema, self.clients).await;
        let begun = go().await;
        let lasts = self.lasts;
        let cycles = raw_postgres::cycles(clients, move || begun.elapsed() < lasts).await;
        tell(cycles, begun);
    }
}

/// Waits for the word.
async fn go() -> Instant {
    println!("ready");
    let heard = tokio::task::spawn_blocking(|| stdin().lines().next()).await.unwrap();
    assert_eq!(heard.unwrap().unwrap(), "go");
    Instant::now()
}

fn tell(cycles: u32, begun: Instant) {
    println!("{cycles} {}", begun.elapsed().as_micros());
}

async fn beat(store: PostgresStore, name: String, capacity: u32) {
    let worker = fleet::described(&name, capacity, store.now().await.unwrap());
    loop {
        store.beat(&worker).await.unwrap();
        sleep(Duration::from_millis(BEAT_MS.unsigned_abs())).await;
    }
}

/// Whatever the worker runs at the time.
async fn renew(store: PostgresStore, name: String, running: Running) {
    loop {
        sleep(RENEW_EVERY).await;
        let attempts: Vec<AttemptId> = running.lock().unwrap().iter().copied().collect();
        store.renew(&name, &attempts, LEASE_MS).await.unwrap();
    }
}
