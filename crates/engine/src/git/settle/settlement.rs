//! The end of an attempt: its head is found, uncommitted work is committed, and the task's branch leads to the result.
//!
//! An agent may end anywhere: on another branch, on none, behind where it began. The head is the clone's HEAD, and the task's
//! branch follows it, with one exception: an agent that committed on its branch and then only switched away (HEAD has no
//! commits of its own) is taken at its branch. Whatever the branch no longer leads to is set aside under the vault.

use std::fs;

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::task::finding::WorkFinding;

use crate::git::clone::checkout::{Checkout, CheckoutBase};
use crate::git::clone::files;
use crate::git::clone::private_clone::{CloneState, PrivateClone};
use crate::git::clone::refs::{last_step, put_on};
use crate::git::clone::worktrees::{Worktrees, hidden_ref};
use crate::git::error::GitError;
use crate::git::settle::bring::Brought;
use crate::git::settle::leftovers::Leftovers;
use crate::git::settle::measure::Measured;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// The commits are the agent's own; the files and lines include what Baton committed for it.
    pub measured: Measured,
    /// There was work in the tree that the agent had not committed.
    pub uncommitted_changes: bool,
    /// Work that is on no branch now.
    pub aside: Vec<Aside>,
    /// What is odd about it.
    pub findings: Vec<WorkFinding>,
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
    /// The task's branch is, or becomes, the clone's HEAD. `old_tip` is where the clone's branch was.
    Head { head: CommitId, old_tip: Option<CommitId> },
    /// The work is on the branch, and HEAD is somewhere without work of its own.
    Branch { tip: CommitId, head: Option<CommitId> },
}

/// What a settling came to: the head, whether something was left uncommitted, and the rest.
struct SettledEnd {
    head: CommitId,
    leftovers: Leftovers,
    aside: Vec<Aside>,
}

impl Worktrees {
    /// Measures the attempt and leaves its task's branch on the result. The agent's processes have ended. Doing it twice
    /// does it once.
    pub async fn settle(&self, checkout: &Checkout) -> Result<Settled, GitError> {
        self.convert_legacy().await?;
        let brought = self.bring_refs(checkout).await?;
        let mut findings = self.clone_findings(checkout, &brought);
        let CheckoutBase::Task { branch, .. } = &checkout.place else {
            // A reader's changes belong to no branch; they are counted, and the vault keeps them.
            let measured = self.measure(checkout).await?;
            let uncommitted_changes = measured.uncommitted > 0;
            return Ok(Settled { measured, uncommitted_changes, aside: Vec::new(), findings });
        };
        let earlier = self.hidden("leftovers", checkout.attempt).await?;
        let given = self.given_now(&checkout.place).await?;
        self.repository.update_refs("note what the work could take in", &given).await?;
        let SettledEnd { head, leftovers, aside } = match self.end(checkout, branch, &brought).await? {
            End::Head { head, old_tip } => self.settle_on_head(checkout, branch, head, old_tip).await?,
            End::Branch { tip, head } => self.settle_on_branch(checkout, branch, tip, head).await?,
        };
        // After a crash there may be nothing left to commit, because an earlier settling did it.
        let uncommitted_changes = leftovers.commit.is_some() || earlier.is_some();
        if leftovers.commit.is_some() {
            findings.extend(Self::hooks_not_run(checkout));
        }
        findings.extend(leftovers.findings);
        findings.extend(self.commit_findings(checkout, &head).await?);
        let measured = self.measured(checkout, head, 0).await?;
        Ok(Settled { measured, uncommitted_changes, aside, findings })
    }

