//! The commits of other people's branches that the work of a task was given: of the branch it is for and of the person's own, each
//! time an attempt began and ended. A commit that the work got this way and that the branch has no longer was withdrawn.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::time::Timestamp;

use crate::git::clone::worktrees::Worktrees;
use crate::git::error::GitError;
use crate::git::repository::Repository;

/// Commits that are named.
const SUBJECTS_MAX: usize = 10;

/// A branch that work was given, and where that stood.
pub(crate) type GivenTip = (BranchName, CommitId);

/// The work of a task, as commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkRange {
    /// The task's branch.
    pub branch: BranchName,
    pub head: CommitId,
    /// What other branches gave it.
    pub given: BTreeSet<GivenTip>,
    /// What its attempts came to. A branch that has one of these got it from the work.
    pub own: Vec<CommitId>,
}

/// The commits that lead to a work and are not its own.
#[derive(Debug, Default)]
struct ForeignCommits {
    /// Everything up to these.
    whole: Vec<CommitId>,
    /// These have the work itself, because a person merged it by hand: everything up to them but that.
    with_work: Vec<CommitId>,
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
    /// The branches and commits that the work of each of these tasks was given.
    pub(crate) async fn given_to(
        &self,
        tasks: &[&BranchName],
    ) -> Result<BTreeMap<BranchName, BTreeSet<GivenTip>>, GitError> {
        let mut given: BTreeMap<BranchName, BTreeSet<GivenTip>> = BTreeMap::new();
        if tasks.is_empty() {
            return Ok(given);
        }
        let list = self.repository.call("see what the work was given");
        let list = list.args(["for-each-ref", "--format=%(refname)"]);
        let out = list.args(tasks.iter().map(|task| given_folder(task))).run().await?;
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

    /// Records that work was given a commit of another branch.
    pub(crate) async fn note_given(&self, task: &BranchName, given: &GivenTip) -> Result<(), GitError> {
        let line = given_lines(task, [(&given.0, &given.1)]);
        self.repository.update_refs("note what the work was given", &line).await
    }

    /// Whether some of these works may contain commits that were withdrawn. Nearly always nothing is gone.
    pub(crate) async fn may_be_withdrawn(
        &self,
        works: &[&WorkRange],
        kept: &BTreeMap<BranchName, CommitId>,
    ) -> Result<bool, GitError> {
        let all: BTreeSet<&CommitId> =
            works.iter().flat_map(|work| work.given.iter().map(|(_, commit)| commit)).collect();
        Ok(!self.repository.commits_without(all, kept.values()).await?.is_empty())
    }

    /// The commits in a work that it was given by another branch and that no branch of `kept`, where it is said to stand, nor any
    /// other that gave it something, has now. Newest first. Other branches and tags that have them do not count: the work was not started from those.
    pub(crate) async fn withdrawn(
        &self,
        work: &WorkRange,
        kept: &BTreeMap<BranchName, CommitId>,
    ) -> Result<Vec<CommitId>, GitError> {
        let branches = work.given.iter().map(|(branch, _)| branch);
        let branches: Vec<&BranchName> = branches.filter(|branch| !kept.contains_key(*branch)).collect();
        let tips = self.repository.tips(&branches).await?;
        let kept: Vec<CommitId> = kept.values().chain(tips.values()).cloned().collect();
        let given: Vec<&CommitId> = work.given.iter().map(|(_, commit)| commit).collect();
        if self.repository.commits_without(given, &kept).await?.is_empty() {
            return Ok(Vec::new());
        }
        let foreign = self.foreign_commits(work).await?;
        let mut gone = self.repository.commits_without(&foreign.whole, &kept).await?;
        // A person may have merged the work by hand and have taken that back: it is still the work.
        let kept: Vec<CommitId> = kept.iter().chain(&work.own).chain(&foreign.whole).cloned().collect();
        gone.splice(0..0, self.repository.commits_without(&foreign.with_work, &kept).await?);
        Ok(gone)
    }

    async fn foreign_commits(&self, work: &WorkRange) -> Result<ForeignCommits, GitError> {
        let mut joints = BTreeSet::new();
        for (_, commit) in &work.given {
            joints.extend(self.repository.merge_bases(&work.head, commit).await?);
        }
        let mut foreign = ForeignCommits::default();
        for joint in joints {
            let mut has_work = false;
            for own in &work.own {
                has_work = has_work || self.repository.is_part_of(own, &joint).await?;
            }
            let kind = if has_work { &mut foreign.with_work } else { &mut foreign.whole };
            kind.push(joint);
        }
        Ok(foreign)
    }

    /// The commit after which the work's own commits come, to put those on another one: `git rebase --onto ONTO THIS`. Where the
    /// work has several lines of other commits, it is one that joins them all and that no branch has.
    pub(crate) async fn start_of_own(&self, work: &WorkRange, onto: &CommitId) -> Result<CommitId, GitError> {
        let mut work = work.clone();
        work.given.insert((work.branch.clone(), onto.clone()));
        let ends = self.repository.independent(&self.foreign_commits(&work).await?.whole).await?;
        match ends.as_slice() {
            [] => Ok(onto.clone()),
            [only] => Ok(only.clone()),
            [first, ..] => {
                let tree = self.tree_of(first).await?;
                let parents: Vec<&CommitId> = ends.iter().collect();
                let message = format!("What the work on {} was given", work.branch);
                self.join_all(&message, Timestamp::from_ms(0), &tree, &parents).await
            }
        }
    }
}

impl Repository {
    /// The commits up to these that none of the others has, newest first.
    async fn commits_without<'a>(
        &self,
        heads: impl IntoIterator<Item = &'a CommitId>,
        kept: impl IntoIterator<Item = &'a CommitId>,
    ) -> Result<Vec<CommitId>, GitError> {
        let mut lines: Vec<String> = heads.into_iter().map(|head| format!("{head}\n")).collect();
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        lines.extend(kept.into_iter().map(|kept| format!("^{kept}\n")));
        let list = self.call("compare two branches").args(["rev-list", "--topo-order", "--stdin"]);
        let out = list.input(lines.concat()).run().await?;
        Ok(parse_commits(&out))
    }

    /// Where the histories of two commits meet.
    async fn merge_bases(&self, one: &CommitId, other: &CommitId) -> Result<Vec<CommitId>, GitError> {
        let call =
            self.call("compare two branches").args(["merge-base", "--all", one.as_str(), other.as_str()]);
        Ok(parse_commits(&call.find().await?.unwrap_or_default()))
    }

    /// Those that none of the others contains.
    async fn independent(&self, commits: &[CommitId]) -> Result<Vec<CommitId>, GitError> {
        if commits.len() < 2 {
            return Ok(commits.to_vec());
        }
        let call = self.call("compare branches").args(["merge-base", "--independent"]);
        Ok(parse_commits(&call.args(commits.iter().map(CommitId::as_str)).run().await?))
    }

    /// Each of these commits with its subject, in this order; not more than fit into a prompt.
    pub(crate) async fn subjects(&self, commits: &[CommitId]) -> Result<Vec<String>, GitError> {
        let named = commits.iter().take(SUBJECTS_MAX).map(CommitId::as_str);
        let log = self.call("list the commits").args(["log", "--no-walk=unsorted", "--format=%h %s"]);
        let out = log.args(named).arg("--").run().await?;
        Ok(String::from_utf8_lossy(&out).lines().map(str::to_owned).collect())
    }
}

fn parse_commits(out: &[u8]) -> Vec<CommitId> {
    String::from_utf8_lossy(out).lines().filter_map(|line| line.parse().ok()).collect()
}
