//! The working folder of one attempt: made, found again, handed on.
//!
//! Making one twice makes it once: each step looks at what is there first, and the owner is written last. Nothing that is in
//! the way is deleted before it is in the vault (I17).

use std::path::{Path, PathBuf};

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::AttemptId;

use crate::git::clone::make::failed;
use crate::git::clone::private_clone::{CloneState, PrivateClone};
use crate::git::clone::setup::Setup;
use crate::git::clone::worktrees::{Worktrees, hidden_ref};
use crate::git::error::GitError;
use crate::git::repository::BranchMade;
use crate::git::repository::given::given_lines;
use crate::git::repository::ground::{ground_ref, start_line, start_ref};

/// What a clone stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckoutBase {
    /// A task's own branch, made from the project's when it is not there yet. Work that was rejected or has to be continued
    /// starts from it.
    Task {
        branch: BranchName,
        from: BranchName,
        /// The person's branch, where it has all of `from` and more: then the work starts there.
        ahead: Option<BranchName>,
    },
    /// A branch that is read. Nothing that is committed there reaches the person's branch.
    Reading { branch: BranchName },
}

impl CheckoutBase {
    pub(crate) fn branch(&self) -> &BranchName {
        match self {
            Self::Task { branch, .. } | Self::Reading { branch } => branch,
        }
    }
}

#[derive(Debug, Clone)]
pub struct CheckoutSpec {
    pub attempt: AttemptId,
    pub place: CheckoutBase,
    /// The attempt whose clone this one continues in, where that still stands. The folder keeps its path, since an agent's
    /// session may be bound to it.
    pub resumes: Option<AttemptId>,
    pub setup: Setup,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    pub attempt: AttemptId,
    pub folder: PathBuf,
    pub place: CheckoutBase,
    /// I15: where counting starts. Recorded under a hidden ref before the agent starts.
    pub base: CommitId,
}

/// What was found of an attempt.
enum Found {
    Whole(Checkout),
    /// Where to start, and where counting starts.
    Start(CommitId, CommitId),
}

impl Worktrees {
    /// The one folder that a sandbox may not recognise as part of the working folder.
    pub fn git_folders(&self, checkout: &Checkout) -> Vec<PathBuf> {
        vec![checkout.folder.join(".git")]
    }

    /// Makes or finds the attempt's clone. No other attempt at the same task may be alive.
    pub async fn create(&self, spec: &CheckoutSpec) -> Result<Checkout, GitError> {
        spec.setup.check()?;
        self.convert_legacy().await?;
        let lock = self.lock().await?;
        let folder = self.folder_of(spec.attempt);
        let (start, base) = match self.begin_anew(spec, &folder).await? {
            Some(tip) => (tip.clone(), tip),
            None => match self.find_or_start(spec, &folder).await? {
                Found::Whole(found) => return Ok(found),
                Found::Start(start, base) => (start, base),
            },
        };
        let branch = spec.place.branch();
        let made = if let Some(made) = self.take_spare(&folder, branch, &start).await? {
            drop(lock);
            made
        } else {
            // The files are written without the lock, so that many clones can be filled at once.
            drop(lock);
            self.make_clone(&folder, branch, &start).await?
        };
        let checkout = Checkout { attempt: spec.attempt, folder, place: spec.place.clone(), base };
        self.set_up(&made, &spec.setup).await?;
        self.own(&made, spec.attempt)?;
        Ok(checkout)
    }

    /// The usual case, a task's first attempt: nothing of it is there, and its branch and base are created in one call.
    async fn begin_anew(&self, spec: &CheckoutSpec, folder: &Path) -> Result<Option<CommitId>, GitError> {
        match &spec.place {
            CheckoutBase::Task { branch, from, ahead } if spec.resumes.is_none() && !folder.exists() => {
                self.begin(spec.attempt, branch, from, ahead.as_ref()).await
            }
            CheckoutBase::Task { .. } | CheckoutBase::Reading { .. } => Ok(None),
        }
    }

