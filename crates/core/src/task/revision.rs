//! A revision: changes to a task's specification while nobody works on it.

use serde::{Deserialize, Serialize};

use crate::base::id::TaskId;
use crate::base::priority::Priority;
use crate::base::text::NonBlank;
use crate::task::TaskSpec;

/// `None` leaves a field unchanged. A task's type and group cannot be revised, because work may have been judged by
/// them. Dependencies may be added until work starts, and removed at any time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<NonBlank>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// Tasks it should wait on, in addition to its current dependencies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<TaskId>,
    /// Dependencies it should no longer have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_after: Vec<TaskId>,
    /// Dependencies that it no longer waits for, because their work is accepted: it starts on that work and lands after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts_on: Vec<TaskId>,
}

impl Revision {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the task already says this.
    pub fn describes(&self, spec: &TaskSpec) -> bool {
        self.title.as_ref().is_none_or(|title| *title == spec.title)
            && self.description.as_ref().is_none_or(|description| *description == spec.description)
            && self.priority.is_none_or(|priority| priority == spec.priority)
    }

    pub(crate) fn apply_to(self, spec: &TaskSpec) -> TaskSpec {
        let old = spec.clone();
        TaskSpec {
            title: self.title.unwrap_or(old.title),
            description: self.description.unwrap_or(old.description),
            priority: self.priority.unwrap_or(old.priority),
            ..old
        }
    }
}
