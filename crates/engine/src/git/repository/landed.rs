//! The last commit that Baton moved a branch to. A branch that somebody deletes or moves back is made anew without a word, and what
//! had landed on it would be gone; git also keeps that commit because of this.

use baton_core::base::git_name::{BranchName, CommitId};

use crate::git::error::GitError;
use crate::git::repository::Repository;

/// Commits whose messages are read.
const MESSAGES_MAX: &str = "--max-count=200";

/// Where it is recorded.
pub(crate) fn landed_ref(branch: &BranchName) -> String {
    format!("refs/baton/landed/{branch}")
}

impl Repository {
    /// The line that records where a branch is moved to. Empty while something is lost that stood there: that is still to be told.
    pub(crate) async fn landed_line(&self, branch: &BranchName, to: &CommitId) -> Result<String, GitError> {
        let lost = match self.landed(branch).await? {
            Some(landed) => self.is_lost(&landed, Some(to)).await?,
            None => false,
        };
        Ok(if lost { String::new() } else { format!("update {} {to}\n", landed_ref(branch)) })
    }

    /// The commit that Baton last moved the branch to.
    pub(crate) async fn landed(&self, branch: &BranchName) -> Result<Option<CommitId>, GitError> {
        self.commit_at(&landed_ref(branch)).await
    }

    /// Whether work is in this commit that neither `at` has, where the branch stands, nor the branch that is checked out.
    pub(crate) async fn is_lost(&self, landed: &CommitId, at: Option<&CommitId>) -> Result<bool, GitError> {
        let own = self.commit_at("HEAD").await?;
        for place in at.into_iter().chain(&own) {
            if self.has_all_of(place, landed).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// By whatever way: a squash has it all, too.
    async fn has_all_of(&self, at: &CommitId, landed: &CommitId) -> Result<bool, GitError> {
        if self.is_ancestor(landed, at).await? {
            return Ok(true);
        }
        let merge = self.call("look for lost work").args(["merge-tree", "--write-tree"]);
        let merged = merge.args([at.as_str(), landed.as_str()]).ask().await?;
        Ok(merged.code == Some(0)
            && String::from_utf8_lossy(&merged.stdout).trim() == self.tree_at(at).await?)
    }

    /// The messages of a branch's own commits up to one that another does not have, oldest first.
    pub(crate) async fn lost_messages(
        &self,
        lost: &CommitId,
        at: Option<&CommitId>,
    ) -> Result<String, GitError> {
        let log = self.call("read the history").args(["log", "--first-parent", "--reverse", MESSAGES_MAX]);
        let range = at.map_or_else(|| format!("HEAD..{lost}"), |at| format!("{at}..{lost}"));
        let log = log.args(["--format=%B", &range, "--"]);
        Ok(String::from_utf8_lossy(&log.run().await?).into_owned())
    }
}
