//! Commits that only a clone leads to and that would be lost with it.

use std::collections::BTreeSet;
use std::fs;

use baton_core::base::git_name::CommitId;

use crate::git::clone::files::is_real_file;
use crate::git::clone::private_clone::CloneState;
use crate::git::clone::refs::logged_commits;
use crate::git::clone::worktrees::Worktrees;
use crate::git::error::GitError;
use crate::git::vault::snapshot::Remains;

impl Worktrees {
    /// The fewest commits from which everything that the clone leads to can be reached: its HEAD, its refs, its reflogs, what
    /// was staged, the attempt's base and the vault's earlier state. They are in the person's repository afterwards.
    pub(crate) async fn hanging(
        &self,
        remains: &Remains,
        head: Option<&CommitId>,
        before: Option<&CommitId>,
    ) -> Result<Vec<CommitId>, GitError> {
        let mut all: BTreeSet<CommitId> = head.into_iter().chain(before).cloned().collect();
        all.extend(self.hidden("base", remains.attempt).await?);
        if let CloneState::Sound(refs) = remains.clone.state(&self.repository.objects()) {
            let made_with: BTreeSet<CommitId> = String::from_utf8_lossy(&remains.clone.record.refs())
                .lines()
                .filter_map(|line| line.split(' ').next()?.parse().ok())
                .collect();
            let logged = logged_commits(&remains.clone.git_dir());
            let own = refs.refs.into_values().chain(logged);
            let unseen: BTreeSet<CommitId> =
                own.filter(|commit| !all.contains(commit) && !made_with.contains(commit)).collect();
            all.extend(self.import_each(&remains.clone, unseen.into_iter().collect()).await?);
            all.extend(self.staged(remains, head).await?);
        }
        if all.len() < 2 {
            return Ok(all.into_iter().collect());
        }
        let tried = "find what only the clone holds";
        let call = self.repository.call(tried).args(["merge-base", "--independent"]);
        let out = call.args(all.iter().map(CommitId::as_str)).run().await?;
        Ok(String::from_utf8_lossy(&out).lines().filter_map(|line| line.parse().ok()).collect())
    }

    /// The clone's index as a commit, when it says something else than HEAD: an agent may stage a file and then change or
    /// delete it. The same index makes the same commit.
    async fn staged(&self, remains: &Remains, head: Option<&CommitId>) -> Result<Option<CommitId>, GitError> {
        let tried = "keep what was staged";
        let scratch = self.scratch()?;
        let (theirs, ours) = (scratch.path().join("theirs"), scratch.path().join("ours"));
        let index = remains.clone.git_dir().join("index");
        if !is_real_file(&index) || fs::copy(&index, &theirs).is_err() {
            return Ok(None);
        }
        let with_index = |path| self.repository.call(tried).env("GIT_INDEX_FILE", path);
        // A damaged index has nothing that could be read from it.
        let listed = with_index(&theirs).args(["ls-files", "-z", "--stage"]).find().await?;
        let Some(listed) = listed else { return Ok(None) };
        // Only what is merged: the other stages are the two sides of a conflict, commits in their own right.
        let merged = listed.split(|byte| *byte == 0).filter(|line| is_merged(line));
        let lines: Vec<u8> = merged.flat_map(|line| line.iter().copied().chain([0])).collect();
        let Some(()) = with_index(&ours)
            .args(["update-index", "-z", "--index-info"])
            .input(lines)
            .find()
            .await?
            .map(drop)
        else {
            return Ok(None);
        };
        let tree = with_index(&ours).args(["write-tree", "--missing-ok"]).line().await?;
        if let Some(head) = head
            && self.tree_id(head).await? == tree
        {
            return Ok(None);
        }
        let commit = self.repository.call(tried).args(["commit-tree", &tree, "-m", "Staged"]);
        let commit = head.iter().fold(commit, |call, head| call.args(["-p", head.as_str()]));
        let moment = "@1 +0000";
        let commit = commit.env("GIT_AUTHOR_DATE", moment).env("GIT_COMMITTER_DATE", moment);
        let commit = commit.commit().await?;
        // Its files are still in the clone only.
        Ok(self.import_each(&remains.clone, vec![commit]).await?.pop())
    }
}

/// "mode id stage TAB path": stage 0 is a file without a conflict.
fn is_merged(line: &[u8]) -> bool {
    let head = line.split(|byte| *byte == b'\t').next().unwrap_or_default();
    head.ends_with(b" 0")
}
