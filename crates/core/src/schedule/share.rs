//! Whose work a task is. Many projects and people use the same machines, and a limit keeps each to a part of them.

use serde::{Deserialize, Serialize};

use crate::base::id::ProjectId;
use crate::base::text::NonBlank;

/// The project a task belongs to and the person who asked for it, as far as it has them. What belongs to nobody is
/// held by no limit of theirs.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Share {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<NonBlank>,
}
