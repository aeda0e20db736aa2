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
        Ok(match self.lost_landing(branch, to).await? {
            Some(_) => String::new(),
            None => format!("update {} {to}\n", landed_ref(branch)),
        })
    }

    /// The commit at which a branch stood last, if work is in there that this commit does not have, by whatever way: a squash has it
    /// all, too.
    pub(crate) async fn lost_landing(
        &self,
        branch: &BranchName,
        at: &CommitId,
    ) -> Result<Option<CommitId>, GitError> {
        let Some(landed) = self.commit_at(&landed_ref(branch)).await? else { return Ok(None) };
        if self.is_ancestor(&landed, at).await? {
            return Ok(None);
        }
        let merge = self.call("look for lost work").args(["merge-tree", "--write-tree"]);
        let merged = merge.args([at.as_str(), landed.as_str()]).ask().await?;
        let is_all_there = merged.code == Some(0)
            && String::from_utf8_lossy(&merged.stdout).trim() == self.tree_at(at).await?;
        Ok((!is_all_there).then_some(landed))
    }

    /// The messages of a branch's own commits up to one that another does not have, oldest first.
    pub(crate) async fn lost_messages(&self, lost: &CommitId, at: &CommitId) -> Result<String, GitError> {
        let log = self.call("read the history").args(["log", "--first-parent", "--reverse", MESSAGES_MAX]);
        let log = log.args(["--format=%B", &format!("{at}..{lost}"), "--"]);
        Ok(String::from_utf8_lossy(&log.run().await?).into_owned())
    }
}
