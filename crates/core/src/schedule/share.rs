//! Who a task belongs to. Many projects and people share the machines, and limits keep each to its share.

use serde::{Deserialize, Serialize};

use crate::base::id::ProjectId;
use crate::base::text::NonBlank;

/// The project a task belongs to and the person who asked for it, if any. Tasks of nobody are not limited.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Share {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<NonBlank>,
}
