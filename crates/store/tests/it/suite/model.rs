//! The store as a few maps: the expected result of any history.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::{AttemptId, TaskId};
use baton_core::graph::Standing;
use baton_core::records::change::{Change, EdgeChange, Record, Versioned};
use baton_core::records::event::Event;
use baton_core::schedule::ClaimOrder;
use baton_core::task::Task;

#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) tasks: BTreeMap<TaskId, Versioned<Task>>,
    /// Edges, and whether they are met.
    pub(crate) edges: BTreeSet<(TaskId, TaskId)>,
    pub(crate) events: Vec<Event>,
    pub(crate) effects: usize,
    pub(crate) leases: BTreeSet<AttemptId>,
    pub(crate) pending_questions: BTreeSet<baton_core::base::id::QuestionId>,
}

impl Model {
    pub(crate) fn apply(&mut self, change: &Change) {
        for put in &change.puts {
            self.put(&put.record);
        }
        for edge in &change.edges {
            match edge {
                EdgeChange::Add { task, on } => self.add(*task, *on),
                EdgeChange::Remove { task, on } => {
                    self.edges.remove(&(*task, *on));
                }
                EdgeChange::Rewire { from, to } => {
                    let moved: Vec<TaskId> =
                        self.edges.iter().filter(|edge| edge.1 == *from).map(|edge| edge.0).collect();
                    for dependent in moved {
                        self.edges.remove(&(dependent, *from));
                        for on in to {
                            self.add(dependent, *on);
                        }
                    }
                }
            }
        }
        self.events.extend(change.events.iter().cloned());
        self.effects += change.effects.len();
    }

    fn put(&mut self, record: &Record) {
        match record {
            Record::Task(task) => {
                let version = self.tasks.get(&task.id()).map_or(1, |stored| stored.version + 1);
                self.tasks.insert(task.id(), Versioned { version, value: (**task).clone() });
            }
            Record::Attempt(attempt) => {
                if attempt.closing.is_none() {
                    self.leases.insert(attempt.attempt.id);
                } else {
                    self.leases.remove(&attempt.attempt.id);
                }
            }
            Record::Question(record) => {
                use baton_core::ask::question_record::QuestionState;
                match record.state {
                    QuestionState::Pending => self.pending_questions.insert(record.question.id),
                    QuestionState::Answered { .. } | QuestionState::Withdrawn { .. } => {
                        self.pending_questions.remove(&record.question.id)
                    }
                };
            }
            Record::Project(_)
            | Record::Session(_)
            | Record::Message(_)
            | Record::Plan(_)
            | Record::Run(_)
            | Record::Loop(_)
            | Record::Receipt(_)
            | Record::Verdict(_)
            | Record::Attachment(_)
            | Record::Routine(_)
            | Record::Hold(_)
            | Record::Spending(_)
            | Record::AccessToken(_) => panic!("the histories write no such row"),
        }
    }

    fn add(&mut self, task: TaskId, on: TaskId) {
        match self.tasks[&on].value.standing() {
            Standing::Replaced { by } => by.into_iter().for_each(|on| self.add(task, on)),
            Standing::Open
            | Standing::Done
            | Standing::Cancelled
            | Standing::Failed
            | Standing::Recycled { .. } => {
                self.edges.insert((task, on));
            }
        }
    }

    pub(crate) fn is_done(&self, task: TaskId) -> bool {
        self.tasks[&task].value.standing() == Standing::Done
    }

    /// In claim order.
    pub(crate) fn ready(&self) -> Vec<TaskId> {
        let is_blocked =
            |task: TaskId| self.edges.iter().any(|(waiting, on)| *waiting == task && !self.is_done(*on));
        let mut ready: Vec<ClaimOrder> = self
            .tasks
            .values()
            .filter(|task| task.value.is_claimable() && !is_blocked(task.value.id()))
            .map(|task| ClaimOrder {
                rank: task.value.claim_rank(),
                created_at: task.value.spec().created_at,
                task: task.value.id(),
            })
            .collect();
        ready.sort_unstable();
        ready.into_iter().map(|order| order.task).collect()
    }
}
