//! Baton's own evidence: what git shows, whatever the agent says (I15).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use baton_core::base::git_name::{BranchName, CommitId};

use crate::git::clone::checkout::{Checkout, CheckoutBase};
use crate::git::clone::files::is_real_dir;
use crate::git::clone::worktrees::Worktrees;
use crate::git::command::call::{Call, GitAnswer};
use crate::git::error::GitError;
use crate::git::repository::Repository;
use crate::git::repository::given::WorkRange;
use crate::git::settle::bring::Brought;

/// As much of a log or a summary as the prompt that quotes it can use.
const SUMMARY_BYTES_MAX: usize = 32 << 10;
/// As much of a diff as a person reads on one page.
const DIFF_BYTES_MAX: usize = 4 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    pub base: CommitId,
    pub head: CommitId,
    pub commits: u32,
    pub files_changed: u32,
    pub insertions: u32,
    pub deletions: u32,
    /// Paths with changes that are in no commit: tracked ones, and untracked ones that are not ignored.
    pub uncommitted: u32,
}

/// HEAD, and every path with changes that are in no commit: its size and its time, where it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    head: CommitId,
    uncommitted: BTreeMap<PathBuf, Option<(u64, Option<SystemTime>)>>,
}

/// The beginning of a text that may be long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    pub text: String,
    /// There was more than is shown.
    pub is_cut: bool,
}

/// How much two commits differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub files: u32,
    pub insertions: u32,
    pub deletions: u32,
}

impl Worktrees {
    /// The files and commits as they are now, from the clone's HEAD.
    pub async fn measure(&self, checkout: &Checkout) -> Result<Measured, GitError> {
        let head = self.head(checkout).await?;
        let uncommitted = u32::try_from(self.uncommitted(checkout, &head).await?.len()).unwrap_or(u32::MAX);
        self.measured(checkout, head, uncommitted).await
    }

    /// What lies between the attempt's base and a head.
    pub(crate) async fn measured(
        &self,
        checkout: &Checkout,
        head: CommitId,
        uncommitted: u32,
    ) -> Result<Measured, GitError> {
        let commits = self.own_commits(checkout, &head).await?;
        let own_base = self.own_base(checkout, &head).await?;
        let extent = self.repository.extent(&own_base, &head).await?;
        Ok(Measured {
            base: self.measured_base(checkout, &head).await?,
            head,
            commits,
            files_changed: extent.files,
            insertions: extent.insertions,
            deletions: extent.deletions,
            uncommitted,
        })
    }

    /// The clone's HEAD, brought over; without one, where the task's branch was last.
    pub(crate) async fn head(&self, checkout: &Checkout) -> Result<CommitId, GitError> {
        if let Brought::All(refs) = self.bring_refs(checkout).await?
            && let Some(head) = refs.head()
        {
            return Ok(head.clone());
        }
        let tip = match &checkout.place {
            CheckoutBase::Task { branch, .. } => self.repository.tip(branch).await?,
            CheckoutBase::Reading { .. } => None,
        };
        Ok(tip.unwrap_or_else(|| checkout.base.clone()))
    }

    /// The commit that the work up to `head` is measured from: the attempt's base. Where that was withdrawn and the agent
    /// has put its work on another, as it was told to, it is where the work left the branch it is for or the person's.
    pub(crate) async fn measured_base(
        &self,
        checkout: &Checkout,
        head: &CommitId,
    ) -> Result<CommitId, GitError> {
        let base = &checkout.base;
        let CheckoutBase::Task { branch, from, ahead } = &checkout.place else { return Ok(base.clone()) };
        if self.repository.is_ancestor(base, head).await? {
            return Ok(base.clone());
        }
        let trunks: Vec<&BranchName> = [from].into_iter().chain(ahead).collect();
        let tips = self.repository.tips(&trunks).await?;
        let given = self.given_to(&[branch]).await?.remove(branch).unwrap_or_default();
        let start = WorkRange { branch: branch.clone(), head: base.clone(), given, own: Vec::new() };
        if self.withdrawn(&start, &tips).await?.is_empty() {
            return Ok(base.clone());
        }
        let mut newest: Option<CommitId> = None;
        for tip in tips.into_values() {
            let Some(left) = self.repository.merge_base(head, &tip).await? else { continue };
            let is_newer = match &newest {
                Some(known) => self.repository.is_ancestor(known, &left).await?,
                None => true,
            };
            if is_newer {
                newest = Some(left);
            }
        }
        Ok(newest.unwrap_or_else(|| base.clone()))
    }

    /// What the files of `head` are compared with: the attempt's base or, where it took in the branch it is for or the
    /// person's since, the newest commit of that. What others changed there is not its work.
    pub(crate) async fn own_base(&self, checkout: &Checkout, head: &CommitId) -> Result<CommitId, GitError> {
        let mut own = self.measured_base(checkout, head).await?;
        let CheckoutBase::Task { from, ahead, .. } = &checkout.place else { return Ok(own) };
        for trunk in [from].into_iter().chain(ahead) {
            let Some(tip) = self.repository.tip(trunk).await?.filter(|tip| *tip != own) else { continue };
            match self.repository.merge_base(head, &tip).await? {
                Some(taken) if taken != own && taken != *head => {
                    if self.repository.is_ancestor(&own, &taken).await? {
                        own = taken;
                    }
                }
                Some(_) | None => {}
            }
        }
        Ok(own)
    }

    /// Where the work stands, cheaply: two of these differ when anything was committed or written in between.
    pub async fn trace(&self, checkout: &Checkout) -> Result<Trace, GitError> {
        let head = self.head(checkout).await?;
        let paths = self.uncommitted(checkout, &head).await?.into_iter().map(|path| {
            let of_file = fs::symlink_metadata(checkout.folder.join(&path)).ok();
            (path, of_file.map(|of| (of.len(), of.modified().ok())))
        });
        Ok(Trace { head, uncommitted: paths.collect() })
    }

