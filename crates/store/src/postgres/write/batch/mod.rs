//! A batch: changes that share a transaction, checked one after the other against the locked rows.
//!
//! Pure: takes what is known, returns what to write. A change that conflicts leaves no trace.

#[cfg(test)]
mod tests;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use baton_core::base::id::{AttemptId, TaskId};
use baton_core::records::change::{Change, EdgeChange, Record, RecordPut, WriteGuard};
use baton_core::records::effect::Effect;
use baton_core::records::event::Event;

use crate::columns::{TaskColumns, record_key};
use crate::model::commit::Conflict;
use crate::model::lease::Lease;
use crate::postgres::write::cycle::{EdgeKey, find_cycle, resolve_targets};
use crate::postgres::write::facts::{LockedRows, TaskFacts};
use crate::postgres::write::row::{RecordWrite, RowKey, TaskWrite};

/// Everything a transaction writes.
#[derive(Debug, Default)]
pub(crate) struct BatchWrites {
    pub(crate) tasks: BTreeMap<TaskId, TaskWrite>,
    pub(crate) records: BTreeMap<RowKey, RecordWrite>,
    /// New edges, and whether each is met.
    pub(crate) edges: BTreeMap<EdgeKey, bool>,
    /// Stored tasks that became done: their dependents must be unblocked.
    pub(crate) done: BTreeSet<TaskId>,
    /// Tasks that may have to enter or leave `ready`.
    pub(crate) maybe_ready: BTreeSet<TaskId>,
    pub(crate) closed: Vec<AttemptId>,
    pub(crate) leases: Vec<Lease>,
    pub(crate) events: Vec<Event>,
    pub(crate) effects: Vec<Effect>,
}

#[derive(Debug, Default)]
pub(crate) struct WriteBatch {
    known: LockedRows,
    /// New tasks of this batch by the unmet blocker they wait for.
    waiting: HashMap<TaskId, Vec<TaskId>>,
    pub(crate) writes: BatchWrites,
}

/// Whether all edges of a change start at tasks it creates itself. Nothing can depend on those yet, so they cannot
/// close a cycle with stored edges.
pub(crate) fn is_self_contained(change: &Change) -> bool {
    let made: BTreeSet<TaskId> = change.puts.iter().filter_map(created_task).collect();
    change.edges.iter().all(|edge| match edge {
        EdgeChange::Add { task, .. } => made.contains(task),
        EdgeChange::Remove { .. } | EdgeChange::Rewire { .. } => false,
    })
}

fn created_task(put: &RecordPut) -> Option<TaskId> {
    match (&put.record, put.guard) {
        (Record::Task(task), WriteGuard::New) => Some(task.id()),
        _ => None,
    }
}

impl WriteBatch {
    pub(crate) fn new(known: LockedRows) -> Self {
        Self { known, ..Self::default() }
    }

    pub(crate) fn known(&self) -> &LockedRows {
        &self.known
    }

    /// Adds a self-contained change, or returns the conflict and stays unchanged.
    pub(crate) fn add(&mut self, change: Change) -> Result<(), Conflict> {
        let versions = self.check_guards(&change.puts)?;
        let edges = self.check_edges(&change)?;
        self.apply_rows(change, versions);
        for ((task, on), is_met) in edges {
            if self.writes.edges.insert((task, on), is_met).is_none() && !is_met {
                self.waiting.entry(on).or_default().push(task);
                if let Some(write) = self.writes.tasks.get_mut(&task) {
                    write.open_blockers += 1;
                }
            }
        }
        Ok(())
    }

    /// Adds everything but the edges; the caller writes those where it can read the stored ones.
    pub(crate) fn add_rows(&mut self, change: Change) -> Result<(), Conflict> {
        let versions = self.check_guards(&change.puts)?;
        self.apply_rows(change, versions);
        Ok(())
    }

    /// The new version of each row, or the first conflict.
    fn check_guards(&self, puts: &[RecordPut]) -> Result<Vec<u64>, Conflict> {
        let mut own: HashMap<RowKey, u64> = HashMap::new();
        let mut versions = Vec::with_capacity(puts.len());
        for RecordPut { record, guard } in puts {
            let row = record_key(record);
            let found = own.get(&row).or_else(|| self.known.versions.get(&row)).copied();
            let holds = match guard {
                WriteGuard::New => found.is_none(),
                WriteGuard::Version(version) => found == Some(*version),
                WriteGuard::Owned => true,
            };
            if !holds {
                return Err(Conflict::Moved { kind: row.0, key: row.1, expected: *guard, found });
            }
            let version = found.unwrap_or(0) + 1;
            own.insert(row, version);
            versions.push(version);
        }
        Ok(versions)
    }

