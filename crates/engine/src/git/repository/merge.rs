//! Merges a task's branch into its project's, without any checkout.
//!
//! The merge is made of objects and then becomes the branch in one step, if the branch is still where it was. A target that a
//! person has checked out is not moved. A conflict changes nothing.

use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use baton_core::base::git_name::{BranchName, CommitId};

use crate::git::clone::worktrees::Worktrees;
use crate::git::error::GitError;

/// Baton merges one at a time; only a human's own commits can come in between.
const TRIES_MAX: u32 = 5;

#[derive(Debug, Clone)]
pub struct MergeSpec {
    pub branch: BranchName,
    /// The commit that was verified. A branch that leads elsewhere is not merged.
    pub head: Option<CommitId>,
    pub into: BranchName,
    /// Of the merge commit, where one is needed.
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// All of it was there before.
    Already { tip: CommitId },
    /// The target had nothing the branch has not, and now stands where the branch does.
    FastForward { from: CommitId, tip: CommitId },
    /// The two had grown apart, and a commit joins them.
    MergeCommit { from: CommitId, tip: CommitId },
    /// Nothing was changed.
    Conflict { files: Vec<PathBuf> },
    /// The branch has moved since it was verified. Nothing was changed.
    Moved { verified: CommitId, tip: CommitId },
}

impl Worktrees {
    pub async fn merge(&self, spec: &MergeSpec) -> Result<Merged, GitError> {
        self.merge_by(spec, true).await
    }

    /// The same by a merge commit, also where the target could simply follow: its own history then has one commit for the
    /// branch, whose message says why.
    pub async fn merge_as_commit(&self, spec: &MergeSpec) -> Result<Merged, GitError> {
        self.merge_by(spec, false).await
    }

    async fn merge_by(&self, spec: &MergeSpec, may_follow: bool) -> Result<Merged, GitError> {
        let _lock = self.lock().await?;
        for _ in 0..TRIES_MAX {
            if let Some(merged) = self.try_merge(spec, may_follow).await? {
                return Ok(merged);
            }
        }
        Err(GitError::KeptMoving { branch: spec.branch.clone(), into: spec.into.clone() })
    }

    /// `None` when the target moved in the meantime.
    async fn try_merge(&self, spec: &MergeSpec, may_follow: bool) -> Result<Option<Merged>, GitError> {
        let ours = self.repository.tip_of_existing(&spec.into).await?;
        let tip = self.repository.tip_of_existing(&spec.branch).await?;
        let theirs = spec.head.clone().unwrap_or_else(|| tip.clone());
        let is_known = theirs == tip || self.repository.commit_at(theirs.as_str()).await?.is_some();
        if theirs != tip && !(is_known && self.repository.is_ancestor(&theirs, &ours).await?) {
            return Ok(Some(Merged::Moved { verified: theirs, tip }));
        }
        if self.repository.is_ancestor(&theirs, &ours).await? {
            return Ok(Some(Merged::Already { tip: ours }));
        }
        let (from, tip) = (ours.clone(), theirs.clone());
        let merged = if may_follow && self.repository.is_ancestor(&ours, &theirs).await? {
            Merged::FastForward { from, tip }
        } else {
            match self.merge_trees(spec, &ours, &theirs).await? {
                Ok(tree) => Merged::MergeCommit { from, tip: self.join(spec, &tree, &ours, &theirs).await? },
                Err(files) => return Ok(Some(Merged::Conflict { files })),
            }
        };
        let tip = match &merged {
            Merged::FastForward { tip, .. } | Merged::MergeCommit { tip, .. } => tip,
            Merged::Already { .. } | Merged::Conflict { .. } | Merged::Moved { .. } => {
                return Ok(Some(merged));
            }
        };
        self.repository.check_not_checked_out(&spec.into).await?;
        // Following the person's branch is no landing: what is withdrawn there is let go.
        let landed = if spec.branch.is_of_task() {
            self.repository.landed_line(&spec.into, tip).await?
        } else {
            String::new()
        };
        let line = format!("update refs/heads/{} {tip} {ours}\n{landed}", spec.into);
        match self.repository.update_refs("move the project's branch", &line).await {
            Ok(()) => Ok(Some(merged)),
            Err(_) if self.repository.tip(&spec.into).await?.as_ref() != Some(&ours) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The merged tree, or the files in conflict.
    pub(crate) async fn merge_trees(
        &self,
        spec: &MergeSpec,
        ours: &CommitId,
        theirs: &CommitId,
    ) -> Result<Result<String, Vec<PathBuf>>, GitError> {
        let tried = "merge";
        let merge = self.repository.call(tried).args(["merge-tree", "--write-tree", "-z", "--name-only"]);
        let answer = merge.args(["--no-messages", ours.as_str(), theirs.as_str()]).ask().await?;
        let mut fields = answer.stdout.split(|byte| *byte == 0).filter(|field| !field.is_empty());
        let tree = fields.next().map(|tree| String::from_utf8_lossy(tree).into_owned());
        match (answer.code, tree) {
            (Some(0), Some(tree)) => Ok(Ok(tree)),
            (Some(1), Some(_)) => {
                let path = |field: &[u8]| PathBuf::from(std::ffi::OsString::from_vec(field.to_vec()));
                Ok(Err(fields.map(path).collect()))
            }
            _ if answer.stderr.contains("unrelated histories") => {
                Err(GitError::Unrelated { branch: spec.branch.clone(), into: spec.into.clone() })
            }
            _ => Err(answer.failed(tried)),
        }
    }

    pub(crate) async fn join(
        &self,
        spec: &MergeSpec,
        tree: &str,
        ours: &CommitId,
        theirs: &CommitId,
    ) -> Result<CommitId, GitError> {
        let commit = self.repository.call("commit the merge").args(["commit-tree", tree, "-F", "-"]);
        let commit = commit.args(["-p", ours.as_str(), "-p", theirs.as_str()]);
        commit.input(spec.message.as_bytes()).commit().await
    }
}
