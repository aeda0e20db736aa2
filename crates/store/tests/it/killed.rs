//! Kills processes that write to PostgreSQL, again and again.

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead, BufReader, Write, stdout};
use std::process::{Child, Command, Stdio};

use baton_core::base::id::{AttemptId, TaskId};
use baton_core::task::state::QueueName;
use baton_store::model::claim::ClaimRequest;
use baton_store::model::commit::Commit;
use baton_store::{Backend, PostgresOptions, PostgresStore};

use crate::postgres::{Postgres, run};
use crate::suite::Fixture;
use crate::suite::make::{complete, created, request, settled, task_id};

/// How often, unless `BATON_KILLS` is set.
const KILLS: u32 = 200;
const KILLS_VARIABLE: &str = "BATON_KILLS";
/// For the writer process: address, namespace and number of the writer.
const WRITER_VARIABLE: &str = "BATON_TEST_WRITER";
/// Keeps the task ids of different writers apart.
const PER_WRITER: u32 = 100_000;
const LANES: u32 = 4;

/// What a writer reported as acknowledged.
#[derive(Default)]
struct Acknowledged {
    /// The first of each pair of tasks.
    pairs: Vec<TaskId>,
    done: Vec<TaskId>,
}

#[test]
fn acknowledged_changes_of_a_killed_process_are_stored() {
    run(async {
        let place = Postgres::new();
        let store = place.open().await;
        let kills = env::var(KILLS_VARIABLE).map_or(KILLS, |kills| kills.parse().unwrap());
        let mut known = Acknowledged::default();
        for number in 0..kills {
            tokio::task::block_in_place(|| write_and_kill(&place.options, number, &mut known));
        }
        check(&store, &known).await;
        check_counters(&place.options).await;
        assert!(known.pairs.len() > kills as usize && !known.done.is_empty(), "the writers got somewhere");
    });
}

/// The writer process: prints a line for everything acknowledged.
pub(crate) fn start_writer(options: &PostgresOptions, number: u32) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "killed::writer", "--ignored", "--nocapture"])
        .env(WRITER_VARIABLE, format!("{}\n{}\n{number}", options.url, options.namespace))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Starts a writer, reads a different number of lines each time, and kills it.
fn write_and_kill(options: &PostgresOptions, number: u32, known: &mut Acknowledged) {
    let mut writer = start_writer(options, number);
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut note = |line: &str| {
        match line.split_once(' ') {
            Some(("pair", id)) => known.pairs.push(id.parse().unwrap()),
            Some(("done", id)) => known.done.push(id.parse().unwrap()),
            _ => return false,
        }
        true
    };
    let enough = number % 23;
    let mut said = 0;
    while said < enough {
        let line = lines.next().expect("the writer goes on until it is killed");
        said += u32::from(note(&line));
    }
    writer.kill().unwrap();
    // Complete lines count as acknowledged; a truncated one does not.
    let rest: Vec<String> = lines.collect();
    for line in &rest {
        note(line);
    }
    writer.wait().unwrap();
}

#[test]
#[ignore = "not a test: the process that is killed"]
fn writer() {
    let Ok(told) = env::var(WRITER_VARIABLE) else { return };
    let [url, namespace, number] = told.splitn(3, '\n').collect::<Vec<_>>().try_into().unwrap();
    let base = number.parse::<u32>().unwrap() * PER_WRITER;
    run(async move {
        let store = PostgresStore::open(&PostgresOptions::new(url, namespace)).await.unwrap();
        let lanes: Vec<_> = (0..LANES)
            .map(|lane| tokio::spawn(write_for_ever(store.clone(), base + lane * PER_WRITER / LANES)))
            .collect();
        for lane in lanes {
            lane.await.unwrap();
        }
    });
}

/// Creates a pair of dependent tasks, claims one and settles it.
async fn write_for_ever(store: PostgresStore, base: u32) {
    for pair in 0.. {
        let first = base + pair * 2;
        let answer = store.commit(created(first, &[]).and(created(first + 1, &[first]))).await.unwrap();
        assert!(matches!(answer, Commit::Written { .. }), "{answer:?}");
        say(&format!("pair {}", task_id(first)));
        // Each writer knows nothing of the previous ones, so its ids are derived from its number.
        let attempt_ids = vec![AttemptId::from_bits(u64::from(first))];
        for claimed in store.claim(ClaimRequest { attempt_ids, ..request("writer", 0) }).await.unwrap() {
            let answer = store.commit(settled(&claimed, complete(), 10)).await.unwrap();
            assert!(matches!(answer, Commit::Written { .. }), "{answer:?}");
            say(&format!("done {}", claimed.task.value.id()));
        }
    }
}

/// One write, so that a line is complete or absent.
fn say(line: &str) {
    let mut out = stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

async fn check(store: &PostgresStore, known: &Acknowledged) {
    for first in &known.pairs {
        for id in [*first, TaskId::from_bits(first.bits() + 1)] {
            assert!(store.task(id).await.unwrap().is_some(), "{id} was acknowledged and is lost");
        }
    }
    for id in &known.done {
        let task = store.task(*id).await.unwrap().unwrap().value;
        assert_eq!(task.state().queue(), QueueName::Done, "{id}");
    }
    assert_eq!(
        known.done.iter().collect::<BTreeSet<_>>().len(),
        known.done.len(),
        "none is done twice (I16)"
    );
    let mut seq = 0;
    loop {
        let events = store.events_after(seq, 10_000).await.unwrap();
        let Some(last) = events.last() else { break };
        assert_eq!(last.seq, seq + events.len() as u64, "the numbers have no gaps");
        seq = last.seq;
    }
}

/// All counters match a recount, and no change is stored in part.
pub(crate) async fn check_counters(options: &PostgresOptions) {
    let (client, connection) = tokio_postgres::connect(&options.url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("SET search_path = \"baton_{}\"", options.namespace)).await.unwrap();
    for (fault, sql) in [
        (
            "open blockers counted wrongly",
            "SELECT count(*) FROM tasks t WHERE open_blockers <>
                (SELECT count(*) FROM edges e WHERE e.task = t.id AND NOT e.is_met)",
        ),
        (
            "edges that do not know that their blocker is done",
            "SELECT count(*) FROM edges e JOIN tasks b ON b.id = e.blocker
             WHERE e.is_met <> b.is_done AND e.blocker NOT IN (SELECT blocker FROM unblocking)",
        ),
        (
            "tasks that are ready and not listed, or listed and not ready",
            "SELECT count(*) FROM tasks t FULL JOIN ready r ON r.id = t.id
             WHERE (r.id IS NOT NULL) <> coalesce(t.is_claimable AND t.open_blockers = 0, false) OR r.rank <> t.rank",
        ),
        (
            "claims without a lease, or leases without a claim",
            "SELECT count(*) FROM (SELECT id FROM tasks WHERE status = 'RUNNING' AND queue = 'claimed') t
             FULL JOIN leases l ON l.task = t.id WHERE t.id IS NULL OR l.task IS NULL",
        ),
        (
            "events lost or too many",
            "SELECT abs((SELECT seq FROM counter) - (SELECT count(*) FROM events))",
        ),
        (
            "tasks without the event of their making",
            "SELECT count(*) FROM tasks t WHERE NOT EXISTS (SELECT FROM events e WHERE e.task = t.id)",
        ),
    ] {
        let found: i64 = client.query_one(sql, &[]).await.unwrap().get(0);
        assert_eq!(found, 0, "{fault}");
    }
}
