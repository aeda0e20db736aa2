//! How a task stands, as far as its dependents care.

use std::slice;

use serde::{Deserialize, Serialize};

use crate::base::id::TaskId;

/// The part of a task's state the graph needs, derived from the state by the task module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum Standing {
    /// Not finished: waiting, running, asking or up for acceptance.
    Open,
    Done,
    Cancelled,
    /// Stopped until a person retries it.
    Failed,
    /// Recycled; `planning` is the breakdown that works out its replacements.
    Recycled {
        planning: TaskId,
    },
    /// Recycled; these tasks do its work now.
    Replaced {
        by: Vec<TaskId>,
    },
}

impl Standing {
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::Recycled { .. } => "recycled",
            Self::Replaced { .. } => "replaced",
        }
    }

    /// The tasks that do this one's work instead.
    pub fn stand_ins(&self) -> &[TaskId] {
        match self {
            Self::Open | Self::Done | Self::Cancelled | Self::Failed => &[],
            Self::Recycled { planning } => slice::from_ref(planning),
            Self::Replaced { by } => by,
        }
    }

    /// Replacements are a set: order and repetition do not matter.
    pub(super) fn tidied(mut self) -> Self {
        if let Self::Replaced { by } = &mut self {
            by.sort_unstable();
            by.dedup();
        }
        self
    }

    /// I16: nothing leaves Done, and a cancelled task only comes back as open. I13: only its replacements finish a recycled task, so a late
    /// result cannot make it done and release its dependents early.
    pub(super) fn may_become(&self, next: &Self) -> bool {
        match self {
            Self::Done => false,
            Self::Cancelled => *next == Self::Open,
            Self::Open | Self::Failed => true,
            Self::Recycled { .. } => match next {
                Self::Recycled { .. } | Self::Replaced { .. } | Self::Cancelled => true,
                Self::Open | Self::Done | Self::Failed => false,
            },
            Self::Replaced { .. } => match next {
                Self::Cancelled => true,
                Self::Open | Self::Done | Self::Failed | Self::Recycled { .. } | Self::Replaced { .. } => {
                    false
                }
            },
        }
    }
}

/// What a dependency on a task is worth, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Prospect {
    /// It can never be met.
    Dead,
    Live,
    Met,
}

impl Prospect {
    pub(super) const fn dead_or(is_dead: bool, otherwise: Self) -> Self {
        if is_dead { Self::Dead } else { otherwise }
    }

    pub(super) const fn is_open(self) -> bool {
        match self {
            Self::Dead | Self::Live => true,
            Self::Met => false,
        }
    }

    pub(super) const fn is_dead(self) -> bool {
        match self {
            Self::Dead => true,
            Self::Live | Self::Met => false,
        }
    }
}
