//! A session as a task group.

use std::collections::BTreeMap;

use baton_core::base::id::SessionId;
use baton_core::base::time::Timestamp;
use baton_core::task::state::TaskStatus;
use baton_engine::query::TaskGroup;
use schemars::JsonSchema;
use serde::Serialize;

use crate::schema::words;

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "TaskGroup")]
pub(crate) struct GroupView {
    #[schemars(with = "words::SessionId")]
    pub task_group_id: SessionId,
    #[schemars(with = "words::SessionId")]
    pub session_id: SessionId,
    pub task_count: u64,
    #[schemars(with = "BTreeMap<String, u64>")]
    pub status_counts: BTreeMap<TaskStatus, u64>,
    #[schemars(with = "words::Status")]
    pub latest_status: TaskStatus,
    pub first_prompt: String,
    #[schemars(with = "words::Timestamp")]
    pub created_at: Timestamp,
    #[schemars(with = "words::Timestamp")]
    pub latest_updated_at: Timestamp,
}

impl From<&TaskGroup> for GroupView {
    fn from(group: &TaskGroup) -> Self {
        Self {
            task_group_id: group.session.clone(),
            session_id: group.session.clone(),
            task_count: group.task_count,
            status_counts: group.status_counts.clone(),
            latest_status: group.latest_status,
            first_prompt: group.first_prompt.clone(),
            created_at: group.created_at,
            latest_updated_at: group.latest_updated_at,
        }
    }
}
