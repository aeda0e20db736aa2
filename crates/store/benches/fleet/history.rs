//! What finished tasks weigh, and what a store full of them costs the next one.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use baton_core::people::actor::Actor;
use baton_core::records::change::Change;
use baton_core::task::Task;
use baton_core::transition::command::Command;
use baton_store::model::claim::ClaimedTask;
use baton_store::model::query::TaskFilter;
use baton_store::{Backend, PostgresStore};
use tokio::task::JoinSet;

use crate::agents::fill;
use crate::place::Place;
use crate::sheet::Sheet;
use crate::table::{p50_p99, per_second};
use crate::{life, work};

/// How many finished tasks there are at each look; `BATON_BENCH_TASKS` sets the last.
const SIZES: [u32; 3] = [10_000, 100_000, 1_000_000];
/// Tasks that are claimed, and written as finished, in one transaction.
const AT_ONCE: u32 = 500;
/// Transactions under way while the store is filled.
const GROWERS: u32 = 3;
const CALLS: u32 = 300;
const CLIENTS: u32 = 64;
const CYCLES: u32 = 8_000;
const NAME: &str = "history";

pub(crate) async fn measure() {
    let last = env::var("BATON_BENCH_TASKS").ok().and_then(|text| text.parse().ok()).unwrap_or(SIZES[2]);
    let place = Place::new("history").await;
    let store = place.open(NAME).await;
    let mut sheet = Sheet::new("A store of finished tasks");
    let mut finished = 0;
    for size in SIZES.into_iter().filter(|size| *size <= last) {
        let before = place.look().await;
        grow(&store, finished, size).await;
        let wal = before.until(&place.look().await).wal_bytes / f64::from(size - finished);
        place.settle().await;
        let weight = Weight::of(&place, size).await;
        let (taken, mut values) = look(&place, &store, size).await;
        values.extend(weight.shown());
        values.push(("WAL of each, written in bulk", format!("{wal:.0} B")));
        sheet.add(format!("{size} finished"), values);
        finished = size + taken;
    }
    sheet.print();
    store.close().await.unwrap();
    place.remove(NAME).await;
}

/// Lets tasks of these numbers begin and end, by way of the store.
async fn grow(store: &PostgresStore, from: u32, to: u32) {
    let next = Arc::new(AtomicU32::new(from));
    let mut growers = JoinSet::new();
    for _ in 0..GROWERS {
        let (store, next) = (store.clone(), Arc::clone(&next));
        growers.spawn(async move {
            loop {
                let first = next.fetch_add(AT_ONCE, Ordering::Relaxed);
                let Some(count) = to.checked_sub(first).filter(|left| *left > 0) else { return };
                fill(&store, first, count.min(AT_ONCE)).await;
                // The others' may be among them, and ours among theirs.
                loop {
                    let claimed = store.claim(work::request(AT_ONCE)).await.unwrap();
                    if claimed.is_empty() {
                        break;
                    }
                    let lives = claimed.iter().map(whole_life);
                    work::write(&store, lives.fold(Change::new(), Change::and)).await;
                }
                clear_outbox(&store).await;
            }
        });
    }
    growers.join_all().await;
}

/// What is done with a task as it stands then.
type Step<'a> = &'a dyn Fn(&Task) -> Command;