    /// The edges a self-contained change adds, resolved, and whether each is met.
    fn check_edges(&self, change: &Change) -> Result<Vec<(EdgeKey, bool)>, Conflict> {
        let mut edges = Vec::new();
        if change.edges.is_empty() {
            return Ok(edges);
        }
        let own: HashMap<TaskId, TaskFacts> = change.puts.iter().filter_map(facts).collect();
        let facts_of = |task: &TaskId| own.get(task).or_else(|| self.known.tasks.get(task));
        for edge in &change.edges {
            let EdgeChange::Add { task, on } = edge else { continue };
            for target in
                resolve_targets(*on, facts_of).ok_or(Conflict::UnknownDependency { task: *task, on: *on })?
            {
                let is_met = facts_of(&target).is_some_and(|facts| facts.is_done);
                edges.push(((*task, target), is_met));
            }
        }
        // Only these tasks can depend on one another, so a cycle is among the new edges or nowhere.
        let added: Vec<EdgeKey> = edges.iter().map(|(edge, _)| *edge).collect();
        match find_cycle(&[], &added) {
            Some(path) => Err(Conflict::Cycle { path }),
            None => Ok(edges),
        }
    }

    fn apply_rows(&mut self, change: Change, versions: Vec<u64>) {
        for (put, version) in change.puts.into_iter().zip(versions) {
            let row = record_key(&put.record);
            let is_new = self.known.versions.insert(row.clone(), version).is_none();
            match put.record {
                Record::Task(task) => self.apply_task(TaskWrite { task, version, is_new, open_blockers: 0 }),
                record @ (Record::Project(_)
                | Record::Session(_)
                | Record::Message(_)
                | Record::Attempt(_)
                | Record::Question(_)
                | Record::Plan(_)
                | Record::Run(_)
                | Record::Loop(_)
                | Record::Receipt(_)
                | Record::Hold(_)
                | Record::Spending(_)
                | Record::AccessToken(_)
                | Record::Verdict(_)
                | Record::Attachment(_)
                | Record::Routine(_)) => self.apply_record(row, RecordWrite { record, version, is_new }),
            }
        }
        self.writes.events.extend(change.events);
        self.writes.effects.extend(change.effects);
    }

    fn apply_task(&mut self, mut write: TaskWrite) {
        let id = write.task.id();
        let facts = TaskFacts::new(TaskColumns::new(&write.task));
        let is_done = facts.is_done;
        let is_claimable = facts.is_claimable;
        let before = self.known.tasks.insert(id, facts).unwrap_or_default();
        if let Some(earlier) = self.writes.tasks.get(&id) {
            write.is_new = earlier.is_new;
            write.open_blockers = earlier.open_blockers;
        }
        if is_claimable || before.is_claimable {
            self.writes.maybe_ready.insert(id);
        }
        let is_stored = !write.is_new;
        self.writes.tasks.insert(id, write);
        if is_done && !before.is_done {
            if is_stored {
                self.writes.done.insert(id);
            }
            self.unblock_waiting(id);
        }
    }

    /// Unblocks tasks of this batch; SQL unblocks the stored ones.
    fn unblock_waiting(&mut self, blocker: TaskId) {
        for task in self.waiting.remove(&blocker).unwrap_or_default() {
            self.writes.edges.insert((task, blocker), true);
            if let Some(write) = self.writes.tasks.get_mut(&task) {
                write.open_blockers = write.open_blockers.saturating_sub(1);
            }
        }
    }

    fn apply_record(&mut self, row: RowKey, mut write: RecordWrite) {
        if let Record::Attempt(attempt) = &write.record
            && attempt.closing.is_some()
        {
            self.writes.closed.push(attempt.attempt.id);
        }
        if let Some(earlier) = self.writes.records.get(&row) {
            write.is_new = earlier.is_new;
        }
        self.writes.records.insert(row, write);
    }
}

fn facts(put: &RecordPut) -> Option<(TaskId, TaskFacts)> {
    match &put.record {
        Record::Task(task) => Some((task.id(), TaskFacts::new(TaskColumns::new(task)))),
        _ => None,
    }
}
