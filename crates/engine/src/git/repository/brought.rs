//! The person's own commits that a landing brought into a branch.

use std::collections::BTreeSet;

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::task::met_commits::MetCommits;

use crate::git::clone::worktrees::Worktrees;
use crate::git::error::GitError;

/// Commits of the branch's own that are looked through.
const HISTORY_MAX: &str = "--max-count=200";
/// Commits that are named.
const SUBJECTS_MAX: usize = 10;
/// Between the parts of a commit, and between commits.
const PART: char = '\u{1f}';
const END: char = '\u{1e}';

/// The line of a merge commit that names the person's commits it brings in.
pub(crate) fn brings_in_line(branch: &BranchName, commit: &CommitId) -> String {
    format!("Brings in {branch} at {commit}.")
}

/// What such a line in a message says.
pub(crate) fn brought_by(message: &str) -> Option<(BranchName, CommitId)> {
    message.lines().find_map(|line| {
        let (branch, commit) = line.strip_prefix("Brings in ")?.strip_suffix('.')?.split_once(" at ")?;
        Some((branch.parse().ok()?, commit.parse().ok()?))
    })
}

impl Worktrees {
    /// What landings brought into the branch up to `tip` that `head` does not have, oldest first.
    pub(crate) async fn brought_in_since(
        &self,
        head: &CommitId,
        tip: &CommitId,
    ) -> Result<Vec<MetCommits>, GitError> {
        let log = self.repository.call("read the history").args(["log", "--first-parent", "--reverse"]);
        let log = log.args([HISTORY_MAX, "--format=%P%x1f%B%x1e", &format!("{head}..{tip}"), "--"]);
        let text = String::from_utf8_lossy(&log.run().await?).into_owned();
        let mut brought = Vec::new();
        for entry in text.split(END) {
            let Some((parents, message)) = entry.trim_start().split_once(PART) else { continue };
            let before = parents.split(' ').next().and_then(|first| first.parse().ok());
            if let (Some(from), Some((branch, to))) = (before, brought_by(message)) {
                brought.extend(self.commits_met(head, branch, from, to).await?);
            }
        }
        Ok(brought)
    }

    /// The commits of a branch between two, if `head` does not have them all. Merges are named where somebody changed something in
    /// them.
    pub(crate) async fn commits_met(
        &self,
        head: &CommitId,
        branch: BranchName,
        from: CommitId,
        to: CommitId,
    ) -> Result<Option<MetCommits>, GitError> {
        let log = self.repository.call("list the commits").args(["log", HISTORY_MAX, "--remerge-diff"]);
        let log = log.args(["--name-only", "--format=%x1e%h %s%x1f%P%x1f"]);
        let log = log.args([to.as_str(), "--not", from.as_str(), head.as_str(), "--"]);
        let subjects = named(&String::from_utf8_lossy(&log.run().await?));
        Ok((!subjects.is_empty()).then_some(MetCommits { branch, from, to, subjects }))
    }

    /// The files that these commits change, each by itself: what one adds and another takes away is in neither end of them.
    pub(crate) async fn files_met(
        &self,
        head: &CommitId,
        met: &MetCommits,
    ) -> Result<BTreeSet<String>, GitError> {
        let log = self.repository.call("see who changed the files").args(["log", "--remerge-diff", "-z"]);
        let log = log.args(["--name-only", "--no-renames", "--format=", met.to.as_str()]);
        let out = log.args(["--not", met.from.as_str(), head.as_str(), "--"]).run().await?;
        Ok(out.split(|byte| *byte == 0).map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// From where the work of a landed task is to be shown: what it had merged in the meantime is not its own.
    pub(crate) async fn landed_base(
        &self,
        base: &CommitId,
        head: &CommitId,
        tip: &CommitId,
    ) -> Result<CommitId, GitError> {
        let Some((merge, message)) = self.merged_by(head, tip).await? else { return Ok(base.clone()) };
        let before = self.repository.commit_at(&format!("{merge}^1")).await?;
        let mut own = base.clone();
        for trunk in before.into_iter().chain(brought_by(&message).map(|(_, commit)| commit)) {
            match self.repository.merge_base(head, &trunk).await? {
                Some(taken) if taken != *head && self.repository.is_ancestor(&own, &taken).await? => {
                    own = taken;
                }
                Some(_) | None => {}
            }
        }
        Ok(own)
    }
}

/// The commits that are nobody's but the person's: all but merges that git made alone.
fn named(log: &str) -> Vec<String> {
    let is_changed = |entry: &str| {
        let mut parts = entry.split(PART);
        let (subject, parents, files) = (parts.next()?, parts.next()?, parts.next()?);
        let is_merge = parents.contains(' ');
        (!is_merge || !files.trim().is_empty()).then(|| subject.trim().to_owned())
    };
    log.split(END).filter_map(is_changed).take(SUBJECTS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_commit_says_what_it_brings_in() {
        let commit: CommitId = "0123456789012345678901234567890123456789".parse().unwrap();
        let main: BranchName = "main".parse().unwrap();
        let message = format!("Merge TASK-00000001: One\n\n{}\n", brings_in_line(&main, &commit));
        assert_eq!(brought_by(&message), Some((main, commit)));
        for other in ["", "Brings in main.", "Brings in main at noon.", "Merge TASK-00000001: Brings in"] {
            assert_eq!(brought_by(other), None, "{other}");
        }
    }

    #[test]
    fn a_merge_is_named_if_something_was_changed_in_it() {
        let log = "\x1eaaa One\x1fp\x1f\n\na\n\x1ebbb Clean merge\x1fp q\x1f\n\x1eccc Repair\x1fp q\x1f\n\nbad\n\x1eddd Empty\x1fp\x1f\n";
        assert_eq!(named(log), ["aaa One", "ccc Repair", "ddd Empty"]);
    }
}
