//! The same writes without a store: one statement to claim with SKIP LOCKED and one to finish, on the same
//! tables with the same indexes, each its own transaction. Events are numbered by a sequence, which leaves gaps.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio_postgres::{NoTls, Statement};

const CLAIM: &str = "WITH c AS (
        SELECT id FROM ready WHERE role = 'implement' ORDER BY rank, created_ms, id LIMIT 1 FOR UPDATE SKIP LOCKED
    ), r AS (DELETE FROM ready USING c WHERE ready.id = c.id
    ), t AS (
        UPDATE tasks SET version = version + 1, body = body || $2, queue = 'claimed', status = 'RUNNING', is_claimable = false
        FROM c WHERE tasks.id = c.id RETURNING tasks.id
    ), a AS (
        INSERT INTO records (kind, key, version, body, task, place, is_open) SELECT 'attempt', $1, 1, $3, id, 1, false FROM t
    ), l AS (
        INSERT INTO leases (attempt, task, worker, role, agent, expires_ms) SELECT $1, id, 'worker', 'implement', 'claude', 0 FROM t
    ), e AS (
        INSERT INTO events (seq, at_ms, task, body) SELECT nextval('raw_seq'), 0, id, $3 FROM t
    ), o AS (
        INSERT INTO outbox (id, body) SELECT nextval('raw_effect'), $2 FROM t
    ) SELECT id FROM t";
const FINISH: &str = "WITH t AS (
        UPDATE tasks SET version = version + 1, body = body || $4, queue = 'done', status = 'COMPLETE', is_done = true
        WHERE id = $2 AND version = 2 RETURNING id
    ), a AS (
        UPDATE records SET version = 2, body = body || $4 WHERE kind = 'attempt' AND key = $1
    ), l AS (DELETE FROM leases WHERE attempt = $1
    ), e AS (
        INSERT INTO events (seq, at_ms, task, body) SELECT nextval('raw_seq'), 0, id, b FROM t, unnest(ARRAY[$3, $4]) AS b
    ), o AS (
        INSERT INTO outbox (id, body) SELECT nextval('raw_effect'), $3 FROM t
    ) SELECT id FROM t";

/// About what core writes for an attempt and its end.
const SHORT: &str = "{\"effect\":\"retire_worktree\",\"attempt\":\"ATT-0000000000000001\"}";

/// A connection with both statements prepared.
pub(crate) struct Client {
    link: tokio_postgres::Client,
    claim: Statement,
    finish: Statement,
}

/// Once for each schema, before anybody connects.
pub(crate) async fn prepare(address: &str, schema: &str) {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
    tokio::spawn(connection);
    let sequences = "CREATE SEQUENCE raw_seq START 10000000; CREATE SEQUENCE raw_effect START 10000000";
    client.batch_execute(&format!("SET search_path = {schema}; {sequences}")).await.unwrap();
}

pub(crate) async fn connect(address: &str, schema: &str, connections: u32) -> Vec<Client> {
    let mut clients = Vec::new();
    for _ in 0..connections {
        let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
            .batch_execute(&format!("SET search_path = {schema}; SET enable_seqscan = off; SET jit = off"))
            .await
            .unwrap();
        let claim = client.prepare(CLAIM).await.unwrap();
        let finish = client.prepare(FINISH).await.unwrap();
        clients.push(Client { link: client, claim, finish });
    }
    clients
}

/// How long `count` cycles take with all these clients at it.
pub(crate) async fn count_down(clients: Vec<Client>, count: u32) -> Duration {
    let left = Arc::new(AtomicU32::new(count));
    let started = Instant::now();
    let is_more =
        move || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
    assert_eq!(cycles(clients, is_more).await, count);
    started.elapsed()
}

/// Each client claims and finishes for as long as there is more to do; returns how many cycles that were.
pub(crate) async fn cycles(clients: Vec<Client>, is_more: impl Fn() -> bool + Clone + Send + 'static) -> u32 {
    let mut running = JoinSet::new();
    for client in clients {
        let is_more = is_more.clone();
        running.spawn(async move {
            let mut count = 0;
            while is_more() && client.cycle().await {
                count += 1;
            }
            count
        });
    }
    running.join_all().await.into_iter().sum()
}

impl Client {
    /// False when there was nothing to claim.
    async fn cycle(&self) -> bool {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let attempt = format!("ATT-{:08x}{:08x}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let (medium, long) = (SHORT.repeat(4), SHORT.repeat(10));
        let claimed = self.link.query_opt(&self.claim, &[&attempt, &SHORT, &medium]).await.unwrap();
        let Some(claimed) = claimed else { return false };
        let id: String = claimed.get(0);
        self.link.query_one(&self.finish, &[&attempt, &id, &medium, &long]).await.unwrap();
        true
    }
}

/// Lets the server finish what filling a store leaves it to do, so that only what comes after is measured.
pub(crate) async fn settle(address: &str) {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("VACUUM ANALYZE").await.unwrap();
    client.batch_execute("CHECKPOINT").await.unwrap();
}
