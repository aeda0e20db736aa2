//! What other tasks and the person changed that a task's work met on its way into the branch, for the agent that makes them fit.

use std::fmt::Write;

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::TaskId;
use baton_core::task::Task;
use baton_core::task::ledger::TaskNote;
use baton_core::task::met_commits::MetCommits;
use baton_core::task::not_landed::NotLanded;

use crate::base::error::EngineError;
use crate::base::fenced::fenced;
use crate::git::Worktrees;
use crate::tasks::service::TaskService;

/// As much as a prompt gets of all of them together.
const CHANGES_BYTES_MAX: usize = 24 << 10;

/// Empty if it met nothing. The likeliest cause comes first; what does not fit is named with the
/// command that shows it.
pub(crate) async fn load(
    tasks: &TaskService,
    worktrees: &Worktrees,
    task: &Task,
) -> Result<String, EngineError> {
    let Some(reason) = task.ledger().notes.iter().rev().find_map(|note| match note {
        TaskNote::NotLanded { reason, .. } => Some(reason),
        _ => None,
    }) else {
        return Ok(String::new());
    };
    let mut changes = MetChanges { worktrees, text: String::new(), left: CHANGES_BYTES_MAX };
    let ids: Vec<TaskId> = reason.met().iter().rev().map(|met| met.task_id).collect();
    let found = if ids.is_empty() { Vec::new() } else { tasks.store.tasks_by_ids(&ids).await? };
    for other in ids.iter().filter_map(|id| found.iter().find(|stored| stored.value.id() == *id)) {
        let other = &other.value;
        let Some(verified) = other.ledger().last_end.as_ref().map(|end| &end.verified) else { continue };
        let (Some(base), Some(head)) = (&verified.base, &verified.head) else { continue };
        let name = format!("{} (\"{}\")", other.id(), other.spec().title);
        let into = match &**reason {
            NotLanded::ChecksFailed { into, .. } | NotLanded::Conflict { into, .. } => Some(into),
            _ => None,
        };
        changes.add(&name, base, head, into).await?;
    }
    for MetCommits { branch, from, to, subjects } in reason.met_commits().iter().rev() {
        let name = format!("Commits on {branch} that are no task's ({})", subjects.join("; "));
        changes.add(&name, from, to, None).await?;
    }
    Ok(changes.text)
}

/// What fits into the prompt so far.
struct MetChanges<'a> {
    worktrees: &'a Worktrees,
    text: String,
    left: usize,
}

impl MetChanges<'_> {
    /// `landed_in` is the branch that a task's work has landed in: what it had merged from there is not its own.
    async fn add(
        &mut self,
        name: &str,
        base: &CommitId,
        head: &CommitId,
        landed_in: Option<&BranchName>,
    ) -> Result<(), EngineError> {
        let repository = self.worktrees.repository();
        // Work of another machine may not be here; the branch it is in will be, once it is merged.
        let ends = (repository.commit_at(base.as_str()).await?, repository.commit_at(head.as_str()).await?);
        let (Some(mut base), Some(head)) = ends else { return Ok(()) };
        if let Some(into) = landed_in
            && let Some(tip) = repository.tip(into).await?
        {
            base = self.worktrees.landed_base(&base, &head, &tip).await?;
        }
        let diff = repository.diff(&base, &head).await?;
        let _ = write!(self.text, "\n{name} changed");
        if diff.is_cut || diff.text.len() > self.left {
            let _ = writeln!(self.text, " more than fits here; see `git diff {base} {head}`.");
        } else {
            self.left -= diff.text.len();
            let _ = write!(self.text, ":\n\n{}", fenced(&diff.text));
        }
        Ok(())
    }
}
