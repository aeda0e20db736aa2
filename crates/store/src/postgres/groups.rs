//! Task groups: sessions with the sum of their tasks.

use std::collections::BTreeMap;

use baton_core::task::Task;
use baton_core::task::state::TaskStatus;
use tokio_postgres::Row;

use super::read::{bad_row, key, moment};
use crate::error::StoreError;
use crate::query::{Cursor, Page, TaskGroup};

/// One row for each of the sessions and each status in it.
pub(super) const COUNTS: &str = "SELECT session, status, count(*), max(updated_ms) FROM tasks
    WHERE session = ANY($1) GROUP BY session, status";
/// For each session the task it began with, and the status of the one that changed last.
pub(super) const ENDS: &str = "SELECT s.id, f.body, f.created_ms, l.status FROM unnest($1::text[]) AS s (id)
    CROSS JOIN LATERAL (SELECT body, created_ms FROM tasks WHERE session = s.id ORDER BY created_ms, id LIMIT 1) f
    CROSS JOIN LATERAL (SELECT status FROM tasks WHERE session = s.id ORDER BY updated_ms DESC, id DESC LIMIT 1) l";

const STATUSES: [TaskStatus; 8] = [
    TaskStatus::Queued,
    TaskStatus::Running,
    TaskStatus::AwaitingResponse,
    TaskStatus::Blocked,
    TaskStatus::WaitingChildren,
    TaskStatus::Complete,
    TaskStatus::Error,
    TaskStatus::Cancelled,
];

fn status(text: &str) -> Result<TaskStatus, StoreError> {
    STATUSES
        .into_iter()
        .find(|status| status.as_str() == text)
        .ok_or_else(|| bad_row("task", text, &"this is no status"))
}

/// Puts the groups of one page together, in the page's order.
pub(super) fn page(
    listed: &[Row],
    limit: u32,
    counts: &[Row],
    ends: &[Row],
) -> Result<Page<TaskGroup>, StoreError> {
    let mut groups: BTreeMap<String, TaskGroup> = BTreeMap::new();
    for row in ends {
        let session: String = row.get(0);
        let task: Task =
            serde_json::from_str(row.get(1)).map_err(|error| bad_row("task", &session, &error))?;
        let spec = task.spec();
        let is_blank = spec.description.trim().is_empty();
        let group = TaskGroup {
            session: key("session", &session)?,
            task_count: 0,
            status_counts: BTreeMap::new(),
            latest_status: status(row.get(3))?,
            first_prompt: if is_blank { spec.title.to_string() } else { spec.description.clone() },
            created_at: moment(row, 2),
            latest_updated_at: moment(row, 2),
        };
        groups.insert(session, group);
    }
    for row in counts {
        if let Some(group) = groups.get_mut(row.get::<_, &str>(0)) {
            let count = super::lock::version(row, 2);
            group.task_count += count;
            group.status_counts.insert(status(row.get(1))?, count);
            group.latest_updated_at = group.latest_updated_at.max(moment(row, 3));
        }
    }
    let shown = listed.get(..limit as usize).unwrap_or(listed);
    let is_more = listed.len() > shown.len();
    let next = shown.last().filter(|_| is_more).map(|row| Cursor { at: moment(row, 1), key: row.get(0) });
    Ok(Page { items: shown.iter().filter_map(|row| groups.remove(row.get::<_, &str>(0))).collect(), next })
}
