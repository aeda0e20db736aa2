//! The status of one dependency, and why.

use std::fmt;

use serde::Serialize;

use crate::base::id::TaskId;
use crate::graph::error::arrows;
use crate::graph::standing::Prospect;
use crate::graph::{Standing, TaskGraph};

/// The status of a dependency on a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum DependencyStatus {
    Met,
    Pending {
        wait: Wait,
    },
    /// It can never be met; a person has to remove the dependency or the task that has it.
    Dead {
        reason: DeadReason,
    },
}

/// What a pending dependency waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum Wait {
    Completion,
    /// The task failed. It waits until a person retries it.
    Retry,
    /// I13: the task was recycled and its replacements are not planned yet.
    Breakdown {
        planning: TaskId,
    },
    /// I13: the task was recycled and these replacements are not done yet.
    Replacements {
        open: Vec<TaskId>,
    },
}

/// Why a dependency can never be met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeadReason {
    /// From the dependency itself to the task the cause is about; each rests on the next.
    pub chain: Vec<TaskId>,
    pub cause: DeadCause,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum DeadCause {
    Cancelled {
        task: TaskId,
    },
    /// The task was recycled and its breakdown cancelled, so nobody will do its work.
    BreakdownCancelled {
        task: TaskId,
        planning: TaskId,
    },
    /// The task was recycled and one of its replacements cancelled.
    ReplacementCancelled {
        task: TaskId,
        replacement: TaskId,
    },
}

impl fmt::Display for DeadReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.chain.len() > 1 {
            write!(f, "{}: ", arrows(&self.chain))?;
        }
        match &self.cause {
            DeadCause::Cancelled { task } => write!(f, "{task} was cancelled"),
            DeadCause::BreakdownCancelled { task, planning } => {
                write!(f, "{task} was recycled and its breakdown {planning} was cancelled")
            }
            DeadCause::ReplacementCancelled { task, replacement } => {
                write!(f, "{task} was recycled and its replacement {replacement} was cancelled")
            }
        }
    }
}

/// One unmet dependency of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Blocker {
    pub task: TaskId,
    #[serde(flatten)]
    pub verdict: DependencyStatus,
}

impl TaskGraph {
    /// The status of a dependency on this task.
    pub fn verdict(&self, task: TaskId) -> Option<DependencyStatus> {
        let node = self.nodes.get(&task)?;
        Some(match node.prospect {
            Prospect::Met => DependencyStatus::Met,
            Prospect::Live => DependencyStatus::Pending { wait: self.wait(&node.standing) },
            Prospect::Dead => DependencyStatus::Dead { reason: self.dead_reason(task) },
        })
    }

    /// The task's unmet dependencies and the status of each.
    pub fn waiting_on(&self, task: TaskId) -> Vec<Blocker> {
        self.waits_on(task)
            .filter(|on| self.prospect(*on).is_some_and(Prospect::is_open))
            .filter_map(|on| Some(Blocker { task: on, verdict: self.verdict(on)? }))
            .collect()
    }

    fn wait(&self, standing: &Standing) -> Wait {
        match standing {
            // Done and Cancelled are never pending; this arm only has to be harmless.
            Standing::Open | Standing::Done | Standing::Cancelled => Wait::Completion,
            Standing::Failed => Wait::Retry,
            Standing::Recycled { planning } => Wait::Breakdown { planning: *planning },
            Standing::Replaced { by } => {
                let is_open = |task: &TaskId| self.prospect(*task).is_some_and(Prospect::is_open);
                Wait::Replacements { open: by.iter().copied().filter(is_open).collect() }
            }
        }
    }

    /// Follows the first dead task downwards until it reaches a cancelled one.
    fn dead_reason(&self, task: TaskId) -> DeadReason {
        let mut chain = vec![task];
        let mut last = task;
        loop {
            let below = self.nodes.get(&last).and_then(|node| {
                let dead = node.rests_on().find(|below| self.prospect(*below) == Some(Prospect::Dead))?;
                Some((&node.standing, dead))
            });
            let Some((standing, dead)) = below else {
                return DeadReason { chain, cause: DeadCause::Cancelled { task: last } };
            };
            if self.standing(dead) == Some(&Standing::Cancelled) {
                match standing {
                    Standing::Recycled { planning } => {
                        let cause = DeadCause::BreakdownCancelled { task: last, planning: *planning };
                        return DeadReason { chain, cause };
                    }
                    Standing::Replaced { .. } => {
                        let cause = DeadCause::ReplacementCancelled { task: last, replacement: dead };
                        return DeadReason { chain, cause };
                    }
                    Standing::Open | Standing::Failed | Standing::Done | Standing::Cancelled => {}
                }
            }
            chain.push(dead);
            last = dead;
        }
    }
}
