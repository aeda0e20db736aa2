//! Brings commits from a clone into the person's repository.
//!
//! Which objects are new is found in the person's repository, with the clone's objects as one more place to read from. They
//! are packed, and unpacked with git's strictest checks: names such as `.git` in any spelling, `..`, damaged or missing
//! objects refuse the whole pack.

use std::fs::File;
use std::path::Path;

use baton_core::base::git_name::{BranchName, CommitId};

use crate::git::clone::checkout::{Checkout, CheckoutBase};
use crate::git::clone::make::failed;
use crate::git::clone::private_clone::{CloneState, PrivateClone};
use crate::git::clone::refs::CloneRefs;
use crate::git::clone::worktrees::Worktrees;
use crate::git::command::call::{Call, TIMEOUT_FILES};
use crate::git::error::GitError;
use crate::git::settle::quarantine::{Quarantine, QuarantineError};

/// With more objects than this, they stay in a pack.
const UNPACKED_MAX: usize = 500;

/// The clone as it was read, and the objects that were taken from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Brought {
    /// These refs lead to commits that are in the person's repository now.
    All(CloneRefs),
    /// The clone is gone or cannot be used; what was brought over before still counts.
    Nothing { state: CloneState },
}

/// Why a clone's objects were refused.
enum ImportResult {
    Done,
    Refused(String),
}

impl Worktrees {
    /// Brings what the attempt has committed so far onto its task's branch. Uncommitted work stays where it is.
    pub async fn bring(&self, checkout: &Checkout) -> Result<(), GitError> {
        self.bring_clone(&checkout.folder, &checkout.place).await
    }

    pub(crate) async fn bring_clone(&self, folder: &Path, place: &CheckoutBase) -> Result<(), GitError> {
        let CheckoutBase::Task { branch, .. } = place else { return Ok(()) };
        let Brought::All(refs) = self.bring_from(folder, branch).await? else { return Ok(()) };
        let Some(head) = refs.branch(branch).or(refs.head()) else { return Ok(()) };
        let tip = self.repository.tip(branch).await?;
        // A rewritten branch is left for the end of the attempt, which keeps what it no longer leads to.
        if let Some(tip) = tip
            && tip != *head
            && self.repository.is_ancestor(&tip, head).await?
        {
            let line = format!("update refs/heads/{branch} {head} {tip}\n");
            self.repository.update_refs("move the task's branch", &line).await?;
        }
        Ok(())
    }

    /// Reads the clone and brings over what its HEAD and its branch lead to.
    pub(crate) async fn bring_refs(&self, checkout: &Checkout) -> Result<Brought, GitError> {
        self.bring_from(&checkout.folder, checkout.place.branch()).await
    }

    async fn bring_from(&self, folder: &Path, branch: &BranchName) -> Result<Brought, GitError> {
        let clone = self.clone_in(folder);
        let state = clone.state(&self.repository.objects());
        let CloneState::Sound(refs) = state else { return Ok(Brought::Nothing { state }) };
        let wanted: Vec<CommitId> = refs.head().into_iter().chain(refs.branch(branch)).cloned().collect();
        match self.import(&clone, &wanted).await? {
            ImportResult::Done => Ok(Brought::All(refs)),
            ImportResult::Refused(why) => Ok(Brought::Nothing { state: CloneState::Broken(why) }),
        }
    }

    /// Brings over what the commits lead to; returns those that are there now.
    pub(crate) async fn import_each(
        &self,
        clone: &PrivateClone,
        commits: Vec<CommitId>,
    ) -> Result<Vec<CommitId>, GitError> {
        if let ImportResult::Done = self.import(clone, &commits).await? {
            return Ok(commits);
        }
        // One of them is damaged, or was removed by housekeeping: the others still count.
        let mut there = Vec::new();
        for commit in commits {
            if let ImportResult::Done = self.import(clone, std::slice::from_ref(&commit)).await? {
                there.push(commit);
            }
        }
        Ok(there)
    }

