//! Several branches merged one after the other on a tip, as objects: nothing is moved and no checkout is touched.

use std::path::PathBuf;

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::time::Timestamp;

use crate::git::clone::worktrees::Worktrees;
use crate::git::error::GitError;
use crate::git::repository::merge::MergeSpec;
use crate::git::repository::remote::Pushed;

/// Commits looked through for the messages of what was merged.
const HISTORY_MAX: &str = "--max-count=200";

/// What became of one branch of a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stacked {
    /// All of it is in the tip.
    Already,
    /// Merged on what is below it in the stack. The tree is what a branch gets that moves there.
    Merged { tree: CommitId },
    /// Left out of the stack.
    Conflict {
        files: Vec<PathBuf>,
        /// Even without what is below it in the stack.
        is_with_ground: bool,
    },
}

impl Worktrees {
    /// Merges each branch at its verified commit on the ground and those before it. The ground has all that the tip of the
    /// target has. One that conflicts is left out.
    pub async fn stack(
        &self,
        tip: &CommitId,
        ground: &CommitId,
        specs: &[MergeSpec],
    ) -> Result<Vec<Stacked>, GitError> {
        let mut top = ground.clone();
        let mut stack = Vec::with_capacity(specs.len());
        for spec in specs {
            let theirs = self.head_of(spec).await?;
            if self.repository.is_ancestor(&theirs, tip).await? {
                stack.push(Stacked::Already);
                continue;
            }
            match self.merge_trees(spec, &top, &theirs).await? {
                Ok(tree) => {
                    top = self.join(spec, &tree, &top, &theirs).await?;
                    stack.push(Stacked::Merged { tree: parse_tree(tree)? });
                }
                Err(files) => {
                    let is_with_ground =
                        top == *ground || self.merge_trees(spec, ground, &theirs).await?.is_err();
                    stack.push(Stacked::Conflict { files, is_with_ground });
                }
            }
        }
        Ok(stack)
    }

    /// One commit that merges all of these parents on the first, with this tree. So the branch's own history has no commit that
    /// was not meant to be its tip. It has the given date: built again, it is the same commit, so the one that lands is the
    /// one that was checked.
    pub async fn join_all(
        &self,
        message: &str,
        at: Timestamp,
        tree: &CommitId,
        parents: &[&CommitId],
    ) -> Result<CommitId, GitError> {
        let date = format!("@{} +0000", at.ms().div_euclid(1_000));
        let commit = self.repository.call("commit the merge").args(["commit-tree", tree.as_str(), "-F", "-"]);
        let commit = commit.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        let commit = parents.iter().fold(commit, |commit, parent| commit.args(["-p", parent.as_str()]));
        commit.input(message.as_bytes()).commit().await
    }

    /// The tree of a commit.
    pub async fn tree_of(&self, commit: &CommitId) -> Result<CommitId, GitError> {
        parse_tree(self.repository.tree_at(commit).await?)
    }

    async fn head_of(&self, spec: &MergeSpec) -> Result<CommitId, GitError> {
        match &spec.head {
            Some(head) => Ok(head.clone()),
            None => self.repository.tip_of_existing(&spec.branch).await,
        }
    }

    /// Moves a branch from one commit to another, forwards. False if it is not there any more.
    pub async fn advance(
        &self,
        branch: &BranchName,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<bool, GitError> {
        let _lock = self.lock().await?;
        self.repository.check_not_checked_out(branch).await?;
        let landed = self.repository.landed_line(branch, to).await?;
        let line = format!("update refs/heads/{branch} {to} {from}\n{landed}");
        match self.repository.update_refs("move the project's branch", &line).await {
            Ok(()) => Ok(true),
            Err(_) if self.repository.tip(branch).await?.as_ref() != Some(from) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The same for a branch of the remote: the remote decides, ours follows. It takes no step but forwards.
    pub async fn advance_shared(
        &self,
        branch: &BranchName,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<bool, GitError> {
        if self.origin_tip(branch).await?.is_some_and(|theirs| theirs != *from) {
            return Ok(false);
        }
        match self.push_commit(branch, to).await? {
            Pushed::Done => self.advance(branch, from, to).await,
            Pushed::Overtaken => Ok(false),
        }
    }

    /// Fails while a checkout of the person's has the branch, or another git holds it.
    pub async fn check_free(&self, branch: &BranchName) -> Result<(), GitError> {
        self.repository.check_not_locked(branch)?;
        self.repository.check_not_checked_out(branch).await
    }

    /// The commit of the branch's own by which `head` came into it, with its message. None if it was not merged by one, or
    /// that is long ago.
    pub async fn merged_by(
        &self,
        head: &CommitId,
        tip: &CommitId,
    ) -> Result<Option<(CommitId, String)>, GitError> {
        let tried = "find the merge";
        let list = self.repository.call(tried).args(["rev-list", "--first-parent", "--ancestry-path"]);
        let list = list.args([HISTORY_MAX, &format!("{head}..{tip}"), "--"]).run().await?;
        let list = String::from_utf8_lossy(&list).into_owned();
        let Some(oldest) = list.lines().last() else { return Ok(None) };
        let commit: CommitId =
            oldest.parse().map_err(|_| GitError::Garbled { tried, answer: list.clone() })?;
        let show =
            self.repository.call(tried).args(["log", "--max-count=1", "--format=%B", commit.as_str(), "--"]);
        Ok(Some((commit, String::from_utf8_lossy(&show.run().await?).into_owned())))
    }

    /// The messages of the branch's own commits that `head` does not have, oldest first.
    pub async fn messages_since(&self, head: &CommitId, tip: &CommitId) -> Result<String, GitError> {
        let log = self.repository.call("read the history").args(["log", "--first-parent", "--reverse"]);
        let log = log.args([HISTORY_MAX, "--format=%B", &format!("{head}..{tip}"), "--"]);
        Ok(String::from_utf8_lossy(&log.run().await?).into_owned())
    }
}

fn parse_tree(tree: String) -> Result<CommitId, GitError> {
    tree.parse().map_err(|_| GitError::Garbled { tried: "merge", answer: tree })
}
