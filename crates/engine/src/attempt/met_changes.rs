//! What other tasks changed that a task's work met on its way into the branch, for the agent that makes them fit.

use std::fmt::Write;

use baton_core::base::id::TaskId;
use baton_core::task::Task;
use baton_core::task::ledger::TaskNote;

use crate::base::error::EngineError;
use crate::base::fenced::fenced;
use crate::git::Worktrees;
use crate::tasks::service::TaskService;

/// As much as a prompt gets of all of them together.
const CHANGES_BYTES_MAX: usize = 24 << 10;

/// Empty if it met nobody. The newest come first, because they are the likeliest cause; what does not fit is named with the
/// command that shows it.
pub(crate) async fn load(
    tasks: &TaskService,
    worktrees: &Worktrees,
    task: &Task,
) -> Result<String, EngineError> {
    let met = task.ledger().notes.iter().rev().find_map(|note| match note {
        TaskNote::NotLanded { reason, .. } => Some(reason.met()),
        _ => None,
    });
    let ids: Vec<TaskId> = met.unwrap_or_default().iter().rev().map(|met| met.task_id).collect();
    if ids.is_empty() {
        return Ok(String::new());
    }
    let found = tasks.store.tasks_by_ids(&ids).await?;
    let mut text = String::new();
    let mut left = CHANGES_BYTES_MAX;
    for other in ids.iter().filter_map(|id| found.iter().find(|stored| stored.value.id() == *id)) {
        let other = &other.value;
        let Some(verified) = other.ledger().last_end.as_ref().map(|end| &end.verified) else { continue };
        let (Some(base), Some(head)) = (&verified.base, &verified.head) else { continue };
        let repository = worktrees.repository();
        // Work of another machine may not be here; the branch it is in will be, once it is merged.
        let ends = (repository.commit_at(base.as_str()).await?, repository.commit_at(head.as_str()).await?);
        if ends.0.is_none() || ends.1.is_none() {
            continue;
        }
        let diff = repository.diff(base, head).await?;
        let _ = write!(text, "\n{} (\"{}\") changed", other.id(), other.spec().title);
        if diff.is_cut || diff.text.len() > left {
            let _ = writeln!(text, " more than fits here; see `git diff {base} {head}`.");
        } else {
            left -= diff.text.len();
            let _ = write!(text, ":\n\n{}", fenced(&diff.text));
        }
    }
    Ok(text)
}