    async fn import(&self, clone: &PrivateClone, wanted: &[CommitId]) -> Result<ImportResult, GitError> {
        if wanted.is_empty() {
            return Ok(ImportResult::Done);
        }
        let objects = clone.git_dir().join("objects");
        let quarantine = match Quarantine::fill(self.scratch()?, &objects) {
            Ok(quarantine) => quarantine,
            Err(QuarantineError::TooLarge) => {
                return Ok(ImportResult::Refused("its objects are too large".to_owned()));
            }
            Err(error) => return Err(error.into_git_error(&objects)),
        };
        let borrowed = (!quarantine.is_empty).then(|| quarantine.objects());
        let new = match self.new_objects(wanted, borrowed.as_deref()).await? {
            Ok(new) => new,
            Err(refused) => return Ok(refused),
        };
        let Some(borrowed) = borrowed.filter(|_| !new.is_empty()) else { return Ok(ImportResult::Done) };
        self.transfer(&quarantine, &borrowed, &new).await
    }

    /// What the commits lead to and no ref of the person's does, an id a line.
    async fn new_objects(
        &self,
        wanted: &[CommitId],
        borrowed: Option<&Path>,
    ) -> Result<Result<Vec<u8>, ImportResult>, GitError> {
        let list = self.repository.call("find what is new").with_objects(borrowed);
        let list = list.args(["rev-list", "--objects", "--no-object-names", "--stdin"]);
        // Without ^0 git would take a tag or a tree for a commit.
        let lines: Vec<String> = wanted.iter().map(|commit| format!("{commit}\n{commit}^0\n")).collect();
        let listed =
            checked(list.args(["--not", "--all"]).input(lines.concat()).timeout(TIMEOUT_FILES)).await?;
        Ok(listed.map_err(ImportResult::Refused))
    }

    async fn transfer(
        &self,
        quarantine: &Quarantine,
        borrowed: &Path,
        new: &[u8],
    ) -> Result<ImportResult, GitError> {
        let pack = self.repository.call("pack what is new").with_objects(Some(borrowed));
        let pack = pack.args(["pack-objects", "--quiet", "--delta-base-offset"]).arg(quarantine.file("pack"));
        let name = match checked(pack.input(new).timeout(TIMEOUT_FILES)).await? {
            Ok(name) => String::from_utf8_lossy(&name).trim().to_owned(),
            Err(why) => return Ok(ImportResult::Refused(why)),
        };
        let path = quarantine.file(&format!("pack-{name}.pack"));
        let packed = File::open(&path).map_err(failed("read", &path))?;
        let unpack = self.repository.call("check what is new");
        let count = new.split(|byte| *byte == b'\n').count();
        let unpack = if count <= UNPACKED_MAX {
            unpack.args(["unpack-objects", "-q", "--strict"])
        } else {
            unpack.args(["index-pack", "--stdin", "--strict"])
        };
        match checked(unpack.input_file(packed).timeout(TIMEOUT_FILES)).await? {
            Ok(_) => Ok(ImportResult::Done),
            Err(why) => Ok(ImportResult::Refused(why)),
        }
    }
}

/// The answer, or why git refused what it was given. What is wrong with the machine is an error.
async fn checked(call: Call) -> Result<Result<Vec<u8>, String>, GitError> {
    match call.run().await {
        Ok(out) => Ok(Ok(out)),
        Err(GitError::Failed { code: Some(1 | 128), stderr, .. }) if !is_machine(&stderr) => Ok(Err(stderr)),
        Err(error) => Err(error),
    }
}

fn is_machine(stderr: &str) -> bool {
    ["No space left", "Permission denied", "Cannot allocate", "Too many open files", "Read-only file system"]
        .iter()
        .any(|text| stderr.contains(text))
}

impl Brought {
    /// Where the task's branch and HEAD are in the clone.
    pub(crate) fn branch_and_head(&self, branch: &BranchName) -> (Option<CommitId>, Option<CommitId>) {
        match self {
            Self::All(refs) => (refs.branch(branch).cloned(), refs.head().cloned()),
            Self::Nothing { .. } => (None, None),
        }
    }
}
