//! A batch: changes that share a transaction, judged one after the other against the rows as they are locked.
//!
//! Pure. What is known goes in, what is to be written comes out; a change that conflicts leaves no trace.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use baton_core::base::id::{AttemptId, TaskId};
use baton_core::records::change::{Change, EdgeChange, Record, RecordPut, WriteGuard};
use baton_core::records::effect::Effect;
use baton_core::records::event::Event;

use super::circle::{Edge, circle, targets};
use super::row::{RecordWrite, RowKey, TaskWrite};
use crate::columns::{TaskColumns, kind_and_key};
use crate::commit::Conflict;
use crate::lease::Lease;

/// What those that wait on a task need to know of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TaskFacts {
    pub(super) is_done: bool,
    pub(super) is_claimable: bool,
    pub(super) replaced_by: Vec<TaskId>,
}

impl TaskFacts {
    fn of(columns: TaskColumns<'_>) -> Self {
        Self {
            is_done: columns.is_done,
            is_claimable: columns.is_claimable,
            replaced_by: columns.replaced_by,
        }
    }
}

/// The rows a batch touches, as they are under its locks. What is not in here is not stored.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) versions: HashMap<RowKey, u64>,
    pub(super) tasks: HashMap<TaskId, TaskFacts>,
}

/// All that a transaction is to write.
#[derive(Debug, Default)]
pub(super) struct Writes {
    pub(super) tasks: BTreeMap<TaskId, TaskWrite>,
    pub(super) records: BTreeMap<RowKey, RecordWrite>,
    /// New edges, and whether each is met.
    pub(super) edges: BTreeMap<Edge, bool>,
    /// Stored tasks that became done: their dependents are to be freed.
    pub(super) done: BTreeSet<TaskId>,
    /// Tasks that may have to enter or leave `ready`.
    pub(super) maybe_ready: BTreeSet<TaskId>,
    pub(super) closed: Vec<AttemptId>,
    pub(super) leases: Vec<Lease>,
    pub(super) events: Vec<Event>,
    pub(super) effects: Vec<Effect>,
}

#[derive(Debug, Default)]
pub(super) struct Batch {
    known: Known,
    /// The new tasks of this batch that wait on a task, unmet.
    waiting: HashMap<TaskId, Vec<TaskId>>,
    pub(super) writes: Writes,
}

/// Whether a change's edges all start at tasks it makes itself. Nothing can wait on those yet, so no search
/// through the stored edges is needed to know that they close no circle.
pub(super) fn is_self_contained(change: &Change) -> bool {
    let made: BTreeSet<TaskId> = change.puts.iter().filter_map(made_task).collect();
    change.edges.iter().all(|edge| match edge {
        EdgeChange::Add { task, .. } => made.contains(task),
        EdgeChange::Rewire { .. } => false,
    })
}

fn made_task(put: &RecordPut) -> Option<TaskId> {
    match (&put.record, put.guard) {
        (Record::Task(task), WriteGuard::New) => Some(task.id()),
        _ => None,
    }
}

impl Batch {
    pub(super) fn new(known: Known) -> Self {
        Self { known, ..Self::default() }
    }

    pub(super) fn known(&self) -> &Known {
        &self.known
    }

    /// Takes a self-contained change in whole, or says why not and stays as it was.
    pub(super) fn take(&mut self, change: Change) -> Result<(), Conflict> {
        let versions = self.judge_guards(&change.puts)?;
        let edges = self.judge_edges(&change)?;
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

    /// Takes everything but the edges, which the caller writes where the stored ones can be looked at.
    pub(super) fn take_rows(&mut self, change: Change) -> Result<(), Conflict> {
        let versions = self.judge_guards(&change.puts)?;
        self.apply_rows(change, versions);
        Ok(())
    }

    /// The version each put will have, or the first that may not be written.
    fn judge_guards(&self, puts: &[RecordPut]) -> Result<Vec<u64>, Conflict> {
        let mut own: HashMap<RowKey, u64> = HashMap::new();
        let mut versions = Vec::with_capacity(puts.len());
        for RecordPut { record, guard } in puts {
            let row = kind_and_key(record);
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

    /// The edges a self-contained change adds, each to where it really leads, and whether it is met.
    fn judge_edges(&self, change: &Change) -> Result<Vec<(Edge, bool)>, Conflict> {
        let mut edges = Vec::new();
        if change.edges.is_empty() {
            return Ok(edges);
        }
        let own: HashMap<TaskId, TaskFacts> = change.puts.iter().filter_map(facts).collect();
        let facts_of = |task: &TaskId| own.get(task).or_else(|| self.known.tasks.get(task));
        for edge in &change.edges {
            let EdgeChange::Add { task, on } = edge else { continue };
            for target in
                targets(*on, facts_of).ok_or(Conflict::UnknownDependency { task: *task, on: *on })?
            {
                let is_met = facts_of(&target).is_some_and(|facts| facts.is_done);
                edges.push(((*task, target), is_met));
            }
        }
        // Nothing waits on these tasks but one another, so a circle is among the new edges or nowhere.
        let added: Vec<Edge> = edges.iter().map(|(edge, _)| *edge).collect();
        match circle(&[], &added) {
            Some(path) => Err(Conflict::Cycle { path }),
            None => Ok(edges),
        }
    }

    fn apply_rows(&mut self, change: Change, versions: Vec<u64>) {
        for (put, version) in change.puts.into_iter().zip(versions) {
            let row = kind_and_key(&put.record);
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
                | Record::AccessToken(_)) => self.apply_record(row, RecordWrite { record, version, is_new }),
            }
        }
        self.writes.events.extend(change.events);
        self.writes.effects.extend(change.effects);
    }

    fn apply_task(&mut self, mut write: TaskWrite) {
        let id = write.task.id();
        let facts = TaskFacts::of(TaskColumns::of(&write.task));
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
            self.free_waiting(id);
        }
    }

    /// Tasks of this very batch that wait on one which is done now; the stored ones are freed by SQL.
    fn free_waiting(&mut self, blocker: TaskId) {
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
        Record::Task(task) => Some((task.id(), TaskFacts::of(TaskColumns::of(task)))),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
