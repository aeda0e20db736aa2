//! Kills a writer process at random moments: everything it acknowledged is stored, and nothing is stored in part.
//!
//! The test runs itself as the writer. `BATON_KILLS` sets the number of kills; `BATON_DICE` repeats the moments of a
//! failed run.

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use baton_core::base::id::{AttemptId, TaskId};
use baton_core::task::state::StateName;
use baton_store::model::claim::ClaimRequest;
use baton_store::model::query::TaskFilter;
use baton_store::{Backend, SqliteOptions, SqliteStore};

use crate::sqlite::Sqlite;
use crate::suite::make::{complete, create_all, created, request, settled, task_id, write};
use crate::suite::{Fixture, run};

const WRITER: &str = "BATON_TEST_WRITER";
const FIRST: &str = "BATON_TEST_FIRST";
/// Concurrent writers in the process, so that they share commits.
const LANES: u32 = 4;
/// Ids one run of the writer may use.
const PER_LIFE: u32 = 100_000;
/// Runs that share a store before the next gets an empty one.
const LIVES_PER_STORE: u32 = 25;

/// Not a test: the process the tests start and kill. Does nothing by itself.
#[test]
fn writer_process() {
    let (Ok(path), Ok(first)) = (env::var(WRITER), env::var(FIRST)) else { return };
    let first: u32 = first.parse().unwrap();
    run(async move {
        let store = SqliteStore::open(Path::new(&path), SqliteOptions::default()).unwrap();
        say("open", 0);
        let lanes: Vec<_> =
            (0..LANES).map(|lane| tokio::spawn(lane_of_work(store.clone(), first, lane))).collect();
        for lane in lanes {
            lane.await.unwrap();
        }
    });
}

/// Creates a task and a dependent, claims the next task and settles it, in a loop.
async fn lane_of_work(store: SqliteStore, first: u32, lane: u32) {
    for round in 0..PER_LIFE / LANES / 2 {
        let number = first + (round * LANES + lane) * 2;
        write(&store, created(number, &[]).and(created(number + 1, &[number]))).await;
        say("made", number);
        // Never used by an earlier run of the writer.
        let attempt_ids = vec![AttemptId::from_bits(1 << 40 | u64::from(number))];
        let wanted = ClaimRequest { attempt_ids, ..request(&format!("lane-{lane}"), 0) };
        for claimed in store.claim(wanted).await.unwrap() {
            let task = claimed.task.value.id().bits();
            say("claimed", task);
            write(&store, settled(&claimed, complete(), 10)).await;
            say("done", task);
        }
    }
}

