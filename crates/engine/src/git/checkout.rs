//! The worktree of one attempt: made, found again, handed on.
//!
//! Making one twice makes it once: each step looks at what is there first, and the owner's name is written
//! last. Nothing that stands in the way is deleted before it is in the vault (I17).

use std::fs;
use std::path::{Path, PathBuf};

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::AttemptId;

use crate::git::error::GitError;
use crate::git::program::At;
use crate::git::register::Stand;
use crate::git::registration::{Registration, clear_stale_locks, mend_link, set_owner};
use crate::git::room::{Worktrees, hidden_ref};
use crate::git::setup::Setup;

/// What a worktree stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A task's own branch, made from the project's when it is not there yet. Work that was rejected or
    /// has to be continued goes on from it.
    Task { branch: BranchName, from: BranchName },
    /// The tip of a branch, without being on it: a breakdown reads, and what it writes must not land there.
    Reading { branch: BranchName },
}

#[derive(Debug, Clone)]
pub struct CheckoutSpec {
    pub attempt: AttemptId,
    pub place: Place,
    /// The attempt whose worktree this one goes on in, where that still stands. The folder keeps its path,
    /// since an agent's session may be bound to it.
    pub resumes: Option<AttemptId>,
    pub setup: Setup,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    pub attempt: AttemptId,
    pub folder: PathBuf,
    pub place: Place,
    /// I15: where counting starts. Recorded under a hidden ref before the agent does.
    pub base: CommitId,
    pub(crate) git_dir: PathBuf,
}

/// What a closer look at a repository found of an attempt.
enum Found {
    Whole(Checkout),
    /// Where to start, and where counting does.
    Start(CommitId, CommitId),
}

impl Checkout {
    pub(crate) fn at(&self) -> At<'_> {
        At::Worktree { git_dir: &self.git_dir, folder: &self.folder }
    }
}

impl Worktrees {
    /// Where git writes when an agent commits in this worktree: outside of it, so a sandbox has to be told.
    pub fn git_folders(&self, checkout: &Checkout) -> Vec<PathBuf> {
        vec![checkout.git_dir.clone(), self.repository.git_dir().to_owned()]
    }

    /// The attempt's worktree, made or found. No other attempt at the same task may be alive.
    pub async fn create(&self, spec: &CheckoutSpec) -> Result<Checkout, GitError> {
        spec.setup.check()?;
        let lock = self.lock().await?;
        if let Some(own) = self.seat_of(spec.attempt).filter(Registration::is_sound) {
            return self.adopt(spec, &own).await;
        }
        if let Some(earlier) = spec.resumes.and_then(|earlier| self.seat_of(earlier))
            && earlier.is_sound()
            && stands_on(&earlier, &spec.place)
        {
            return self.go_on_in(spec, &earlier).await;
        }
        let folder = self.folder_of(spec.attempt);
        let (start, base) = match self.begin_anew(spec, &folder).await? {
            Some(tip) => (tip.clone(), tip),
            None => match self.look_closer(spec, &folder).await? {
                Found::Whole(found) => return Ok(found),
                Found::Start(start, base) => (start, base),
            },
        };
        let spare = match &spec.place {
            Place::Task { branch, .. } => self.take_spare(&folder, branch, &start).await?,
            Place::Reading { .. } => None,
        };
        let is_filled = spare.is_some();
        let git_dir = match (spare, &spec.place) {
            (Some(git_dir), _) => git_dir,
            (None, Place::Task { branch, .. }) => self.register(&folder, Stand::Branch(branch)).await?,
            (None, Place::Reading { .. }) => self.register(&folder, Stand::Commit(&start)).await?,
        };
        // The files are written without the lock, so that many worktrees can be filled at once.
        drop(lock);
        let made = Checkout { attempt: spec.attempt, folder, place: spec.place.clone(), base, git_dir };
        if !is_filled {
            self.fill(&made).await?;
        }
        self.set_up(&made, &spec.setup).await?;
        self.own(&made)?;
        Ok(made)
    }

    /// The usual case, a task's first attempt: nothing of it is there. Then nothing else has to be looked at, and its
    /// branch and its base are made in one call.
    async fn begin_anew(&self, spec: &CheckoutSpec, folder: &Path) -> Result<Option<CommitId>, GitError> {
        match &spec.place {
            Place::Task { branch, from } if spec.resumes.is_none() && !folder.exists() => {
                self.begin(spec.attempt, branch, from).await
            }
            Place::Task { .. } | Place::Reading { .. } => Ok(None),
        }
    }

