//! The worktree of one attempt: made, found again, handed on.
//!
//! Making one twice makes it once: each step looks at what is there first, and the owner's name is written
//! last. Nothing that stands in the way is deleted before it is in the vault (I17).

use std::fs;
use std::path::{Path, PathBuf};

use baton_core::git_name::{BranchName, CommitId};
use baton_core::id::AttemptId;

use super::error::GitError;
use super::git::At;
use super::registration::{Registration, clear_stale_locks, mend_link, set_owner};
use super::room::{Worktrees, hidden_ref};
use super::setup::Setup;

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
    pub(super) git_dir: PathBuf,
}

impl Checkout {
    pub(super) fn at(&self) -> At<'_> {
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
        let all = self.registrations().await?;
        let owned_by = |attempt| all.iter().find(|found| found.owner == Some(attempt) && found.is_sound());
        if let Some(own) = owned_by(spec.attempt) {
            return self.adopt(spec, own).await;
        }
        if let Some(earlier) = spec.resumes.and_then(owned_by)
            && stands_on(earlier, &spec.place)
        {
            self.record_base(spec, &self.head_of(earlier).await?).await?;
            return self.adopt(spec, earlier).await;
        }
        let folder = self.folder_of(spec.attempt);
        let all = self.make_room(spec.attempt, &folder, all).await?;
        let (start, recorded) = self.start(spec, &all).await?;
        let base = match recorded {
            Some(base) => base,
            None => self.record_base(spec, &start).await?,
        };
        let spare = match &spec.place {
            Place::Task { branch, .. } => self.take_spare(&all, &folder, branch, &start).await?,
            Place::Reading { .. } => None,
        };
        let is_filled = spare.is_some();
        let git_dir = match spare {
            Some(git_dir) => git_dir,
            None => self.register(&folder, &spec.place, &start).await?,
        };
        // The files are written without the lock, so that many worktrees can be filled at once.
        drop(lock);
        let made = Checkout { attempt: spec.attempt, folder, place: spec.place.clone(), base, git_dir };
        if !is_filled {
            self.fill(&made).await?;
        }
        self.set_up(&made, &spec.setup).await?;
        own(&made)?;
        Ok(made)
    }

    /// Whether the attempt got as far as having a place to work in.
    pub async fn has_started(&self, attempt: AttemptId) -> Result<bool, GitError> {
        Ok(self.hidden("base", attempt).await?.is_some())
    }

    /// The attempt's worktree, if it stands.
    pub async fn open(&self, attempt: AttemptId, place: Place) -> Result<Option<Checkout>, GitError> {
        let all = self.registrations().await?;
        let Some(found) = all.into_iter().find(|found| found.owner == Some(attempt)) else { return Ok(None) };
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
        let Some(git_dir) = found.git_dir.clone() else {
            return Err(GitError::NoWorktree { attempt: spec.attempt });
        };
        clear_stale_locks(&git_dir);
        mend_link(&found.folder, &git_dir).map_err(|source| GitError::File {
            tried: "mend",
            path: found.folder.join(".git"),
            source,
        })?;
        let base = match self.hidden("base", spec.attempt).await? {
            Some(base) => base,
            // Someone deleted the record; the best that is left is to count from here.
            None => self.record_base(spec, &self.head_of(found).await?).await?,
        };
        let folder = found.folder.clone();
        let adopted = Checkout { attempt: spec.attempt, folder, place: spec.place.clone(), base, git_dir };
        own(&adopted)?;
        Ok(adopted)
    }

    async fn head_of(&self, found: &Registration) -> Result<CommitId, GitError> {
        let git_dir = found.git_dir.as_deref().unwrap_or(self.repository.git_dir());
        let call = self.repository.call_at("see where the worktree stands", At::Repository(git_dir));
        call.args(["rev-parse", "--verify", "HEAD^{commit}"]).commit().await
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

    /// The commit to start from, with the branch made and free to be checked out; and the attempt's base, when it
    /// could be recorded in the same step.
    async fn start(
        &self,
        spec: &CheckoutSpec,
        all: &[Registration],
    ) -> Result<(CommitId, Option<CommitId>), GitError> {
        match &spec.place {
            Place::Task { branch, from } => {
                for holder in all.iter().filter(|found| found.branch.as_deref() == Some(branch.as_str())) {
                    self.free(branch, holder).await?;
                }
                if spec.resumes.is_none()
                    && let Some(tip) = self.begin(spec.attempt, branch, from).await?
                {
                    return Ok((tip.clone(), Some(tip)));
                }
                Ok((self.repository.ensure_branch(branch, from).await?.tip().clone(), None))
            }
            Place::Reading { branch } => Ok((self.repository.tip_of_existing(branch).await?, None)),
        }
    }

    /// The usual case, a task's first attempt, in two calls of git: the branch and the base are made together. None
    /// when either is there already, or something is in the way that deserves a longer look.
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
    pub(super) async fn free(&self, branch: &BranchName, holder: &Registration) -> Result<(), GitError> {
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

    async fn register(&self, folder: &Path, place: &Place, start: &CommitId) -> Result<PathBuf, GitError> {
        match place {
            Place::Task { branch, .. } => self.register_at(folder, branch.as_str(), false).await,
            Place::Reading { .. } => self.register_detached(folder, start).await,
        }
    }

    /// A worktree on a commit, and on no branch; its files are not written yet.
    pub(super) async fn register_detached(
        &self,
        folder: &Path,
        start: &CommitId,
    ) -> Result<PathBuf, GitError> {
        self.register_at(folder, start.as_str(), true).await
    }

    async fn register_at(&self, folder: &Path, at: &str, is_detached: bool) -> Result<PathBuf, GitError> {
        let add = self.repository.call("make the worktree");
        // Forced, because we looked: git would also count a branch some dead rebase still speaks for.
        let add = add.args(["worktree", "add", "--quiet", "--no-checkout", "--force", "--force"]);
        let add = if is_detached { add.arg("--detach") } else { add };
        add.arg("--").arg(folder).arg(at).run().await?;
        let lost = || GitError::Garbled { tried: "make the worktree", answer: "there is none".to_owned() };
        self.git_dir_of(folder).ok_or_else(lost)
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

fn own(checkout: &Checkout) -> Result<(), GitError> {
    set_owner(&checkout.git_dir, checkout.attempt).map_err(|source| GitError::File {
        tried: "lock the worktree by",
        path: checkout.git_dir.clone(),
        source,
    })
}
