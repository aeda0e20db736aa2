//! What a batch knows about the rows it locked.

use std::collections::HashMap;

use baton_core::base::id::TaskId;

use crate::columns::TaskColumns;
use crate::postgres::write::row::RowKey;

/// What dependents need to know about a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TaskFacts {
    pub(crate) is_done: bool,
    pub(crate) is_claimable: bool,
    pub(crate) replaced_by: Vec<TaskId>,
}

impl TaskFacts {
    pub(crate) fn new(columns: TaskColumns<'_>) -> Self {
        Self {
            is_done: columns.is_done,
            is_claimable: columns.is_claimable,
            replaced_by: columns.replaced_by,
        }
    }
}

/// The rows a batch touches, as locked. A row that is missing here does not exist.
#[derive(Debug, Default)]
pub(crate) struct LockedRows {
    pub(crate) versions: HashMap<RowKey, u64>,
    pub(crate) tasks: HashMap<TaskId, TaskFacts>,
}
