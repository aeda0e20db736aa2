//! The end of an attempt: its head is found, what lay uncommitted is committed, the task's branch stands on
//! the result.
//!
//! An agent may end anywhere: on another branch, on none, behind where it began. The head is the worktree's
//! HEAD, and the task's branch follows it, with one exception: an agent that committed on its branch and then
//! only walked away (HEAD has no commits of its own) is taken at its branch. Whatever the branch no longer
//! leads to is set aside under the vault, never dropped.

use std::fs;

use baton_core::base::git_name::{BranchName, CommitId};

use crate::git::checkout::{Checkout, Place};
use crate::git::error::GitError;
use crate::git::hanging::last_step;
use crate::git::leftovers::Leftovers;
use crate::git::measure::Measured;
use crate::git::registration::clear_stale_locks;
use crate::git::room::{Worktrees, hidden_ref};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// The commits are the agent's own; the files and lines include what Baton committed for it.
    pub measured: Measured,
    /// There was work in the tree that the agent had not committed.
    pub uncommitted_changes: bool,
    /// Work that is on no branch now.
    pub aside: Vec<Aside>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aside {
    pub kept_at: String,
    pub commit: CommitId,
    pub reason: AsideReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsideReason {
    /// The branch had commits that are not in the head the agent ended on.
    OldTip,
    /// Uncommitted changes, made on top of something else than the task's branch.
    Leftovers,
}

/// Where the attempt ended.
enum End {
    /// The task's branch is, or becomes, the worktree's HEAD.
    Head { head: CommitId, old_tip: Option<CommitId> },
    /// The work is on the branch, and HEAD is somewhere without work of its own.
    Branch { tip: CommitId, head: Option<CommitId> },
}

impl Worktrees {
    /// Measures the attempt and leaves its task's branch on the result. The agent's processes are gone.
    /// Doing it twice does it once.
    pub async fn settle(&self, checkout: &Checkout) -> Result<Settled, GitError> {
        let Place::Task { branch, .. } = &checkout.place else {
            // A reader's changes belong to no branch; they are counted, and the vault keeps them.
            let measured = self.measure(checkout).await?;
            let uncommitted_changes = measured.uncommitted > 0;
            return Ok(Settled { measured, uncommitted_changes, aside: Vec::new() });
        };
        clear_stale_locks(&checkout.git_dir);
        let earlier = self.hidden("leftovers", checkout.attempt).await?;
        let (head, left, aside) = match self.end(checkout, branch).await? {
            End::Head { head, old_tip } => self.settle_on_head(checkout, branch, head, old_tip).await?,
            End::Branch { tip, head } => self.settle_on_branch(checkout, tip, head).await?,
        };
        // After a crash there may be nothing left to commit, because an earlier settling did it.
        let uncommitted_changes = left.is_some() || earlier.is_some();
        let measured = self.measured(checkout, head, 0).await?;
        Ok(Settled { measured, uncommitted_changes, aside })
    }

    async fn end(&self, checkout: &Checkout, branch: &BranchName) -> Result<End, GitError> {
        let head = self.head(checkout).await?;
        let tip = self.repository.tip(branch).await?;
        Ok(match (head, tip) {
            (Some(head), Some(tip)) if self.repository.is_ancestor(&tip, &head).await? => {
                End::Head { head, old_tip: Some(tip) }
            }
            (Some(head), Some(tip)) => {
                let walked_away = self.own_commits(checkout, &head).await? == 0
                    && self.own_commits(checkout, &tip).await? > 0;
                if walked_away {
                    End::Branch { tip, head: Some(head) }
                } else {
                    End::Head { head, old_tip: Some(tip) }
                }
            }
            (None, Some(tip)) => End::Branch { tip, head: None },
            // The branch was deleted; it comes back where the agent stands, or stood.
            (head, None) => {
                let stood = head.or_else(|| last_step(&checkout.git_dir));
                End::Head { head: stood.unwrap_or_else(|| checkout.base.clone()), old_tip: None }
            }
        })
    }

    async fn settle_on_head(
        &self,
        checkout: &Checkout,
        branch: &BranchName,
        head: CommitId,
        old_tip: Option<CommitId>,
    ) -> Result<(CommitId, Option<CommitId>, Vec<Aside>), GitError> {
        let leftovers = self.leftovers(checkout, Some(&head)).await?;
        let end = leftovers.as_ref().map_or(&head, |left| &left.commit);
        let mut aside = Vec::new();
        let mut lines = Vec::new();
        if let Some(tip) = &old_tip {
            if !self.repository.is_ancestor(tip, &head).await? {
                let kept_at = format!("{}.tip", hidden_ref("vault", checkout.attempt));
                lines.push(format!("update {kept_at} {tip}\n"));
                aside.push(Aside { kept_at, commit: tip.clone(), reason: AsideReason::OldTip });
            }
            if end != tip {
                lines.push(format!("update refs/heads/{branch} {end} {tip}\n"));
            }
        } else {
            lines.push(format!("create refs/heads/{branch} {end}\n"));
        }
        if let Some(left) = &leftovers {
            lines.push(format!("update {} {}\n", hidden_ref("leftovers", checkout.attempt), left.commit));
        }
        // An agent that only looked around has moved nothing.
        if !lines.is_empty() {
            self.repository.update_refs("move the task's branch", &lines.concat()).await?;
        }
        self.attach(checkout, branch, leftovers.as_ref()).await?;
        Ok((end.clone(), leftovers.map(|left| left.commit), aside))
    }

    async fn settle_on_branch(
        &self,
        checkout: &Checkout,
        tip: CommitId,
        head: Option<CommitId>,
    ) -> Result<(CommitId, Option<CommitId>, Vec<Aside>), GitError> {
        let Some(left) = self.leftovers(checkout, head.as_ref()).await? else {
            return Ok((tip, None, Vec::new()));
        };
        // They were made on top of something else; on the branch they would undo its commits.
        let kept_at = format!("{}.leftovers", hidden_ref("vault", checkout.attempt));
        let line = format!("update {kept_at} {}\n", left.commit);
        self.repository.update_refs("set uncommitted changes aside", &line).await?;
        let aside = Aside { kept_at, commit: left.commit.clone(), reason: AsideReason::Leftovers };
        Ok((tip, Some(left.commit), vec![aside]))
    }

    /// Puts the worktree back on its branch, which stands where the worktree does: no file changes.
    async fn attach(
        &self,
        checkout: &Checkout,
        branch: &BranchName,
        leftovers: Option<&Leftovers>,
    ) -> Result<(), GitError> {
        if !checkout.git_dir.is_dir() {
            return Ok(());
        }
        self.repository.put_on(&checkout.git_dir, branch).await?;
        if let Some(left) = leftovers {
            let (new, index) = (checkout.git_dir.join("index.baton"), checkout.git_dir.join("index"));
            let moved = fs::copy(left.index(), &new).and_then(|_| fs::rename(&new, &index));
            moved.map_err(|source| GitError::File { tried: "write", path: index, source })?;
        }
        Ok(())
    }
}
