//! Commits of the person's own that work was started from, and that the person has withdrawn or replaced since.

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::task::Task;

use crate::base::error::EngineError;
use crate::git::Worktrees;

/// What a task stands on that nobody wants any more.
pub(crate) struct WithdrawnStart {
    /// The commit it started from.
    pub base: CommitId,
    /// Each commit that was withdrawn, with its subject, newest first.
    pub commits: Vec<String>,
}

/// None if the work does not contain such commits, or its branch, which stands at `tip`, has them already.
pub(crate) async fn withdrawn_start(
    worktrees: &Worktrees,
    tip: &CommitId,
    task: &Task,
) -> Result<Option<WithdrawnStart>, EngineError> {
    let branch = BranchName::for_task(task.id());
    let repository = worktrees.repository();
    let (Some(base), Some(head)) = (worktrees.start_of(&branch).await?, repository.tip(&branch).await?)
    else {
        return Ok(None);
    };
    if !repository.is_ancestor(&base, &head).await? || repository.is_ancestor(&base, tip).await? {
        return Ok(None);
    }
    let commits = repository.withdrawn(&base).await?;
    Ok((!commits.is_empty()).then_some(WithdrawnStart { base, commits }))
}