    async fn uncommitted(&self, checkout: &Checkout, head: &CommitId) -> Result<BTreeSet<PathBuf>, GitError> {
        if !is_real_dir(&checkout.folder) {
            return Ok(BTreeSet::new());
        }
        let index = self.index_at(self.clone_in(&checkout.folder), Some(head)).await?;
        self.changed_paths(&index).await
    }
}

impl Repository {
    pub(crate) async fn extent(&self, base: &CommitId, head: &CommitId) -> Result<Extent, GitError> {
        if base == head {
            return Ok(Extent::default());
        }
        let diff = self.diff_call("measure the changes", base, head).await?;
        let out = diff.args(["--numstat", "-z", "--find-renames"]).run().await?;
        Ok(extent_of(&out))
    }

    /// The files that differ between two commits, under their old and new names. Commits that are not here differ in nothing.
    pub(crate) async fn changed_names(
        &self,
        base: &CommitId,
        head: &CommitId,
    ) -> Result<BTreeSet<String>, GitError> {
        if self.commit_at(base.as_str()).await?.is_none() || self.commit_at(head.as_str()).await?.is_none() {
            return Ok(BTreeSet::new());
        }
        let diff = self.diff_call("see what was changed", base, head).await?;
        let out = diff.args(["--name-only", "-z", "--no-renames"]).run().await?;
        let names = out.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// `git log base..head --oneline`, its beginning.
    pub async fn log_oneline(&self, base: &CommitId, head: &CommitId) -> Result<Excerpt, GitError> {
        let call = self.call("list the commits").args(["log", "--oneline", "--no-decorate", "--no-color"]);
        let call = call.arg(format!("{base}..{head}"));
        excerpt(call.cut_at(SUMMARY_BYTES_MAX).ask().await?, "list the commits")
    }

    /// `git diff base...head --stat`, its beginning.
    pub async fn diff_stat(&self, base: &CommitId, head: &CommitId) -> Result<Excerpt, GitError> {
        let tried = "sum up the changes";
        let call = self.diff_call(tried, base, head).await?.arg("--stat=100");
        excerpt(call.cut_at(SUMMARY_BYTES_MAX).ask().await?, tried)
    }

    /// The changes themselves, for people. Text that is not UTF-8 is shown as well as it can be.
    pub async fn diff(&self, base: &CommitId, head: &CommitId) -> Result<Excerpt, GitError> {
        let tried = "show the changes";
        let call = self.diff_call(tried, base, head).await?.args(["--patch", "--find-renames"]);
        excerpt(call.cut_at(DIFF_BYTES_MAX).ask().await?, tried)
    }

    /// The steps of a branch's own history from one commit to another.
    pub(crate) async fn steps_between(&self, base: &CommitId, tip: &CommitId) -> Result<u32, GitError> {
        let tried = "count the commits";
        let count = self.call(tried).args(["rev-list", "--count", "--first-parent"]);
        let line = count.arg(format!("{base}..{tip}")).line().await?;
        line.parse().map_err(|_| GitError::Garbled { tried, answer: line })
    }

    /// Commits of a branch that another does not have.
    pub async fn commits_beyond(&self, branch: &BranchName, base: &BranchName) -> Result<u32, GitError> {
        let (base, head) = (self.tip_of_existing(base).await?, self.tip_of_existing(branch).await?);
        let tried = "count the commits";
        let line = self.call(tried).args(["rev-list", "--count", &format!("{base}..{head}")]).line().await?;
        line.parse().map_err(|_| GitError::Garbled { tried, answer: line })
    }

    /// A diff from where the two parted, so that what the base has gained since is not shown as removed.
    async fn diff_call(
        &self,
        tried: &'static str,
        base: &CommitId,
        head: &CommitId,
    ) -> Result<Call, GitError> {
        let from = self.merge_base(base, head).await?.unwrap_or_else(|| base.clone());
        let call = self.call(tried).args(["diff", "--no-color", "--no-ext-diff", "--no-textconv"]);
        Ok(call.args([from.as_str(), head.as_str()]))
    }
}

fn excerpt(answer: GitAnswer, tried: &'static str) -> Result<Excerpt, GitError> {
    if answer.code != Some(0) && !answer.cut {
        return Err(answer.failed(tried));
    }
    Ok(Excerpt { text: String::from_utf8_lossy(&answer.stdout).into_owned(), is_cut: answer.cut })
}

/// Reads `--numstat -z`: "ins TAB del TAB path NUL", or for a rename "ins TAB del TAB NUL old NUL new NUL".
/// A binary file has dashes for numbers.
fn extent_of(out: &[u8]) -> Extent {
    let mut extent = Extent::default();
    let mut fields = out.split(|byte| *byte == 0);
    while let Some(field) = fields.next() {
        let text = String::from_utf8_lossy(field);
        let mut parts = text.splitn(3, '\t');
        let (Some(insertions), Some(deletions), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        if path.is_empty() {
            fields.next();
            fields.next();
        }
        extent.files = extent.files.saturating_add(1);
        extent.insertions = extent.insertions.saturating_add(insertions.parse().unwrap_or(0));
        extent.deletions = extent.deletions.saturating_add(deletions.parse().unwrap_or(0));
    }
    extent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numstat_is_read_with_renames_binaries_and_odd_names() {
        let out = b"3\t1\ta b\0-\t-\tlogo.png\0\x30\t2\t\0old\0new\tname\0";
        assert_eq!(extent_of(out), Extent { files: 3, insertions: 3, deletions: 3 });
        assert_eq!(extent_of(b""), Extent::default());
    }
}
