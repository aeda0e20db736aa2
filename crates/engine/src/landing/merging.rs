//! Merges the work of one task at once, and says by whose force.

use std::fmt::Write;

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::people::actor::Actor;
use baton_core::task::Task;

use crate::base::error::EngineError;
use crate::git::{MergeSpec, Merged, Worktrees};
use crate::landing::acceptor::verified_head;

/// Nothing to merge is fine: a forced or changeless task may have no branch.
pub(super) async fn merged(
    task: &Task,
    worktrees: &Worktrees,
    into: BranchName,
    forced: Option<&str>,
) -> Result<Option<Merged>, EngineError> {
    let branch = BranchName::for_task(task.id());
    if worktrees.repository().tip(&branch).await?.is_none() {
        return Ok(None);
    }
    let mut message = format!("Merge {}: {}", task.id(), task.spec().title);
    let head = verified_head(task).cloned();
    let Some(forced) = forced else {
        return Ok(Some(worktrees.merge(&MergeSpec { branch, head, into, message }).await?));
    };
    let _ = write!(message, "\n\n{forced}");
    Ok(Some(worktrees.merge_as_commit(&MergeSpec { branch, head, into, message }).await?))
}

/// What the commit says that a person forced.
pub(super) fn force_note(by: &Actor, withdrawn: &[String]) -> String {
    if withdrawn.is_empty() {
        return format!("Forced past the checks by {by}.");
    }
    format!("Forced by {by}, with commits that were withdrawn or replaced:\n{}", withdrawn.join("\n"))
}

/// Where the branch stands that it was merged into.
pub(super) fn tip_of(merged: &Merged) -> Option<CommitId> {
    match merged {
        Merged::Already { tip } | Merged::FastForward { tip, .. } | Merged::MergeCommit { tip, .. } => {
            Some(tip.clone())
        }
        Merged::Conflict { .. } | Merged::Moved { .. } => None,
    }
}
