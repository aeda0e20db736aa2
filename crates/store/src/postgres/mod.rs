//! The store on PostgreSQL, for many machines; one schema per namespace.
//!
//! Two background tasks with their own connections write (a committer and a claimer); each puts everything queued
//! into one transaction. Reads use a small pool. The time is the server's, never a worker's.

mod backend;
mod claim;
mod connect;
mod decode;
mod notify;
mod read;
mod retention;
mod schema;
mod upkeep;
mod write;
mod writer;

use std::sync::{Arc, PoisonError};

use tokio::sync::{Mutex, Notify, mpsc, watch};
use tokio::task::JoinSet;

pub use self::connect::connector::PostgresOptions;
pub use self::notify::logs::{LogChannel, LogPiece, LogWatch, PIECE_BYTES_MAX};
pub use self::schema::setup::{SetupNames, setup_sql};

use self::claim::claimer::{self, Claimer};
use self::connect::connector::Connector;
use self::connect::pool::Pool;
use self::decode::count;
use self::notify::feed::CommitFeed;
use self::notify::logs::LogSignals;
use self::notify::{listener, throttle};
use self::schema::migrate;
use self::upkeep::Maintenance;
use self::writer::committer::{self, Committer};
use crate::error::StoreError;

/// Queued changes and claims; further callers wait for room.
const WAITING_MAX: usize = 4_096;

/// A handle to one namespace. Cheap to clone.
#[derive(Clone)]
pub struct PostgresStore {
    inner: Arc<PostgresInner>,
}

struct PostgresInner {
    connector: Connector,
    pool: Arc<Pool>,
    feed: CommitFeed,
    logs: LogSignals,
    /// Taken by `close`; the background tasks end when the last sender is gone.
    senders: std::sync::Mutex<Option<JobSenders>>,
    closing: watch::Sender<bool>,
    tasks: Mutex<JoinSet<()>>,
}

#[derive(Clone)]
struct JobSenders {
    commits: mpsc::Sender<committer::CommitJob>,
    claims: mpsc::Sender<claimer::ClaimJob>,
}

impl PostgresStore {
    /// Connects, migrates the schema and starts the background tasks.
    pub async fn open(options: &PostgresOptions) -> Result<Self, StoreError> {
        let connector = Connector::new(options)?;
        migrate::migrate(&connector, &options.progress).await?;
        let pool = Arc::new(Pool::new(connector.clone()));
        let rows = pool.query("opening", "SELECT seq FROM counter", &[]).await?;
        let feed = CommitFeed::new(count(rows.first()));
        let unblocking = Arc::new(Notify::new());
        let upkeep = Maintenance::default();
        let (closing, logs) = (watch::Sender::new(false), LogSignals::default());
        let (commits, commit_jobs) = mpsc::channel(WAITING_MAX);
        let (claims, claim_jobs) = mpsc::channel(WAITING_MAX);

        let mut tasks = JoinSet::new();
        let committer = Committer::new(connector.clone(), feed.clone(), unblocking.clone());
        tasks.spawn(committer.run(commit_jobs));
        tasks.spawn(Claimer::new(connector.clone(), feed.clone(), upkeep.clone()).run(claim_jobs));
        tasks.spawn(upkeep.vacuum(pool.clone(), closing.subscribe()));
        tasks.spawn(upkeep::unblock(connector.clone(), pool.clone(), unblocking, closing.subscribe()));
        tasks.spawn(throttle::run(connector.clone(), pool.clone(), feed.clone(), closing.subscribe()));
        tasks.spawn(listener::listen(connector.clone(), feed.clone(), logs.clone(), closing.subscribe()));

        let senders = std::sync::Mutex::new(Some(JobSenders { commits, claims }));
        let inner = PostgresInner { connector, pool, feed, logs, senders, closing, tasks: Mutex::new(tasks) };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The namespaces in a database.
    pub async fn namespaces(url: &str) -> Result<Vec<String>, StoreError> {
        const DOING: &str = "listing the namespaces";
        let conn = Connector::new(&PostgresOptions::new(url, "any"))?.open().await?;
        let sql = "SELECT substr(n.nspname, 7) FROM pg_namespace n WHERE starts_with(n.nspname, 'baton_') AND EXISTS
            (SELECT FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'schema_version') ORDER BY 1";
        let rows = conn.query(DOING, sql, &[]).await.map_err(|fault| fault.into_error(DOING))?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// The channel to logs on other machines.
    pub fn log_channel(&self) -> LogChannel {
        let (pool, signals) = (self.inner.pool.clone(), self.inner.logs.clone());
        LogChannel { pool, signals, channel: self.inner.connector.schema().to_owned() }
    }

    fn senders(&self) -> Result<JobSenders, StoreError> {
        self.inner.senders.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or(StoreError::Closed)
    }

    async fn shut_down(&self) {
        drop(self.inner.senders.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.inner.closing.send_replace(true);
        let mut tasks = self.inner.tasks.lock().await;
        while tasks.join_next().await.is_some() {}
        // Announces the last commits.
        throttle::announce(&self.inner.connector, &self.inner.pool, &self.inner.feed).await;
        self.inner.pool.close();
    }
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").field("place", &self.inner.connector.place()).finish_non_exhaustive()
    }
}