/// From the start of its agent to its acceptance.
fn whole_life(claimed: &ClaimedTask) -> Change {
    let attempt = claimed.lease.attempt;
    let now = claimed.task.value.updated_at();
    let steps: [(Actor, Step<'_>); 4] = [
        (Actor::Baton, &|_| life::start(attempt)),
        (Actor::Baton, &|_| life::note_session(attempt, now)),
        (Actor::Baton, &|task| life::finish(task, attempt)),
        (Actor::human("mia"), &|_| Command::Accept { force: false }),
    ];
    let (mut version, mut task, mut change) =
        (claimed.task.version, claimed.task.value.clone(), Change::new());
    for (actor, command) in steps {
        let transition = task.apply(command(&task), &life::context(now, actor, 0)).unwrap();
        task = transition.task.clone();
        change = change.and(Change::transition(version, transition));
        version += 1;
    }
    change
}

async fn clear_outbox(store: &PostgresStore) {
    let ids: Vec<_> =
        store.pending_effects(None, 5_000).await.unwrap().into_iter().map(|pending| pending.id).collect();
    store.finish_effects(&ids).await.unwrap();
}

/// Bytes on disk for each finished task, with the indexes.
struct Weight {
    tasks: u64,
    records: u64,
    events: u64,
    rest: u64,
    events_each: u64,
}

impl Weight {
    async fn of(place: &Place, tasks: u32) -> Self {
        let schema = Place::schema(NAME);
        let of = async |tables: &str| {
            let sql = format!(
                "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
                 JOIN pg_namespace n ON n.oid = c.relnamespace
                 WHERE n.nspname = '{schema}' AND c.relkind = 'r' AND c.relname {tables}"
            );
            place.number(&sql).await / u64::from(tasks)
        };
        Self {
            tasks: of("= 'tasks'").await,
            records: of("= 'records'").await,
            events: of("= 'events'").await,
            rest: of("NOT IN ('tasks', 'records', 'events')").await,
            events_each: place.number(&format!("SELECT count(*) FROM {schema}.events")).await
                / u64::from(tasks),
        }
    }
}

impl Weight {
    fn shown(&self) -> Vec<(&'static str, String)> {
        let Self { tasks, records, events, rest, events_each } = self;
        vec![
            ("bytes on disk for each task, with indexes", (tasks + records + events + rest).to_string()),
            (
                "of them the task, its attempt, its events, the rest",
                format!("{tasks} + {records} + {events} + {rest}"),
            ),
            ("events of each", events_each.to_string()),
        ]
    }
}

/// Measures; returns also how many tasks it took for that.
async fn look(place: &Place, store: &PostgresStore, size: u32) -> (u32, Vec<(&'static str, String)>) {
    let extra = CALLS + 20 + CYCLES + CLIENTS;
    fill(store, size, extra).await;
    place.settle().await;
    let [mut claims, mut ends, mut ready, mut pages, mut events] = std::array::from_fn(|_| Vec::new());
    let newest = *store.subscribe().borrow();
    for _ in 0..CALLS {
        let mut claimed = Vec::new();
        claims.push(work::time(async { claimed = store.claim(work::request(1)).await.unwrap() }).await);
        ends.push(work::time(end(store, &claimed[0])).await);
        ready.push(work::time(async { assert_eq!(store.ready(20).await.unwrap().len(), 20) }).await);
        let filter = TaskFilter::default();
        pages.push(
            work::time(async { assert_eq!(store.tasks(&filter, None, 50).await.unwrap().items.len(), 50) })
                .await,
        );
        let after = newest.saturating_sub(100);
        events.push(
            work::time(async { assert_eq!(store.events_after(after, 100).await.unwrap().len(), 100) }).await,
        );
    }
    let rate = per_second(CYCLES, cycles(store).await);
    // What is left over is claimed by nobody else.
    while !store.claim(work::request(AT_ONCE)).await.unwrap().is_empty() {}
    clear_outbox(store).await;
    let values = vec![
        ("claim one, p50 (p99)", shown(&mut claims)),
        ("write its end", shown(&mut ends)),
        ("the first 20 ready", shown(&mut ready)),
        ("a page of 50 tasks", shown(&mut pages)),
        ("the last 100 events", shown(&mut events)),
        ("claim → done cycles with 64 clients", format!("{rate:.0}/s")),
    ];
    (extra, values)
}

fn shown(times: &mut [Duration]) -> String {
    let (p50, p99) = p50_p99(times);
    format!("{p50:.1?} ({p99:.1?})")
}

async fn end(store: &PostgresStore, claimed: &ClaimedTask) {
    work::write(store, whole_life(claimed)).await;
}

async fn cycles(store: &PostgresStore) -> Duration {
    let left = Arc::new(AtomicU32::new(CYCLES));
    let begun = Instant::now();
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let (store, left) = (store.clone(), Arc::clone(&left));
        clients.spawn(async move {
            let take = |left: u32| left.checked_sub(1);
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
                let claimed = store.claim(work::request(1)).await.unwrap();
                end(&store, &claimed[0]).await;
            }
        });
    }
    clients.join_all().await;
    begun.elapsed()
}