    async fn end(
        &self,
        checkout: &Checkout,
        branch: &BranchName,
        brought: &Brought,
    ) -> Result<End, GitError> {
        let (tip, head) = brought.branch_and_head(branch);
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
            (Some(head), None) => End::Head { head, old_tip: None },
            (None, Some(tip)) => End::Branch { tip, head: None },
            (None, None) => self.end_without_refs(checkout, branch, brought).await?,
        })
    }

    /// The clone's branch was deleted under its HEAD, or the clone is gone: what was there last counts.
    async fn end_without_refs(
        &self,
        checkout: &Checkout,
        branch: &BranchName,
        brought: &Brought,
    ) -> Result<End, GitError> {
        let known = self.repository.tip(branch).await?.unwrap_or_else(|| checkout.base.clone());
        let clone = self.clone_in(&checkout.folder);
        let last = match brought {
            Brought::All(_) => last_step(&clone.git_dir()),
            Brought::Nothing { .. } => None,
        };
        let last = match last {
            Some(last) => self.import_each(&clone, vec![last]).await?.pop(),
            None => None,
        };
        Ok(End::Head { head: last.unwrap_or(known), old_tip: None })
    }

    async fn settle_on_head(
        &self,
        checkout: &Checkout,
        branch: &BranchName,
        head: CommitId,
        old_tip: Option<CommitId>,
    ) -> Result<SettledEnd, GitError> {
        let leftovers = self.leftovers(checkout, Some(&head)).await?;
        let end = leftovers.commit.clone().unwrap_or_else(|| head.clone());
        let known = self.repository.tip(branch).await?;
        let mut aside = Vec::new();
        let mut lines = Vec::new();
        for (name, tip) in [("tip", &old_tip), ("before", &known)] {
            let Some(tip) = tip else { continue };
            let is_kept = aside.iter().any(|kept: &Aside| kept.commit == *tip);
            if !is_kept && !self.repository.is_ancestor(tip, &head).await? {
                let kept_at = format!("{}.{name}", hidden_ref("vault", checkout.attempt));
                lines.push(format!("update {kept_at} {tip}\n"));
                aside.push(Aside { kept_at, commit: tip.clone(), reason: AsideReason::OldTip });
            }
        }
        match &known {
            Some(known) if *known == end => {}
            Some(known) => lines.push(format!("update refs/heads/{branch} {end} {known}\n")),
            None => lines.push(format!("create refs/heads/{branch} {end}\n")),
        }
        if let Some(left) = &leftovers.commit {
            lines.push(format!("update {} {left}\n", hidden_ref("leftovers", checkout.attempt)));
        }
        self.repository.update_refs("move the task's branch", &lines.concat()).await?;
        self.attach(checkout, branch, &end, &leftovers);
        Ok(SettledEnd { head: end, leftovers, aside })
    }

    async fn settle_on_branch(
        &self,
        checkout: &Checkout,
        branch: &BranchName,
        tip: CommitId,
        head: Option<CommitId>,
    ) -> Result<SettledEnd, GitError> {
        let leftovers = self.leftovers(checkout, head.as_ref()).await?;
        let mut lines = Vec::new();
        let mut aside = Vec::new();
        if let Some(left) = &leftovers.commit {
            // They were made on top of something else; on the branch they would undo its commits.
            let kept_at = format!("{}.leftovers", hidden_ref("vault", checkout.attempt));
            lines.push(format!("update {kept_at} {left}\n"));
            aside.push(Aside { kept_at, commit: left.clone(), reason: AsideReason::Leftovers });
        }
        if self.repository.tip(branch).await?.as_ref() != Some(&tip) {
            lines.push(format!("update refs/heads/{branch} {tip}\n"));
        }
        self.repository.update_refs("move the task's branch", &lines.concat()).await?;
        Ok(SettledEnd { head: tip, leftovers, aside })
    }

    /// Puts the clone back on its branch, which leads to what its files are, so that a later attempt can continue there. A
    /// clone in which that is not possible is made again.
    fn attach(&self, checkout: &Checkout, branch: &BranchName, end: &CommitId, leftovers: &Leftovers) {
        let clone = self.clone_in(&checkout.folder);
        let CloneState::Sound(refs) = clone.state(&self.repository.objects()) else { return };
        let is_there = refs.is_on(branch) && refs.branch(branch) == Some(end);
        if !is_there && put_on(&clone.git_dir(), branch, end).is_err() {
            return;
        }
        if let (Some(index), Some(_)) = (&leftovers.index, &leftovers.commit) {
            // The next settling is only slower without it.
            let _ = take_index(&clone, &index.path(), end);
        }
    }
}

fn take_index(clone: &PrivateClone, index: &std::path::Path, commit: &CommitId) -> std::io::Result<()> {
    clone.record.take_index(index, commit)?;
    files::replace(&clone.git_dir(), "index".as_ref(), &fs::read(index)?)
}
