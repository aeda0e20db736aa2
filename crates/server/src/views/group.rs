//! A task group: a session as the list of groups shows it.

use std::collections::BTreeMap;

use baton_core::base::id::SessionId;
use baton_core::base::time::Timestamp;
use baton_core::task::state::TaskStatus;
use baton_engine::query::TaskGroup;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub struct GroupView {
    pub task_group_id: SessionId,
    pub session_id: SessionId,
    pub task_count: u64,
    pub status_counts: BTreeMap<TaskStatus, u64>,
    pub latest_status: TaskStatus,
    pub first_prompt: String,
    pub created_at: Timestamp,
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