fn say(what: &str, number: u32) {
    let mut out = std::io::stdout().lock();
    // One write per line: a complete line was acknowledged before.
    out.write_all(format!("\n{what} {number}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

fn start_writer(path: &Path, first: u32) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["kill::writer_process", "--exact", "--nocapture", "--test-threads=1"])
        .env(WRITER, path)
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The writer's output.
#[derive(Default)]
struct Said {
    made: BTreeSet<u32>,
    claimed: BTreeSet<u32>,
    done: BTreeSet<u32>,
}

impl Said {
    fn hear(&mut self, line: &str) -> bool {
        let Some((what, number)) = line.split_once(' ') else { return false };
        let Ok(number) = number.trim().parse() else { return false };
        match what {
            "made" => self.made.insert(number),
            "claimed" => self.claimed.insert(number),
            "done" => self.done.insert(number),
            _ => false,
        }
    }
}

/// Pseudo-random numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// Waits exactly this long: the scheduler would round it.
fn spin(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Lets the writer run for some acknowledgements and a little more, then kills it. Returns its output.
fn live_and_die(path: &Path, first: u32, dice: &mut Dice) -> Said {
    let mut writer = start_writer(path, first);
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut said = Said::default();
    // Sometimes it dies while opening the file.
    let acknowledgements = if dice.roll(8) == 0 { 0 } else { dice.roll(120) };
    let mut heard = 0;
    while heard < acknowledgements {
        let Some(line) = lines.next() else { panic!("the writer ended by itself") };
        heard += u64::from(said.hear(&line.unwrap()));
    }
    // The moment must not be synchronised with the writer's commits.
    spin(Duration::from_micros(dice.roll(if heard == 0 { 20_000 } else { 1_500 })));
    writer.kill().unwrap();
    writer.wait().unwrap();
    lines.map_while(Result::ok).for_each(|line| {
        said.hear(&line);
    });
    said
}

#[test]
fn acknowledged_changes_survive_a_kill() {
    let kills: u32 = env::var("BATON_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    let from_clock =
        || u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let first = env::var("BATON_DICE").ok().and_then(|text| text.parse().ok()).unwrap_or_else(from_clock);
    println!("BATON_DICE={first}");
    let mut dice = Dice(first);
    let mut place = Sqlite::new();
    let mut all = Said::default();
    for life in 0..kills {
        if life % LIVES_PER_STORE == 0 {
            (place, all) = (Sqlite::new(), Said::default());
        }
        let said = live_and_die(&place.path(), life % LIVES_PER_STORE * PER_LIFE, &mut dice);
        all.made.extend(said.made);
        all.claimed.extend(said.claimed);
        all.done.extend(said.done);
        run(check(&place, &all));
    }
}

async fn check(place: &Sqlite, said: &Said) {
    let store = place.open().await;
    let tasks = store.tasks(&TaskFilter::default(), None, u32::MAX).await.unwrap().items;
    let numbers: BTreeSet<u32> = tasks.iter().map(|task| task.value.id().bits()).collect();
    assert!(said.made.is_subset(&numbers), "lost: {:?}", said.made.difference(&numbers));
    let is = |name: StateName| tasks.iter().filter(move |task| task.value.state().name() == name);
    let done: BTreeSet<u32> = is(StateName::Done).map(|task| task.value.id().bits()).collect();
    assert!(said.done.is_subset(&done), "lost: {:?}", said.done.difference(&done));
    let claimed: BTreeSet<u32> = is(StateName::Claimed).map(|task| task.value.id().bits()).collect();
    let begun: BTreeSet<u32> = done.union(&claimed).copied().collect();
    assert!(said.claimed.is_subset(&begun), "lost: {:?}", said.claimed.difference(&begun));

    // Atomicity: a pair is complete, a claim has its lease, every version has its event.
    let mut expected: BTreeSet<TaskId> = BTreeSet::new();
    for number in &numbers {
        let pair = number / 2 * 2;
        assert!(numbers.contains(&pair) && numbers.contains(&(pair + 1)), "half of {pair}");
        let waits_on = store.dependencies(task_id(*number)).await.unwrap();
        let on: Vec<u32> = waits_on.iter().map(|edge| edge.on.bits()).collect();
        assert_eq!(on, if number % 2 == 1 { vec![pair] } else { Vec::new() });
        assert!(waits_on.iter().all(|edge| edge.is_met == done.contains(&edge.on.bits())));
        if !begun.contains(number) && waits_on.iter().all(|edge| edge.is_met) {
            expected.insert(task_id(*number));
        }
    }
    let ready = store.ready(u32::MAX).await.unwrap();
    assert_eq!(ready.iter().map(|task| task.value.id()).collect::<BTreeSet<_>>(), expected);
    assert_eq!(store.ready_count().await.unwrap(), expected.len() as u64);
    let leases: BTreeSet<u32> = store.leases().await.unwrap().iter().map(|lease| lease.task.bits()).collect();
    assert_eq!(leases, claimed);
    let events = store.events_after(0, u32::MAX).await.unwrap();
    assert!(events.iter().map(|line| line.seq).eq(1..=events.len() as u64), "a gap");
    // Created, claimed, attempt ended, done.
    assert_eq!(events.len(), numbers.len() + begun.len() + 2 * done.len());
    store.close().await.unwrap();
}

#[test]
fn unblocking_resumes_after_a_kill() {
    const WIDTH: u32 = 5_000;
    let place = Sqlite::new();
    run(async {
        let store = place.open().await;
        write(&store, created(0, &[])).await;
        create_all(&store, 1, &vec![vec![0]; WIDTH as usize]).await;
        store.close().await.unwrap();
    });
    // Its first claim is the root; once that is done, its dependents are being unblocked.
    let mut writer = start_writer(&place.path(), 1_000_000);
    let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let root_is_done = lines.map_while(Result::ok).any(|line| line == "done 0");
    writer.kill().unwrap();
    writer.wait().unwrap();
    assert!(root_is_done);
    run(async {
        let store = place.open().await;
        let mut news = store.subscribe();
        loop {
            news.borrow_and_update();
            let dependents = store.dependents(task_id(0), None, WIDTH).await.unwrap();
            assert_eq!(dependents.len(), WIDTH as usize);
            if dependents.iter().all(|edge| edge.is_met) {
                break;
            }
            news.changed().await.unwrap();
        }
    });
}

#[test]
fn a_command_beside_a_busy_server_never_fails() {
    const COMMANDS: u32 = 40;
    let place = Sqlite::new();
    let mut server = start_writer(&place.path(), 1_000_000);
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    assert!(lines.by_ref().map_while(Result::ok).any(|line| line == "open 0"));
    let listening = std::thread::spawn(move || {
        lines.map_while(Result::ok).filter(|line| line.starts_with("made")).count()
    });
    run(async {
        for number in 0..COMMANDS {
            let store = place.open().await;
            write(&store, created(number, &[])).await;
            assert!(store.task(task_id(number)).await.unwrap().is_some());
            store.close().await.unwrap();
        }
    });
    assert!(server.try_wait().unwrap().is_none(), "the server did not fail either");
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(listening.join().unwrap() > 0);
}
