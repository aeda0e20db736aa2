//! The writer's transaction: the connection, the moment it began, and the numbers it counts with.

use std::collections::BTreeMap;

use baton_core::base::id::ProjectId;
use baton_core::base::time::Timestamp;
use rusqlite::{Connection, Params, Statement};

use super::fault::Fault;
use super::running::Running;
use super::sharing;
use super::statements::Statements;

/// Read when the transaction begins and written when it ends, so that every change in between counts in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    pub last_seq: i64,
    pub last_effect: i64,
    pub ready: i64,
    pub unaccepted: i64,
    /// Whether `ready_shares` is kept, which it is once there were limits on whose work runs.
    pub keeps_shares: bool,
}

/// Begun and committed again and again, for the sake of its statements. Nothing else of it outlives a transaction:
/// another process may write in between.
pub struct Batch<'c> {
    pub conn: &'c Connection,
    statements: Statements<'c>,
    /// The store's clock when the transaction began.
    pub now: Timestamp,
    pub counters: Counters,
    stored: Counters,
    /// Read when the first lease begins or ends.
    running: Option<Running>,
    /// Read when the first work is claimed.
    own_limits: Option<BTreeMap<ProjectId, u32>>,
}

/// What is undone when a piece of work is not to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undoing {
    /// The whole transaction, by whoever began it.
    All,
    /// What this piece has written, back to its savepoint.
    Each,
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
    pub fn new(conn: &'c Connection) -> Self {
        Self {
            conn,
            statements: Statements::new(conn),
            now: Timestamp::from_ms(0),
            counters: Counters::default(),
            stored: Counters::default(),
            running: None,
            own_limits: None,
        }
    }

    pub fn begin(&mut self, now: Timestamp) -> Result<(), Fault> {
        self.run("BEGIN IMMEDIATE", [])?;
        self.now = now;
        self.counters = self.read_counters()?;
        self.stored = self.counters;
        self.running = None;
        self.own_limits = None;
        Ok(())
    }

    pub fn commit(&mut self) -> Result<Counters, Fault> {
        if let Some(running) = &self.running {
            running.write(self.conn)?;
        }
        if self.stored != self.counters {
            let sql = "UPDATE counters SET last_seq = ?1, last_effect = ?2, ready = ?3, unaccepted = ?4,
                keeps_shares = ?5";
            let Counters { last_seq, last_effect, ready, unaccepted, keeps_shares } = self.counters;
            self.run(sql, (last_seq, last_effect, ready, unaccepted, keeps_shares))?;
        }
        self.run("COMMIT", [])?;
        Ok(self.counters)
    }

    /// Every statement inside the transaction is one of these.
    pub fn statement(&mut self, sql: &'static str) -> rusqlite::Result<&mut Statement<'c>> {
        self.statements.get(sql)
    }

    /// Returns how many rows it changed.
    pub fn run(&mut self, sql: &'static str, params: impl Params) -> Result<usize, Fault> {
        Ok(self.statement(sql)?.execute(params)?)
    }

    /// Runs one piece of work, which says whether to keep what it did. False when the whole transaction has to be
    /// undone with it.
    pub fn one(&mut self, undoing: Undoing, work: impl FnOnce(&mut Self) -> bool) -> Result<bool, Fault> {
        match undoing {
            Undoing::All => Ok(self.one_with_all(work)),
            Undoing::Each => self.one_apart(work).map(|()| true),
        }
    }

    fn one_with_all(&mut self, work: impl FnOnce(&mut Self) -> bool) -> bool {
        let (before, changes) = (self.counters, self.conn.total_changes());
        let is_kept = work(self);
        if !is_kept {
            self.counters = before;
        }
        // Most that fail do so at their first guard, with nothing written yet.
        is_kept || self.conn.total_changes() == changes
    }

    fn one_apart(&mut self, work: impl FnOnce(&mut Self) -> bool) -> Result<(), Fault> {
        self.run("SAVEPOINT one", [])?;
        let before = (self.counters, self.running.clone());
        let is_kept = work(self);
        if self.conn.is_autocommit() {
            // SQLite undid the whole transaction itself, as it does when the disk is full.
            return Ok(());
        }
        if !is_kept {
            self.run("ROLLBACK TO one", [])?;
            (self.counters, self.running) = before;
            self.own_limits = None;
        }
        self.run("RELEASE one", [])?;
        Ok(())
    }

    /// Puts a task among the ready ones, or takes it out. Doing so twice counts once.
    pub fn set_ready(&mut self, key: &ReadyKey, is_ready: bool) -> Result<(), Fault> {
        let values = (&key.role, key.rank, key.created_ms, key.task);
        if is_ready {
            let sql = "INSERT OR IGNORE INTO ready (role, rank, created_ms, task) VALUES (?1, ?2, ?3, ?4)";
            self.counters.ready += i64::try_from(self.run(sql, values)?).unwrap_or(0);
        } else {
            let sql = "DELETE FROM ready WHERE role = ?1 AND rank = ?2 AND created_ms = ?3 AND task = ?4";
            self.counters.ready -= i64::try_from(self.run(sql, values)?).unwrap_or(0);
        }
        if self.counters.keeps_shares { self.set_ready_share(key, is_ready) } else { Ok(()) }
    }

    fn set_ready_share(&mut self, key: &ReadyKey, is_ready: bool) -> Result<(), Fault> {
        if is_ready {
            let sql = "INSERT OR REPLACE INTO ready_shares (task, role, project, person, rank, created_ms)
                SELECT id, role, coalesce(project, -1), coalesce(person, ''), ?2, created_ms FROM tasks WHERE id = ?1";
            self.run(sql, (key.task, key.rank))?;
        } else {
            self.run("DELETE FROM ready_shares WHERE task = ?1", [key.task])?;
        }
        Ok(())
    }

    /// The limits that projects have of their own.
    pub fn own_limits(&mut self) -> Result<BTreeMap<ProjectId, u32>, Fault> {
        let limits = match self.own_limits.take() {
            Some(limits) => limits,
            None => sharing::own_limits(self)?,
        };
        Ok(self.own_limits.insert(limits).clone())
    }

    /// One of them changed.
    pub fn forget_limits(&mut self) {
        self.own_limits = None;
    }

    pub fn running(&mut self) -> Result<&mut Running, Fault> {
        let running = match self.running.take() {
            Some(running) => running,
            None => Running::read(self.conn)?,
        };
        Ok(self.running.insert(running))
    }

    fn read_counters(&mut self) -> rusqlite::Result<Counters> {
        let sql = "SELECT last_seq, last_effect, ready, unaccepted, keeps_shares FROM counters";
        self.statement(sql)?.query_row([], |row| {
            Ok(Counters {
                last_seq: row.get(0)?,
                last_effect: row.get(1)?,
                ready: row.get(2)?,
                unaccepted: row.get(3)?,
                keeps_shares: row.get(4)?,
            })
        })
    }
}
