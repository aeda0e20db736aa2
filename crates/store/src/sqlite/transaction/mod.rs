//! The writer's transaction: connection, start time and counters.
//!
//! Statements belong in `write`; this only runs, counts and rolls back.

pub(crate) mod lease_counts;
pub(crate) mod statements;
use std::collections::BTreeMap;

use baton_core::base::id::ProjectId;
use baton_core::base::time::Timestamp;
use baton_core::records::change::Versioned;
use baton_core::task::Task;
use rusqlite::{Connection, Params, Statement};

use crate::sqlite::fault::SqliteFault;
use crate::sqlite::rows::{self, project_id};
use crate::sqlite::transaction::lease_counts::LeaseCounts;
use crate::sqlite::transaction::statements::StatementCache;

/// Read at the start of a transaction and written at its end, so that changes in between are counted in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) last_seq: i64,
    pub(crate) last_effect: i64,
    pub(crate) ready: i64,
    pub(crate) unaccepted: i64,
    /// Whether `ready_shares` is maintained: from the first claim under a per-project or per-person limit.
    pub(crate) keeps_shares: bool,
}

/// Reused for transaction after transaction, because of its prepared statements. No other state survives a
/// transaction: another process may write in between.
pub(crate) struct Transaction<'c> {
    pub(crate) conn: &'c Connection,
    statements: StatementCache<'c>,
    /// The store's clock at the start of the transaction.
    pub(crate) now: Timestamp,
    pub(crate) counters: Counters,
    stored: Counters,
    /// Read when the first lease begins or ends.
    running: Option<LeaseCounts>,
    /// Read at the first claim.
    own_limits: Option<BTreeMap<ProjectId, u32>>,
}

/// What to roll back when a job's writes are not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RollbackScope {
    /// The whole transaction; the caller does it.
    Transaction,
    /// This job's writes only.
    Savepoint,
}

/// A claimable task's key in `ready`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadyKey {
    pub(crate) role: String,
    pub(crate) rank: i64,
    pub(crate) created_ms: i64,
    pub(crate) task: i64,
}

impl<'c> Transaction<'c> {
    pub(crate) fn new(conn: &'c Connection) -> Self {
        Self {
            conn,
            statements: StatementCache::new(conn),
            now: Timestamp::from_ms(0),
            counters: Counters::default(),
            stored: Counters::default(),
            running: None,
            own_limits: None,
        }
    }

    pub(crate) fn begin(&mut self, now: Timestamp) -> Result<(), SqliteFault> {
        self.run("BEGIN IMMEDIATE", [])?;
        self.now = now;
        self.counters = self.read_counters()?;
        self.stored = self.counters;
        self.running = None;
        self.own_limits = None;
        Ok(())
    }

    pub(crate) fn commit(&mut self) -> Result<Counters, SqliteFault> {
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

    /// The prepared statement for `sql`.
    pub(crate) fn statement(&mut self, sql: &'static str) -> rusqlite::Result<&mut Statement<'c>> {
        self.statements.get(sql)
    }

    /// Returns the number of rows changed.
    pub(crate) fn run(&mut self, sql: &'static str, params: impl Params) -> Result<usize, SqliteFault> {
        Ok(self.statement(sql)?.execute(params)?)
    }

    /// Runs one job, which returns whether to keep what it wrote. False if the whole transaction must be rolled back.
    pub(crate) fn run_job(
        &mut self,
        scope: RollbackScope,
        work: impl FnOnce(&mut Self) -> bool,
    ) -> Result<bool, SqliteFault> {
        match scope {
            RollbackScope::Transaction => Ok(self.run_unprotected(work)),
            RollbackScope::Savepoint => self.run_in_savepoint(work).map(|()| true),
        }
    }

    fn run_unprotected(&mut self, work: impl FnOnce(&mut Self) -> bool) -> bool {
        let (before, changes) = (self.counters, self.conn.total_changes());
        let is_kept = work(self);
        if !is_kept {
            self.counters = before;
        }
        // Most failures are a guard that does not match, before anything was written.
        is_kept || self.conn.total_changes() == changes
    }

    fn run_in_savepoint(&mut self, work: impl FnOnce(&mut Self) -> bool) -> Result<(), SqliteFault> {
        self.run("SAVEPOINT one", [])?;
        let before = (self.counters, self.running.clone());
        let is_kept = work(self);
        if self.conn.is_autocommit() {
            // SQLite rolled back the whole transaction itself, as on a full disk.
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

    /// Adds a task to `ready` or removes it. Idempotent.
    pub(crate) fn set_ready(&mut self, key: &ReadyKey, is_ready: bool) -> Result<(), SqliteFault> {
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

    fn set_ready_share(&mut self, key: &ReadyKey, is_ready: bool) -> Result<(), SqliteFault> {
        if is_ready {
            let sql = "INSERT OR REPLACE INTO ready_shares (task, role, project, person, rank, created_ms)
                SELECT id, role, coalesce(project, -1), coalesce(person, ''), ?2, created_ms FROM tasks WHERE id = ?1";
            self.run(sql, (key.task, key.rank))?;
        } else {
            self.run("DELETE FROM ready_shares WHERE task = ?1", [key.task])?;
        }
        Ok(())
    }

    /// Limits set on individual projects.
    pub(crate) fn own_limits(&mut self) -> Result<BTreeMap<ProjectId, u32>, SqliteFault> {
        let limits = match self.own_limits.take() {
            Some(limits) => limits,
            None => self.read_own_limits()?,
        };
        Ok(self.own_limits.insert(limits).clone())
    }

    /// Discards the cached limits after a change.
    pub(crate) fn clear_limits(&mut self) {
        self.own_limits = None;
    }

    pub(crate) fn running(&mut self) -> Result<&mut LeaseCounts, SqliteFault> {
        let running = match self.running.take() {
            Some(running) => running,
            None => LeaseCounts::read(self.conn)?,
        };
        Ok(self.running.insert(running))
    }

    /// The task's row as this transaction sees it.
    pub(crate) fn task(&mut self, id: i64) -> Result<Option<Versioned<Task>>, SqliteFault> {
        rows::task_by(self.statement(rows::TASK)?, id)
    }

    fn read_own_limits(&mut self) -> Result<BTreeMap<ProjectId, u32>, SqliteFault> {
        let mut rows = self.statement("SELECT project, at_once FROM project_limits")?.query([])?;
        let mut limits = BTreeMap::new();
        while let Some(row) = rows.next()? {
            limits.insert(project_id(row.get(0)?)?, row.get(1)?);
        }
        Ok(limits)
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
