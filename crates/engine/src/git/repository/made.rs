//! Where the integration branch was created. Until something lands on it, it has nothing of its own, and lets go of commits that the
//! person withdraws.

use baton_core::base::git_name::{BranchName, CommitId};

use crate::git::clone::worktrees::Worktrees;
use crate::git::error::GitError;
use crate::git::repository::BranchMade;

/// The commit up to which the integration branch has nothing of its own.
const MADE_AT: &str = "refs/baton/made-at";

/// Where one of the branches stood that the integration branch was created from or has followed.
fn made_ref(from: &BranchName) -> String {
    format!("{MADE_FROM}{from}")
}

const MADE_FROM: &str = "refs/baton/made/";

/// The lines that record where the integration branch was created or has followed.
fn made_lines(from: &BranchName, at: &CommitId) -> String {
    format!("update {MADE_AT} {at}\nupdate {} {at}\n", made_ref(from))
}

/// A branch on which nothing has landed, and where it is to be because what it was created from was withdrawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LetGo {
    pub from: CommitId,
    pub to: CommitId,
    /// The branch that leads through there.
    leads: BranchName,
}

impl Worktrees {
    /// Creates a branch at the tip of another, unless it exists, and remembers where.
    pub(crate) async fn make_branch(
        &self,
        branch: &BranchName,
        from: &BranchName,
    ) -> Result<BranchMade, GitError> {
        if let (None, Some(start)) = (self.repository.tip(branch).await?, self.repository.tip(from).await?) {
            let lines = format!("create refs/heads/{branch} {start}\n{}", made_lines(from, &start));
            if self.repository.update_refs("make a branch", &lines).await.is_ok() {
                return Ok(BranchMade::New(start));
            }
        }
        // It is there, or something is in the way, which this says.
        self.repository.ensure_branch(branch, from).await
    }

    /// The branch has followed another one, with nothing of its own.
    pub(crate) async fn note_followed(
        &self,
        from: &BranchName,
        before: &CommitId,
        now: &CommitId,
    ) -> Result<(), GitError> {
        if self.repository.commit_at(MADE_AT).await?.as_ref() != Some(before) {
            return Ok(());
        }
        self.repository.update_refs("note where a branch was made", &made_lines(from, now)).await
    }

    /// Takes a branch on which nothing has landed back, if it has to let go of something. True if it has moved.
    pub(crate) async fn let_go_of_withdrawn(
        &self,
        branch: &BranchName,
        base: &BranchName,
    ) -> Result<bool, GitError> {
        if self.withdrawn_below(branch, base).await?.is_none() {
            return Ok(false);
        }
        let _lock = self.lock().await?;
        let Some(LetGo { from, to, leads }) = self.withdrawn_below(branch, base).await? else {
            return Ok(false);
        };
        self.repository.check_not_checked_out(branch).await?;
        let lines = format!("update refs/heads/{branch} {to} {from}\n{}", made_lines(&leads, &to));
        self.repository.update_refs("let go of withdrawn commits", &lines).await?;
        Ok(true)
    }

    /// Where a branch on which nothing has landed is to be, if neither the branches that it was created from or has followed nor
    /// the person's base has the commit any more at which it stands: where the first of those still leads through.
    pub(crate) async fn withdrawn_below(
        &self,
        branch: &BranchName,
        base: &BranchName,
    ) -> Result<Option<LetGo>, GitError> {
        let repository = &self.repository;
        let (Some(ours), Some(made)) = (repository.tip(branch).await?, repository.commit_at(MADE_AT).await?)
        else {
            return Ok(None);
        };
        // What is at the remote has been published.
        if ours != made || self.origin_tip(branch).await?.is_some() {
            return Ok(None);
        }
        let list = repository.call("see where a branch was made").arg("for-each-ref");
        let list = list.args(["--format=%(refname)", &format!("--points-at={ours}"), MADE_FROM]);
        let from = String::from_utf8_lossy(&list.run().await?).into_owned();
        let from = from.lines().filter_map(|name| name.strip_prefix(MADE_FROM)?.parse().ok());
        let mut leads = None;
        for from in from.chain([base.clone()]) {
            // A branch that was renamed or deleted says nothing.
            let Some(tip) = repository.tip(&from).await? else { continue };
            if repository.is_ancestor(&ours, &tip).await? {
                return Ok(None);
            }
            leads.get_or_insert((from, tip));
        }
        let Some((leads, tip)) = leads else { return Ok(None) };
        let to = repository.merge_base(&ours, &tip).await?.unwrap_or(tip);
        Ok(Some(LetGo { from: ours, to, leads }))
    }
}