    /// Something of the attempt, its task or the attempt before it may be there.
    async fn find_or_start(&self, spec: &CheckoutSpec, folder: &Path) -> Result<Found, GitError> {
        let by = self.clone_in(folder).record.owner().filter(|by| *by != spec.attempt);
        let own = self.owned_by(spec.attempt);
        if let Some(own) = own.as_ref().filter(|own| self.can_continue_in(own, None)) {
            return self.continue_in(spec, own).await.map(Found::Whole);
        }
        let earlier = spec.resumes.and_then(|earlier| self.owned_by(earlier));
        if let Some(earlier) = &earlier {
            if self.can_continue_in(earlier, Some(spec.place.branch())) {
                return self.continue_in(spec, earlier).await.map(Found::Whole);
            }
            // Its commits are where this attempt starts, as far as they were not brought over before.
            self.bring_clone(&earlier.folder, &spec.place).await?;
        }
        if let Some(by) = by {
            return Err(GitError::HandedOn { attempt: spec.attempt, by });
        }
        if own.is_some() || folder.symlink_metadata().is_ok() {
            self.clear(spec.attempt, own.unwrap_or_else(|| self.clone_in(folder))).await?;
        }
        let start = self.start(spec).await?;
        let base = self.record_base(spec, &start).await?;
        Ok(Found::Start(start, base))
    }

    /// Whether an agent can work there; `branch` is what it has to stand on.
    fn can_continue_in(&self, found: &PrivateClone, branch: Option<&BranchName>) -> bool {
        match found.state(&self.repository.objects()) {
            CloneState::Sound(refs) => branch.is_none_or(|branch| refs.is_on(branch)),
            CloneState::Gone | CloneState::Replaced | CloneState::Broken(_) => false,
        }
    }

    /// A clone that stands becomes this attempt's.
    async fn continue_in(&self, spec: &CheckoutSpec, earlier: &PrivateClone) -> Result<Checkout, GitError> {
        let start = self.start(spec).await?;
        let base = self.record_base(spec, &start).await?;
        clear_clone_locks(&earlier.git_dir());
        self.renew_refs(earlier, spec.place.branch()).await?;
        self.own(earlier, spec.attempt)?;
        let folder = earlier.folder.clone();
        Ok(Checkout { attempt: spec.attempt, folder, place: spec.place.clone(), base })
    }

    /// Makes the attempt the clone's owner, and remembers where it is.
    fn own(&self, made: &PrivateClone, attempt: AttemptId) -> Result<(), GitError> {
        made.record.set_owner(attempt).map_err(failed("write", made.record.folder()))?;
        self.seats.note(attempt, &made.folder);
        Ok(())
    }

    /// Whether an agent can work in the folder as it is now.
    pub fn is_usable(&self, checkout: &Checkout) -> bool {
        self.can_continue_in(&self.clone_in(&checkout.folder), None)
    }

    /// Whether the attempt got as far as having a place to work in.
    pub async fn has_started(&self, attempt: AttemptId) -> Result<bool, GitError> {
        Ok(self.hidden("base", attempt).await?.is_some())
    }

    /// Where the attempt works, if that is still there.
    pub(crate) fn standing_folder(&self, attempt: AttemptId) -> Option<PathBuf> {
        self.owned_by(attempt).map(|found| found.folder)
    }

    pub async fn open(&self, attempt: AttemptId, place: CheckoutBase) -> Result<Option<Checkout>, GitError> {
        self.convert_legacy().await?;
        let Some(found) = self.owned_by(attempt) else { return Ok(None) };
        let base = self.hidden("base", attempt).await?;
        Ok(base.map(|base| Checkout { attempt, folder: found.folder, place, base }))
    }

    /// The commit to start from, with the branch created and free to be moved: an agent is not started for work that could
    /// not be brought over.
    async fn start(&self, spec: &CheckoutSpec) -> Result<CommitId, GitError> {
        match &spec.place {
            CheckoutBase::Task { branch, from, ahead } => {
                self.repository.check_not_checked_out(branch).await?;
                let trunk = ahead.as_ref().unwrap_or(from);
                let made = self.repository.ensure_branch(branch, trunk).await?;
                let tip = made.tip().clone();
                let mut lines = format!("verify refs/heads/{branch} {tip}\n");
                if let (BranchMade::New(_), Some(_)) = (&made, ahead) {
                    lines.push_str(&start_line(branch, &tip));
                }
                lines.push_str(&self.given_now(&spec.place).await?);
                self.repository.update_refs("lock the task's branch", &lines).await?;
                Ok(tip)
            }
            CheckoutBase::Reading { branch } => self.repository.tip_of_existing(branch).await,
        }
    }

