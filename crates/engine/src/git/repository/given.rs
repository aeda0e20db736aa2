//! The commits of other people's branches that the work of a task was given: of the branch it is for and of the person's own, each
//! time an attempt began and ended. A commit that the work got this way and that the branch has no longer was withdrawn.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::git_name::{BranchName, CommitId};

use crate::git::clone::worktrees::Worktrees;
use crate::git::error::GitError;
use crate::git::repository::Repository;

/// Commits that are named.
const SUBJECTS_MAX: usize = 10;

/// The work of a task, as commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkRange {
    /// The task's branch.
    pub branch: BranchName,
    pub head: CommitId,
    /// What its last attempt was measured from.
    pub base: Option<CommitId>,
}

/// Where one commit of another branch that work was given is recorded. The name says all of it, so recording it twice records it
/// once, also on two machines.
fn given_ref(task: &BranchName, branch: &BranchName, commit: &CommitId) -> String {
    format!("{}{branch}/{commit}", given_folder(task))
}

pub(crate) fn given_folder(task: &BranchName) -> String {
    format!("refs/baton/given/{task}/")
}

/// The lines that record where these branches stand as the task gets them.
pub(crate) fn given_lines<'a>(
    task: &BranchName,
    tips: impl IntoIterator<Item = (&'a BranchName, &'a CommitId)>,
) -> String {
    let line = |(branch, commit)| format!("update {} {commit}\n", given_ref(task, branch, commit));
    tips.into_iter().map(line).collect::<Vec<String>>().concat()
}

impl Worktrees {
    /// The branches and commits that the work was given.
    pub(crate) async fn given(
        &self,
        task: &BranchName,
    ) -> Result<BTreeSet<(BranchName, CommitId)>, GitError> {
        Ok(self.given_to(&[task]).await?.remove(task).unwrap_or_default())
    }

    async fn given_to(
        &self,
        tasks: &[&BranchName],
    ) -> Result<BTreeMap<BranchName, BTreeSet<(BranchName, CommitId)>>, GitError> {
        let list = self.repository.call("see what the work was given");
        let list = list.args(["for-each-ref", "--format=%(refname)"]);
        let out = list.args(tasks.iter().map(|task| given_folder(task))).run().await?;
        let mut given: BTreeMap<BranchName, BTreeSet<(BranchName, CommitId)>> = BTreeMap::new();
        for name in String::from_utf8_lossy(&out).lines() {
            for task in tasks {
                let parts = name.strip_prefix(&given_folder(task)).and_then(|rest| rest.rsplit_once('/'));
                let Some((branch, commit)) = parts else { continue };
                if let (Ok(branch), Ok(commit)) = (branch.parse(), commit.parse()) {
                    given.entry((*task).clone()).or_default().insert((branch, commit));
                }
            }
        }
        Ok(given)
    }

    /// For each work that contains some: the commits it was given by another branch and that none of `kept`, nor any branch that
    /// gave it something, has now. Newest first. Other branches and tags that have them do not count: the work was not started
    /// from those.
    pub(crate) async fn withdrawn(
        &self,
        works: &[WorkRange],
        kept: &[CommitId],
    ) -> Result<BTreeMap<BranchName, Vec<CommitId>>, GitError> {
        let branches: Vec<&BranchName> = works.iter().map(|work| &work.branch).collect();
        let mut given = self.given_to(&branches).await?;
        let mut commits: BTreeMap<BranchName, BTreeSet<CommitId>> = BTreeMap::new();
        for work in works {
            let own = commits.entry(work.branch.clone()).or_default();
            own.extend(
                given.entry(work.branch.clone()).or_default().iter().map(|(_, commit)| commit.clone()),
            );
            // Recorded for work from the person's branch alone by earlier versions.
            own.extend(self.start_of(&work.branch).await?);
        }
        let all: BTreeSet<CommitId> = commits.values().flatten().cloned().collect();
        let mut withdrawn = BTreeMap::new();
        // Nearly always nothing is gone.
        if self.repository.commits_without(&all, kept).await?.is_empty() {
            return Ok(withdrawn);
        }
        for work in works {
            let (Some(given), Some(commits)) = (given.get(&work.branch), commits.get(&work.branch)) else {
                continue;
            };
            let found = self.withdrawn_from(work, given, commits, kept).await?;
            if !found.is_empty() {
                withdrawn.insert(work.branch.clone(), found);
            }
        }
        Ok(withdrawn)
    }

    async fn withdrawn_from(
        &self,
        work: &WorkRange,
        given: &BTreeSet<(BranchName, CommitId)>,
        commits: &BTreeSet<CommitId>,
        kept: &[CommitId],
    ) -> Result<Vec<CommitId>, GitError> {
        let branches: Vec<&BranchName> = given.iter().map(|(branch, _)| branch).collect();
        let tips = self.repository.tips(&branches).await?;
        let kept: Vec<CommitId> = kept.iter().chain(tips.values()).cloned().collect();
        let gone: BTreeSet<CommitId> =
            self.repository.commits_without(commits, &kept).await?.into_iter().collect();
        if gone.is_empty() {
            return Ok(Vec::new());
        }
        // A person may have merged the work by hand and have taken that back: it is still the work.
        let end = match &work.base {
            Some(base) if gone.contains(&work.head) => base,
            _ => &work.head,
        };
        let mut brought = self.repository.commits_without([end], &kept).await?;
        brought.retain(|commit| gone.contains(commit));
        Ok(brought)
    }
}

impl Repository {
    /// The commits up to these that none of the others has, newest first.
    async fn commits_without<'a>(
        &self,
        heads: impl IntoIterator<Item = &'a CommitId>,
        kept: &[CommitId],
    ) -> Result<Vec<CommitId>, GitError> {
        let mut lines: Vec<String> = heads.into_iter().map(|head| format!("{head}\n")).collect();
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        lines.extend(kept.iter().map(|kept| format!("^{kept}\n")));
        let list = self.call("compare two branches").args(["rev-list", "--topo-order", "--stdin"]);
        let out = list.input(lines.concat()).run().await?;
        Ok(String::from_utf8_lossy(&out).lines().filter_map(|line| line.parse().ok()).collect())
    }

    /// Each of these commits with its subject, in this order; not more than fit into a prompt.
    pub(crate) async fn subjects(&self, commits: &[CommitId]) -> Result<Vec<String>, GitError> {
        let named = commits.iter().take(SUBJECTS_MAX).map(CommitId::as_str);
        let log = self.call("list the commits").args(["log", "--no-walk=unsorted", "--format=%h %s"]);
        let out = log.args(named).arg("--").run().await?;
        Ok(String::from_utf8_lossy(&out).lines().map(str::to_owned).collect())
    }
}