    /// Something of the attempt, its task or the attempt before it may be there already. Looks at all worktrees.
    async fn look_closer(&self, spec: &CheckoutSpec, folder: &Path) -> Result<Found, GitError> {
        let all = self.registrations().await?;
        let owned_by = |attempt| all.iter().find(|found| found.owner == Some(attempt) && found.is_sound());
        if let Some(own) = owned_by(spec.attempt) {
            return self.adopt(spec, own).await.map(Found::Whole);
        }
        if let Some(earlier) = spec.resumes.and_then(owned_by)
            && stands_on(earlier, &spec.place)
        {
            return self.go_on_in(spec, earlier).await.map(Found::Whole);
        }
        let all = self.make_room(spec.attempt, folder, all).await?;
        let start = self.start(spec, &all).await?;
        let base = self.record_base(spec, &start).await?;
        Ok(Found::Start(start, base))
    }

    /// The worktree of the attempt before becomes this one's.
    async fn go_on_in(&self, spec: &CheckoutSpec, earlier: &Registration) -> Result<Checkout, GitError> {
        let base = self.record_base(spec, &self.head_of(earlier).await?).await?;
        self.take_over(spec, earlier, base)
    }

    /// Whether the attempt got as far as having a place to work in.
    pub async fn has_started(&self, attempt: AttemptId) -> Result<bool, GitError> {
        Ok(self.hidden("base", attempt).await?.is_some())
    }

    /// The attempt's worktree, if it stands.
    pub async fn open(&self, attempt: AttemptId, place: Place) -> Result<Option<Checkout>, GitError> {
        let Some(found) = self.owned_by(attempt).await? else { return Ok(None) };
        let base = self.hidden("base", attempt).await?;
        Ok(found.git_dir.zip(base).map(|(git_dir, base)| Checkout {
            attempt,
            folder: found.folder,
            place,
            base,
            git_dir,
        }))
    }

    async fn adopt(&self, spec: &CheckoutSpec, found: &Registration) -> Result<Checkout, GitError> {
        let base = match self.hidden("base", spec.attempt).await? {
            Some(base) => base,
            // Someone deleted the record; the best that is left is to count from here.
            None => self.record_base(spec, &self.head_of(found).await?).await?,
        };
        self.take_over(spec, found, base)
    }

    fn take_over(
        &self,
        spec: &CheckoutSpec,
        found: &Registration,
        base: CommitId,
    ) -> Result<Checkout, GitError> {
        let Some(git_dir) = found.git_dir.clone() else {
            return Err(GitError::NoWorktree { attempt: spec.attempt });
        };
        clear_stale_locks(&git_dir);
        mend_link(&found.folder, &git_dir).map_err(|source| GitError::File {
            tried: "mend",
            path: found.folder.join(".git"),
            source,
        })?;
        let folder = found.folder.clone();
        let adopted = Checkout { attempt: spec.attempt, folder, place: spec.place.clone(), base, git_dir };
        self.own(&adopted)?;
        Ok(adopted)
    }

    /// Makes the attempt the worktree's owner, and remembers where it is.
    fn own(&self, checkout: &Checkout) -> Result<(), GitError> {
        set_owner(&checkout.git_dir, checkout.attempt).map_err(|source| GitError::File {
            tried: "lock the worktree by",
            path: checkout.git_dir.clone(),
            source,
        })?;
        self.seats.note(checkout.attempt, &checkout.git_dir);
        Ok(())
    }

    async fn head_of(&self, found: &Registration) -> Result<CommitId, GitError> {
        let git_dir = found.git_dir.as_deref().unwrap_or(self.repository.git_dir());
        let nowhere = || GitError::Garbled {
            tried: "see where the worktree stands",
            answer: "on a branch without commits".to_owned(),
        };
        self.repository.head_at(git_dir).await?.ok_or_else(nowhere)
    }

