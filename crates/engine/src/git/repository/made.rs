//! Where the integration branch was created. Until something lands on it, it has nothing of its own, and lets go of commits that the
//! person withdraws.

use baton_core::base::git_name::{BranchName, CommitId};

use crate::git::clone::worktrees::Worktrees;
use crate::git::error::GitError;
use crate::git::repository::BranchMade;

/// Where a branch stood when the integration branch was created from it.
fn made_ref(from: &BranchName) -> String {
    format!("refs/baton/made/{from}")
}

impl Worktrees {
    /// Creates a branch at the tip of another, unless it exists, and remembers where.
    pub(crate) async fn make_branch(
        &self,
        branch: &BranchName,
        from: &BranchName,
    ) -> Result<BranchMade, GitError> {
        if let (None, Some(start)) = (self.repository.tip(branch).await?, self.repository.tip(from).await?) {
            let lines = format!("create refs/heads/{branch} {start}\nupdate {} {start}\n", made_ref(from));
            if self.repository.update_refs("make a branch", &lines).await.is_ok() {
                return Ok(BranchMade::New(start));
            }
        }
        // It is there, or something is in the way, which this says.
        self.repository.ensure_branch(branch, from).await
    }

    /// The branch has followed the one it was created from, with nothing of its own.
    pub(crate) async fn note_followed(
        &self,
        from: &BranchName,
        before: &CommitId,
        now: &CommitId,
    ) -> Result<(), GitError> {
        if self.repository.commit_at(&made_ref(from)).await?.as_ref() != Some(before) {
            return Ok(());
        }
        let line = format!("update {} {now}\n", made_ref(from));
        self.repository.update_refs("note where a branch was made", &line).await
    }

    /// Takes a branch on which nothing has landed back to where the one it was created from still leads through, if that does
    /// not have the commit any more at which it was created. True if it has moved.
    pub(crate) async fn let_go_of_withdrawn(
        &self,
        branch: &BranchName,
        from: &BranchName,
    ) -> Result<bool, GitError> {
        if self.made_at(branch, from).await?.is_none() {
            return Ok(false);
        }
        let _lock = self.lock().await?;
        let Some((ours, theirs)) = self.made_at(branch, from).await? else { return Ok(false) };
        self.repository.check_not_checked_out(branch).await?;
        let left = self.repository.merge_base(&ours, &theirs).await?.unwrap_or(theirs);
        let lines = format!("update refs/heads/{branch} {left} {ours}\nupdate {} {left}\n", made_ref(from));
        self.repository.update_refs("let go of withdrawn commits", &lines).await?;
        Ok(true)
    }

    /// Where both branches stand, if the first is where it was created and the other does not lead there any more.
    async fn made_at(
        &self,
        branch: &BranchName,
        from: &BranchName,
    ) -> Result<Option<(CommitId, CommitId)>, GitError> {
        let Some(made) = self.repository.commit_at(&made_ref(from)).await? else { return Ok(None) };
        let (ours, theirs) = (self.repository.tip(branch).await?, self.repository.tip(from).await?);
        let (Some(ours), Some(theirs)) = (ours.filter(|ours| *ours == made), theirs) else { return Ok(None) };
        // What is at the remote has been published.
        if self.repository.is_ancestor(&ours, &theirs).await? || self.origin_tip(branch).await?.is_some() {
            return Ok(None);
        }
        Ok(Some((ours, theirs)))
    }
}
