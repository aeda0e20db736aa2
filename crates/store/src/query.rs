//! Reading lists: filters, pages, and what the lists hold.

use std::collections::BTreeMap;
use std::str::FromStr;

use baton_core::ask::question_record::QuestionState;
use baton_core::base::explanation::Explanation;
use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::base::text::Role;
use baton_core::base::time::Timestamp;
use baton_core::task::state::{QueueName, TaskStatus};

/// Every filter that is set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    pub queue: Option<QueueName>,
    pub status: Option<TaskStatus>,
    pub project: Option<ProjectId>,
    pub session: Option<SessionId>,
    pub role: Option<Role>,
    /// Part of the title, in any case.
    pub title: Option<String>,
    /// The list from its other end. Its cursors then lead towards older tasks.
    pub newest_first: bool,
    /// Only what changed at this moment or later.
    pub updated_from: Option<Timestamp>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionFilter {
    pub is_pending: Option<bool>,
    pub task: Option<TaskId>,
    pub session: Option<SessionId>,
}

impl QuestionFilter {
    pub fn pending() -> Self {
        Self { is_pending: Some(true), ..Self::default() }
    }

    pub fn matches_state(&self, state: &QuestionState) -> bool {
        let is_pending = match state {
            QuestionState::Pending => true,
            QuestionState::Answered { .. } | QuestionState::Withdrawn { .. } => false,
        };
        self.is_pending.is_none_or(|wanted| wanted == is_pending)
    }
}

/// A piece of a list, and where the next piece begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// None at the end of the list.
    pub next: Option<Cursor>,
}

/// A place in a list that is ordered by time and then by key. It stays good while rows come and go.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub at: Timestamp,
    pub key: String,
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}~{}", self.at.ms(), self.key)
    }
}

/// A cursor that no list gave out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a cursor; use the one the previous page gave, or none")]
pub struct BadCursor(String);

impl BadCursor {
    pub const EXPLAINED: Explanation = Explanation {
        code: "bad_cursor",
        means: "What was given as a place in a list is none.",
        cause: "A cursor is what the previous page of the same list gave as `next_cursor`; it is not made by hand.",
        next: "Begin without one, and take each next one from the answer.",
    };
}

impl FromStr for Cursor {
    type Err = BadCursor;

    fn from_str(text: &str) -> Result<Self, BadCursor> {
        let bad = || BadCursor(text.chars().take(80).collect());
        let (ms, key) = text.split_once('~').ok_or_else(bad)?;
        let at = Timestamp::from_ms(ms.parse().map_err(|_| bad())?);
        if key.is_empty() { Err(bad()) } else { Ok(Self { at, key: key.to_owned() }) }
    }
}

/// One edge of the graph, seen from either end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskDependency {
    pub task: TaskId,
    pub on: TaskId,
    pub is_met: bool,
}

/// A session as the list of task groups shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskGroup {
    pub session: SessionId,
    pub task_count: u64,
    pub status_counts: BTreeMap<TaskStatus, u64>,
    pub latest_status: TaskStatus,
    /// The description of the group's first task, or its title where that is blank.
    pub first_prompt: String,
    pub created_at: Timestamp,
    pub latest_updated_at: Timestamp,
}

/// What may be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Events older than this go, but never those of a task that is not finished.
    pub events_before: Timestamp,
    /// The most rows one call removes, so that it never holds others up.
    pub rows_max: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    pub events: u64,
    /// More is left to remove; call again.
    pub is_more: bool,
}