    /// Clears the attempt's own folder of what a crash or a stranger left there. Answers with what git has on
    /// record now.
    async fn make_room(
        &self,
        attempt: AttemptId,
        folder: &Path,
        all: Vec<Registration>,
    ) -> Result<Vec<Registration>, GitError> {
        let registered = all.iter().find(|found| found.folder == folder);
        match registered.and_then(|found| found.owner) {
            Some(by) if by != attempt => return Err(GitError::HandedOn { attempt, by }),
            Some(_) | None => {}
        }
        let broken = all.iter().find(|found| found.owner == Some(attempt)).or(registered);
        if broken.is_none() && !folder.exists() {
            return Ok(all);
        }
        self.clear(attempt, broken, folder).await?;
        self.registrations().await
    }

    /// The commit to start from, with the branch made and free to be checked out.
    async fn start(&self, spec: &CheckoutSpec, all: &[Registration]) -> Result<CommitId, GitError> {
        match &spec.place {
            Place::Task { branch, from } => {
                for holder in all.iter().filter(|found| found.branch.as_deref() == Some(branch.as_str())) {
                    self.free(branch, holder).await?;
                }
                Ok(self.repository.ensure_branch(branch, from).await?.tip().clone())
            }
            Place::Reading { branch } => self.repository.tip_of_existing(branch).await,
        }
    }

    /// The branch and the base, made together. None when either is there already, or something is in the way that
    /// deserves a longer look.
    async fn begin(
        &self,
        attempt: AttemptId,
        branch: &BranchName,
        from: &BranchName,
    ) -> Result<Option<CommitId>, GitError> {
        let tips = self.repository.tips(&[branch, from]).await?;
        let (None, Some(tip)) = (tips.get(branch), tips.get(from)) else { return Ok(None) };
        let base = hidden_ref("base", attempt);
        let lines = format!("create refs/heads/{branch} {tip}\ncreate {base} {tip}\n");
        let begun = self.repository.update_refs("begin the task's branch", &lines).await;
        Ok(begun.is_ok().then(|| tip.clone()))
    }

    /// Takes a branch out of the hands of a worktree, unless the worktree is the human's.
    pub(crate) async fn free(&self, branch: &BranchName, holder: &Registration) -> Result<(), GitError> {
        let tried = "free the branch";
        match &holder.git_dir {
            // An earlier attempt's: its files and its commit stay, only the name moves on.
            Some(git_dir) if self.is_ours(holder) => {
                clear_stale_locks(git_dir);
                let head = self.head_of(holder).await?;
                let detach = self.repository.call_at(tried, At::Repository(git_dir));
                detach.args(["update-ref", "--no-deref", "HEAD", head.as_str()]).run().await.map(drop)
            }
            // The record of a folder that is gone, and that nobody asked git to keep.
            Some(_) if !holder.is_locked && !holder.folder.exists() => {
                let drop_it = self.repository.call(tried).args(["worktree", "remove", "--force", "--"]);
                drop_it.arg(&holder.folder).run().await.map(drop)
            }
            Some(_) | None => Err(GitError::CheckedOut { branch: branch.clone(), at: holder.folder.clone() }),
        }
    }

    /// The first record stands, and an attempt that goes on from another counts from where that one did: what
    /// was committed before a crash, a question or the last turn is work all the same.
    async fn record_base(&self, spec: &CheckoutSpec, start: &CommitId) -> Result<CommitId, GitError> {
        let earlier = match spec.resumes {
            Some(earlier) => self.hidden("base", earlier).await?,
            None => None,
        };
        let base = earlier.unwrap_or_else(|| start.clone());
        let line = format!("create {} {base}\n", hidden_ref("base", spec.attempt));
        match self.repository.update_refs("record where the attempt starts", &line).await {
            Ok(()) => Ok(base),
            Err(error) => self.hidden("base", spec.attempt).await?.ok_or(error),
        }
    }

    async fn fill(&self, made: &Checkout) -> Result<(), GitError> {
        let fill = self.repository.call_at("write the worktree's files", made.at());
        fill.write_files().run().await.map(drop)
    }
}

/// An agent that stepped off its branch left a worktree in which nothing can be continued.
fn stands_on(found: &Registration, place: &Place) -> bool {
    match place {
        Place::Task { branch, .. } => found.branch.as_deref() == Some(branch.as_str()),
        Place::Reading { .. } => found.branch.is_none() && fs::metadata(&found.folder).is_ok(),
    }
}
