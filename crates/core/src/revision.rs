//! A revision: what somebody wants a task to say instead, while nobody works on it.

use serde::{Deserialize, Serialize};

use crate::priority::Priority;
use crate::task::TaskSpec;
use crate::text::NonBlank;

/// What is left out stays as it is. A task's type, its group and what it waits on are not revised: work may have
/// been judged by them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<NonBlank>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
}

impl Revision {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
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
