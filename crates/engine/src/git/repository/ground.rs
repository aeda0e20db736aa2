//! Starts a task's branch from work that is not on the trunk yet.

use baton_core::base::git_name::BranchName;

use crate::git::clone::worktrees::Worktrees;
use crate::git::error::GitError;
use crate::git::repository::merge::MergeSpec;

impl Worktrees {
    /// Creates a task's branch from the trunk and the work on another branch that the trunk does not have. Does nothing if
    /// the branch exists, or if the trunk has that work. Where the two conflict, the branch starts from the work alone, and
    /// the conflict shows when it is merged.
    pub async fn start_branch_from(
        &self,
        branch: &BranchName,
        trunk: &BranchName,
        work: &BranchName,
    ) -> Result<(), GitError> {
        let _lock = self.lock().await?;
        let repository = self.repository();
        let tips = repository.tips(&[branch, trunk, work]).await?;
        let (None, Some(ours), Some(theirs)) = (tips.get(branch), tips.get(trunk), tips.get(work)) else {
            return Ok(());
        };
        if repository.is_ancestor(theirs, ours).await? {
            return Ok(());
        }
        let start = if repository.is_ancestor(ours, theirs).await? {
            theirs.clone()
        } else {
            let message = format!("Merge {work} into {branch}");
            let spec = MergeSpec { branch: work.clone(), head: None, into: branch.clone(), message };
            match self.merge_trees(&spec, ours, theirs).await? {
                Ok(tree) => self.join(&spec, &tree, ours, theirs).await?,
                Err(_) => theirs.clone(),
            }
        };
        let line = format!("create refs/heads/{branch} {start}\n");
        repository.update_refs("create the task's branch", &line).await
    }
}
