//! A revision: what somebody wants a task to say instead, while nobody works on it.

use serde::{Deserialize, Serialize};

use crate::base::id::TaskId;
use crate::base::priority::Priority;
use crate::base::text::NonBlank;
use crate::task::TaskSpec;

/// What is left out stays as it is. A task's type and its group are not revised: work may have been judged by them.
/// It may be told to wait for more, as long as nobody has begun.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<NonBlank>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// Tasks it is to wait for, besides those it waits for already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<TaskId>,
}

impl Revision {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a task says this already, as far as this says anything.
    pub fn describes(&self, spec: &TaskSpec) -> bool {
        self.title.as_ref().is_none_or(|title| *title == spec.title)
            && self.description.as_ref().is_none_or(|description| *description == spec.description)
            && self.priority.is_none_or(|priority| priority == spec.priority)
    }

    pub(crate) fn of(self, spec: &TaskSpec) -> TaskSpec {
        let old = spec.clone();
        TaskSpec {
            title: self.title.unwrap_or(old.title),
            description: self.description.unwrap_or(old.description),
            priority: self.priority.unwrap_or(old.priority),
            ..old
        }
    }
}
