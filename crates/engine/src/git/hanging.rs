//! Commits that hang on a worktree alone and would be lost with it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use baton_core::base::git_name::CommitId;

use crate::git::error::GitError;
use crate::git::program::At;
use crate::git::room::Worktrees;
use crate::git::vault::Remains;

/// Steps of HEAD that are looked at, the latest first. Each is a commit, a reset or a checkout of an agent's.
const STEPS_MAX: usize = 2_000;

impl Worktrees {
    /// The fewest commits from which all that hangs on the worktree can be reached: its HEAD, where HEAD has
    /// been, what was staged, the attempt's base and the vault's earlier state.
    pub(crate) async fn hanging(
        &self,
        remains: &Remains,
        head: Option<&CommitId>,
        before: Option<&CommitId>,
    ) -> Result<Vec<CommitId>, GitError> {
        let mut all: BTreeSet<CommitId> = head.into_iter().chain(before).cloned().collect();
        all.extend(self.hidden("base", remains.attempt).await?);
        if let Some(git_dir) = &remains.git_dir {
            let steps = self.steps(git_dir).await?;
            let unseen: BTreeSet<CommitId> = steps.into_iter().filter(|step| !all.contains(step)).collect();
            if !unseen.is_empty() {
                all.extend(self.existing(unseen).await?);
            }
            all.extend(self.staged(git_dir, head).await?);
        }
        if all.len() < 2 {
            return Ok(all.into_iter().collect());
        }
        let tried = "find what only the worktree holds";
        let call = self.repository.call(tried).args(["merge-base", "--independent"]);
        let out = call.args(all.iter().map(CommitId::as_str)).run().await?;
        Ok(String::from_utf8_lossy(&out).lines().filter_map(|line| line.parse().ok()).collect())
    }

    /// Where HEAD has been. Its log is a file, "old new who when TAB why" a line, or else git has to be asked.
    async fn steps(&self, git_dir: &Path) -> Result<BTreeSet<CommitId>, GitError> {
        if let Ok(log) = fs::read(git_dir.join("logs/HEAD")) {
            let log = String::from_utf8_lossy(&log);
            let latest = log.lines().rev().take(STEPS_MAX);
            return Ok(latest.flat_map(|line| line.split(' ').take(2)).filter_map(commit_of).collect());
        }
        let call = self.repository.call_at("read HEAD's log", At::Repository(git_dir));
        let call = call.args(["log", "--walk-reflogs", "--format=%H", "--max-count", &STEPS_MAX.to_string()]);
        // Without a commit or a log there is nothing to read, and git says so by failing.
        let out = call.args(["HEAD", "--"]).find().await?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&out).lines().filter_map(commit_of).collect())
    }

    /// Those of the commits that are still there; housekeeping may have taken some.
    async fn existing(&self, commits: BTreeSet<CommitId>) -> Result<Vec<CommitId>, GitError> {
        let names = commits.iter().map(CommitId::as_str).collect::<Vec<_>>().join("\n");
        let check = self.repository.call("look up commits").args(["cat-file", "--batch-check"]);
        let out = check.input(names).run().await?;
        let out = String::from_utf8_lossy(&out);
        let commits = out.lines().filter_map(|line| line.split_once(" commit ")).map(|(id, _)| id);
        Ok(commits.filter_map(|id| id.parse().ok()).collect())
    }

    /// Whether the index says what HEAD does; a damaged one says nothing of the kind.
    async fn is_nothing_staged(&self, git_dir: &Path, head: Option<&CommitId>) -> Result<bool, GitError> {
        let Some(head) = head else { return Ok(false) };
        let compare = self.repository.call_at("see what was staged", At::Repository(git_dir));
        let compare = compare.args(["diff-index", "--cached", "--quiet", "--ignore-submodules=none"]);
        Ok(compare.args([head.as_str(), "--"]).ask().await?.code == Some(0))
    }

    /// The index as a commit, when it says something else than HEAD: an agent may stage a file and then
    /// change or delete it. The same index makes the same commit.
    async fn staged(&self, git_dir: &Path, head: Option<&CommitId>) -> Result<Option<CommitId>, GitError> {
        if self.is_nothing_staged(git_dir, head).await? {
            return Ok(None);
        }
        let tried = "keep what was staged";
        let listed =
            self.repository.call_at(tried, At::Repository(git_dir)).args(["ls-files", "-z", "--stage"]);
        // A damaged index has nothing that could be read from it.
        let Some(listed) = listed.find().await? else { return Ok(None) };
        // Only what is merged: the other stages are the two sides of a conflict, commits in their own right.
        let merged = listed.split(|byte| *byte == 0).filter(|line| is_merged(line));
        let lines: Vec<u8> = merged.flat_map(|line| line.iter().copied().chain([0])).collect();
        let scratch = self.scratch()?;
        let index = scratch.path().join("index");
        let with_index = || self.repository.call(tried).env("GIT_INDEX_FILE", &index);
        with_index().args(["update-index", "-z", "--index-info"]).input(lines).run().await?;
        let tree = with_index().args(["write-tree", "--missing-ok"]).line().await?;
        if let Some(head) = head
            && self.tree_id(head).await? == tree
        {
            return Ok(None);
        }
        let commit = self.repository.call(tried).args(["commit-tree", &tree, "-m", "Staged"]);
        let commit = head.iter().fold(commit, |call, head| call.args(["-p", head.as_str()]));
        let moment = "@1 +0000";
        let commit = commit.env("GIT_AUTHOR_DATE", moment).env("GIT_COMMITTER_DATE", moment);
        commit.commit().await.map(Some)
    }
}

/// "mode id stage TAB path": stage 0 is a file without a conflict.
fn is_merged(line: &[u8]) -> bool {
    let head = line.split(|byte| *byte == b'\t').next().unwrap_or_default();
    head.ends_with(b" 0")
}

/// Where HEAD was last.
pub(crate) fn last_step(git_dir: &Path) -> Option<CommitId> {
    let log = fs::read(git_dir.join("logs/HEAD")).ok()?;
    let log = String::from_utf8_lossy(&log);
    let mut words = log.lines().next_back()?.split(' ');
    let (old, new) = (words.next()?, words.next()?);
    // A branch deleted under HEAD is logged as a step to nowhere.
    commit_of(new).or_else(|| commit_of(old))
}

/// All zeros stand for no commit.
fn commit_of(id: &str) -> Option<CommitId> {
    id.parse().ok().filter(|_| id.bytes().any(|digit| digit != b'0'))
}
