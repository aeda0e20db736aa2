//! One transaction of the writer: the connection, the moment it began, and the numbers it counts with.

use baton_core::schedule::Load;
use baton_core::text::{AgentName, Role};
use baton_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use super::fault::Fault;
use super::rows::name;

/// Read when the transaction begins and written when it ends, so that every change in between counts in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    pub last_seq: i64,
    pub last_effect: i64,
    pub ready: i64,
    pub unaccepted: i64,
}

/// Lives from BEGIN to COMMIT. Nothing of it may outlive the transaction: another process writes in between.
pub struct Batch<'c> {
    pub conn: &'c Connection,
    /// The store's clock when the transaction began.
    pub now: Timestamp,
    pub counters: Counters,
    /// What runs, as the first claim found it and those after it added to it. Forgotten when a lease ends.
    load: Option<Load>,
}

/// A claimable task's place in the table of ready ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyKey {
    pub role: String,
    pub rank: i64,
    pub created_ms: i64,
    pub task: i64,
}

impl<'c> Batch<'c> {
    pub fn begin(conn: &'c Connection, now: Timestamp) -> Result<Self, Fault> {
        conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let counters = read_counters(conn)?;
        Ok(Self { conn, now, counters, load: None })
    }

    pub fn commit(self) -> Result<Counters, Fault> {
        if read_counters(self.conn)? != self.counters {
            self.conn
                .prepare_cached(
                    "UPDATE counters SET last_seq = ?1, last_effect = ?2, ready = ?3, unaccepted = ?4",
                )?
                .execute((
                    self.counters.last_seq,
                    self.counters.last_effect,
                    self.counters.ready,
                    self.counters.unaccepted,
                ))?;
        }
        self.conn.prepare_cached("COMMIT")?.execute([])?;
        Ok(self.counters)
    }

    /// Runs one piece of work that can be undone by itself. `work` says whether to keep what it did.
    pub fn one<T>(&mut self, work: impl FnOnce(&mut Self) -> (bool, T)) -> Result<T, Fault> {
        self.conn.prepare_cached("SAVEPOINT one")?.execute([])?;
        let before = self.counters;
        let (is_kept, result) = work(self);
        if self.conn.is_autocommit() {
            // SQLite undid the whole transaction itself, as it does when the disk is full.
            return Ok(result);
        }
        if !is_kept {
            self.conn.prepare_cached("ROLLBACK TO one")?.execute([])?;
            self.counters = before;
            self.load = None;
        }
        self.conn.prepare_cached("RELEASE one")?.execute([])?;
        Ok(result)
    }

    /// Puts a task among the ready ones, or takes it out. Doing so twice counts once.
    pub fn set_ready(&mut self, key: &ReadyKey, is_ready: bool) -> Result<(), Fault> {
        let values = (&key.role, key.rank, key.created_ms, key.task);
        if is_ready {
            let sql = "INSERT OR IGNORE INTO ready (role, rank, created_ms, task) VALUES (?1, ?2, ?3, ?4)";
            self.counters.ready +=
                i64::try_from(self.conn.prepare_cached(sql)?.execute(values)?).unwrap_or(0);
        } else {
            let sql = "DELETE FROM ready WHERE role = ?1 AND rank = ?2 AND created_ms = ?3 AND task = ?4";
            self.counters.ready -=
                i64::try_from(self.conn.prepare_cached(sql)?.execute(values)?).unwrap_or(0);
        }
        Ok(())
    }

    pub fn load(&mut self) -> Result<&mut Load, Fault> {
        let load = match self.load.take() {
            Some(load) => load,
            None => read_load(self.conn, self.counters.unaccepted)?,
        };
        Ok(self.load.insert(load))
    }

    pub fn lease_taken(&mut self, role: &Role, agent: &AgentName) -> Result<(), Fault> {
        if let Some(load) = &mut self.load {
            load.start(role, agent);
        }
        let sql = "INSERT INTO running (role, agent, leases) VALUES (?1, ?2, 1)
            ON CONFLICT (role, agent) DO UPDATE SET leases = leases + 1";
        self.conn.prepare_cached(sql)?.execute((role.as_str(), agent.as_str()))?;
        Ok(())
    }

    /// The lease of a closed attempt goes with it.
    pub fn drop_lease(&mut self, attempt: i64) -> Result<(), Fault> {
        let sql = "DELETE FROM leases WHERE attempt = ?1 RETURNING role, agent";
        let ended: Option<(String, String)> = self
            .conn
            .prepare_cached(sql)?
            .query_row([attempt], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        if let Some(pair) = ended {
            self.load = None;
            let sql = "UPDATE running SET leases = leases - 1 WHERE role = ?1 AND agent = ?2";
            self.conn.prepare_cached(sql)?.execute(pair)?;
        }
        Ok(())
    }
}

fn read_counters(conn: &Connection) -> rusqlite::Result<Counters> {
    conn.prepare_cached("SELECT last_seq, last_effect, ready, unaccepted FROM counters")?.query_row(
        [],
        |row| {
            Ok(Counters {
                last_seq: row.get(0)?,
                last_effect: row.get(1)?,
                ready: row.get(2)?,
                unaccepted: row.get(3)?,
            })
        },
    )
}

fn read_load(conn: &Connection, unaccepted: i64) -> Result<Load, Fault> {
    let mut statement = conn.prepare_cached("SELECT role, agent, leases FROM running WHERE leases > 0")?;
    let mut rows = statement.query([])?;
    let mut running = Vec::new();
    while let Some(row) = rows.next()? {
        let role = name(row.get_ref(0)?.as_str(), "lease")?;
        let agent = name(row.get_ref(1)?.as_str(), "lease")?;
        running.push((role, agent, row.get(2)?));
    }
    Ok(Load::of_counts(running, u32::try_from(unaccepted).unwrap_or(u32::MAX)))
}