    /// The branch and the base, created together. None when either is there already, or something is in the way that needs a
    /// closer look.
    async fn begin(
        &self,
        attempt: AttemptId,
        branch: &BranchName,
        from: &BranchName,
        ahead: Option<&BranchName>,
    ) -> Result<Option<CommitId>, GitError> {
        let trunk = ahead.unwrap_or(from);
        let others: Vec<&BranchName> = [from].into_iter().chain(ahead).collect();
        let mut tips = self.repository.tips(&[&[branch][..], &others].concat()).await?;
        let is_there = tips.remove(branch);
        let (None, Some(tip)) = (is_there, tips.get(trunk)) else { return Ok(None) };
        let base = hidden_ref("base", attempt);
        let mut lines = format!("create refs/heads/{branch} {tip}\ncreate {base} {tip}\n");
        if ahead.is_some() {
            lines.push_str(&start_line(branch, tip));
        }
        lines.push_str(&given_lines(branch, &tips));
        let begun = self.repository.update_refs("create the task's branch", &lines).await;
        Ok(begun.is_ok().then(|| tip.clone()))
    }

    /// The first record stands, and an attempt that resumes another counts from where that one did: what was committed
    /// before a crash, a question or the last turn is work all the same. So does one that starts anew on a branch that has
    /// work: all of it is merged when it is accepted, so none of it may count as "no changes".
    async fn record_base(&self, spec: &CheckoutSpec, start: &CommitId) -> Result<CommitId, GitError> {
        if let Some(base) = self.hidden("base", spec.attempt).await? {
            return Ok(base);
        }
        let earlier = match spec.resumes {
            Some(earlier) => self.hidden("base", earlier).await?,
            None => None,
        };
        let base = match (earlier, &spec.place) {
            (Some(earlier), _) => earlier,
            (None, CheckoutBase::Task { branch, from, ahead }) => {
                let mut left = self.left_from(start, from).await?;
                // The person's commits are not its own work either. Another machine may have started it.
                let began = match (self.repository.commit_at(&start_ref(branch)).await?, ahead) {
                    (Some(began), _) => Some(began),
                    (None, Some(ahead)) => Some(self.left_from(start, ahead).await?),
                    (None, None) => None,
                };
                if let Some(began) = began
                    && self.repository.is_ancestor(&left, &began).await?
                    && self.repository.is_ancestor(&began, start).await?
                {
                    left = began;
                }
                // What it was started on is not its own work, even where that has not landed yet.
                match self.repository.commit_at(&ground_ref(branch)).await? {
                    Some(ground) if self.repository.is_ancestor(&left, &ground).await? => ground,
                    _ => left,
                }
            }
            (None, CheckoutBase::Reading { .. }) => start.clone(),
        };
        let line = format!("create {} {base}\n", hidden_ref("base", spec.attempt));
        self.repository.update_refs("record where the attempt starts", &line).await?;
        Ok(base)
    }
}

impl Worktrees {
    /// The lines that record where the branches stand that the work can take in now.
    pub(crate) async fn given_now(&self, place: &CheckoutBase) -> Result<String, GitError> {
        let CheckoutBase::Task { branch, from, ahead } = place else { return Ok(String::new()) };
        let others: Vec<&BranchName> = [from].into_iter().chain(ahead).collect();
        Ok(given_lines(branch, &self.repository.tips(&others).await?))
    }

    /// Where a branch that leads to this commit left the one it is to be merged into.
    async fn left_from(&self, tip: &CommitId, from: &BranchName) -> Result<CommitId, GitError> {
        let target = self.repository.tip_of_existing(from).await?;
        Ok(self.repository.merge_base(tip, &target).await?.unwrap_or_else(|| tip.clone()))
    }
}

/// Removes what a killed git leaves in a clone. The agent's processes are gone, so nobody holds these.
pub(crate) fn clear_clone_locks(git_dir: &Path) {
    for name in ["index.lock", "HEAD.lock", "config.lock", "packed-refs.lock"] {
        // Nearly always there is none.
        let _ = std::fs::remove_file(git_dir.join(name));
    }
}
