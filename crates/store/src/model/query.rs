//! Queries for lists: filters, pages and their items.

use std::collections::BTreeMap;
use std::str::FromStr;

use baton_core::ask::question_record::QuestionState;
use baton_core::base::explanation::Explanation;
use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::{AgentName, Role};
use baton_core::base::time::Timestamp;
use baton_core::task::state::{QueueName, TaskStatus};

/// All filters that are set must match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    pub queue: Option<QueueName>,
    pub status: Option<TaskStatus>,
    pub project: Option<ProjectId>,
    pub session: Option<SessionId>,
    pub role: Option<Role>,
    /// A substring of the title, ignoring case.
    pub title: Option<String>,
    /// A substring of the title or the description, ignoring case.
    pub text: Option<String>,
    pub task_type: Option<TaskType>,
    /// The agent chosen for it, or one that made an attempt.
    pub agent: Option<AgentName>,
    /// Reverses the list; its cursors then lead to older tasks.
    pub newest_first: bool,
    /// Only tasks updated at or after this time.
    pub updated_from: Option<Timestamp>,
    /// Only queued tasks that no agent may take now.
    pub is_kept: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionFilter {
    pub is_pending: Option<bool>,
    pub task: Option<TaskId>,
    pub session: Option<SessionId>,
    /// Reverses the list; its cursors then lead to older questions.
    pub newest_first: bool,
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

/// Newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    pub session: Option<SessionId>,
    pub is_open: Option<bool>,
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// `None` on the last page.
    pub next: Option<Cursor>,
}

/// A position in a list ordered by time and then by key. It stays valid while rows are added and removed.
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

/// Not a cursor returned by any list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a cursor; use the one the previous page gave, or none")]
pub struct BadCursor(String);

impl BadCursor {
    pub const EXPLAINED: Explanation = Explanation {
        code: "bad_cursor",
        means: "The cursor is not valid.",
        cause: "A cursor is the `next_cursor` of the previous page of the same list; it cannot be made by hand.",
        next: "Start without a cursor, and take each next one from the response.",
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

/// One dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskDependency {
    pub task: TaskId,
    pub on: TaskId,
    pub is_met: bool,
}

/// Enough of a prompt to recognise a group; prompts can be long documents.
pub const FIRST_PROMPT_CHARS_MAX: i32 = 200;

/// A session in the list of task groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskGroup {
    pub session: SessionId,
    pub task_count: u64,
    pub status_counts: BTreeMap<TaskStatus, u64>,
    pub latest_status: TaskStatus,
    /// The first task's description, or its title if that is blank or Baton's own prompt, cut to
    /// [`FIRST_PROMPT_CHARS_MAX`] characters.
    pub first_prompt: String,
    pub created_at: Timestamp,
    pub latest_updated_at: Timestamp,
}

/// What to prune.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventRetention {
    /// Events older than this are deleted, except those of unfinished tasks; and so are verdicts of checks that ran before.
    pub events_before: Timestamp,
    /// The most rows deleted by one call, so that it never blocks others for long.
    pub rows_max: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PruneResult {
    pub events: u64,
    pub verdicts: u64,
    /// More rows are left; call again.
    pub is_more: bool,
}
