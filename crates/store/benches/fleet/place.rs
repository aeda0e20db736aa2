//! The server that is measured, and what can be seen of it from outside.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use baton_store::{PostgresOptions, PostgresStore};
use tokio_postgres::{Client, NoTls};

use crate::server::Server;

/// Enough for a hundred machines and two servers, each with all the connections a store may open.
const CONNECTIONS_MAX: u32 = 1_200;
/// The kernel counts the processor's time in these.
const TICK: Duration = Duration::from_millis(10);

/// How long each measurement lasts; `BATON_BENCH_SECONDS` sets it.
pub(crate) fn lasts(seconds: u64) -> Duration {
    let set = env::var("BATON_BENCH_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(set.unwrap_or(seconds))
}

pub(crate) struct Place {
    /// Gone with this, where it was started here.
    own: Option<Server>,
    pub(crate) address: String,
    client: Client,
}

impl Place {
    pub(crate) async fn new(name: &str) -> Self {
        let (own, address) = if let Ok(address) = env::var("BATON_TEST_POSTGRES") {
            (None, address)
        } else {
            let server = Server::created(name).unwrap();
            server.set(&format!(
                "listen_addresses = ''\nmax_connections = {CONNECTIONS_MAX}\nshared_buffers = 256MB\n\
                 max_wal_size = 4GB\nlog_min_messages = fatal\n"
            ));
            if env::var("BATON_BENCH_STATEMENTS").is_ok() {
                server.set("shared_preload_libraries = 'pg_stat_statements'\n");
            }
            server.start_as_set();
            let address = server.address();
            (Some(server), address)
        };
        let (client, connection) = tokio_postgres::connect(&address, NoTls).await.unwrap();
        tokio::spawn(connection);
        // Refused where the library is not loaded, and then nobody asks for it.
        let _ = client.batch_execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements").await;
        Self { own, address, client }
    }

    pub(crate) fn namespace(name: &str) -> String {
        format!("fleet_{name}_{}", std::process::id())
    }

    pub(crate) fn schema(name: &str) -> String {
        format!("baton_{}", Self::namespace(name))
    }

    pub(crate) async fn open(&self, name: &str) -> PostgresStore {
        PostgresStore::open(&PostgresOptions::new(&self.address, Self::namespace(name))).await.unwrap()
    }

    pub(crate) async fn remove(&self, name: &str) {
        let sql = format!("DROP SCHEMA \"{}\" CASCADE", Self::schema(name));
        self.client.batch_execute(&sql).await.unwrap();
    }

    /// Lets the server finish what filling a store leaves it to do, so that only what comes after is measured.
    pub(crate) async fn settle(&self) {
        self.client.batch_execute("VACUUM ANALYZE").await.unwrap();
        self.client.batch_execute("CHECKPOINT").await.unwrap();
    }

    pub(crate) async fn number(&self, sql: &str) -> u64 {
        let row = self.client.query_one(sql, &[]).await.unwrap();
        u64::try_from(row.get::<_, i64>(0)).unwrap_or(0)
    }

    /// Where the server was started with `BATON_BENCH_STATEMENTS`, the statements that took most of its time.
    pub(crate) async fn print_statements(&self) {
        let sql =
            "SELECT calls, round(total_exec_time)::bigint, left(regexp_replace(query, '\\s+', ' ', 'g'), 110), rows
            FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT 15";
        for row in self.client.query(sql, &[]).await.unwrap_or_default() {
            let (calls, ms, query): (i64, i64, String) = (row.get(0), row.get(1), row.get(2));
            let rows: i64 = row.get(3);
            println!("{calls:>8} calls {rows:>8} rows {ms:>8} ms  {query}");
        }
    }

    pub(crate) async fn forget_statements(&self) {
        // Nothing to forget where nothing is kept.
        let _ = self.client.batch_execute("SELECT pg_stat_statements_reset()").await;
    }

    pub(crate) async fn look(&self) -> Look {
        let wal = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint";
        let transactions = "SELECT sum(xact_commit + xact_rollback)::bigint FROM pg_stat_database";
        let connections = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'baton'";
        Look {
            at: Instant::now(),
            server_cpu: self.server_cpu(),
            own_cpu: ticks("/proc/self/stat", true).unwrap_or_default(),
            wal_bytes: self.number(wal).await,
            transactions: self.number(transactions).await,
            connections: self.number(connections).await,
        }
    }

    /// What the server's processes have used so far: the first one knows it of those that have ended.
    fn server_cpu(&self) -> Option<Duration> {
        let folder: PathBuf = self.own.as_ref()?.folder().to_owned();
        let pids = fs::read_to_string(folder.join("data/postmaster.pid")).ok()?;
        let first = pids.lines().next()?.trim().to_owned();
        let children = fs::read_to_string(format!("/proc/{first}/task/{first}/children")).ok()?;
        let living = children.split_whitespace().filter_map(|pid| ticks(&format!("/proc/{pid}/stat"), false));
        Some(ticks(&format!("/proc/{first}/stat"), true)? + living.sum::<Duration>())
    }
}

/// The processor's time a process has used, with or without its children that have ended.
fn ticks(stat: &str, with_ended: bool) -> Option<Duration> {
    let text = fs::read_to_string(stat).ok()?;
    // The name may hold anything, but no other bracket closes after it.
    let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
    let own_and_ended = fields.get(11..if with_ended { 15 } else { 13 })?;
    let ticks: u32 = own_and_ended.iter().filter_map(|field| field.parse::<u32>().ok()).sum();
    Some(TICK * ticks)
}

/// How things stood at a moment.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    pub(crate) at: Instant,
    server_cpu: Option<Duration>,
    own_cpu: Duration,
    wal_bytes: u64,
    transactions: u64,
    pub(crate) connections: u64,
}

/// What happened between two looks.
pub(crate) struct Stretch {
    pub(crate) seconds: f64,
    /// How many processors were busy for the server, and for those who asked it.
    pub(crate) server_cores: Option<f64>,
    pub(crate) own_cores: f64,
    pub(crate) wal_bytes: f64,
    pub(crate) transactions_per_second: f64,
}

#[expect(clippy::cast_precision_loss, reason = "measured numbers are far below that")]
impl Look {
    pub(crate) fn until(&self, later: &Self) -> Stretch {
        let seconds = (later.at - self.at).as_secs_f64();
        let cores = |before: Duration, after: Duration| after.saturating_sub(before).as_secs_f64() / seconds;
        Stretch {
            seconds,
            server_cores: self.server_cpu.zip(later.server_cpu).map(|(before, after)| cores(before, after)),
            own_cores: cores(self.own_cpu, later.own_cpu),
            wal_bytes: (later.wal_bytes - self.wal_bytes) as f64,
            transactions_per_second: (later.transactions - self.transactions) as f64 / seconds,
        }
    }
}

impl Stretch {
    pub(crate) fn server_cores(&self) -> String {
        self.server_cores.map_or("–".to_owned(), |cores| format!("{cores:.2}"))
    }
}
