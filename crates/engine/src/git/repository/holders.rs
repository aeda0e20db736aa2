//! Which checkout of the person's has a branch. A branch that is checked out is not moved: the files there would no longer
//! match it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use baton_core::base::git_name::BranchName;

use crate::git::error::GitError;
use crate::git::repository::Repository;
use crate::git::repository::head::ref_in;

/// The repository's own checkout, or a worktree linked to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct LinkedCheckout {
    pub folder: PathBuf,
    pub branch: Option<String>,
    pub is_bare: bool,
    /// Why it is locked, if it is.
    pub lock_reason: Option<String>,
}

/// Git holds the lock of a ref for a moment.
const LOCK_HELD_MAX: Duration = Duration::from_secs(2);

impl Repository {
    /// Refuses a branch that is checked out. The record of a folder that is gone is dropped, unless somebody locked it.
    pub(crate) async fn check_not_checked_out(&self, branch: &BranchName) -> Result<(), GitError> {
        if !self.may_be_checked_out(branch) {
            return Ok(());
        }
        for (number, found) in self.linked_checkouts().await?.into_iter().enumerate() {
            if found.is_bare || found.branch.as_deref() != Some(branch.as_str()) {
                continue;
            }
            if number == 0 || found.lock_reason.is_some() || found.folder.exists() {
                return Err(GitError::CheckedOut { branch: branch.clone(), at: found.folder });
            }
            let forget = self.call("free the branch").args(["worktree", "remove", "--force", "--"]);
            forget.arg(&found.folder).run().await?;
        }
        Ok(())
    }

    /// Refuses a branch whose lock has been there for longer than git needs to move it.
    pub(crate) fn check_not_locked(&self, branch: &BranchName) -> Result<(), GitError> {
        let lock = self.git_dir().join(format!("refs/heads/{branch}.lock"));
        let since = fs::metadata(&lock).and_then(|found| found.modified()).ok();
        match since.and_then(|since| since.elapsed().ok()) {
            Some(age) if age > LOCK_HELD_MAX => Err(GitError::Failed {
                tried: "move the project's branch",
                code: None,
                stderr: format!("Unable to create '{}': File exists", lock.display()),
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// Without linked worktrees there is one HEAD, which is read without git.
    fn may_be_checked_out(&self, branch: &BranchName) -> bool {
        let has_linked =
            fs::read_dir(self.git_dir().join("worktrees")).is_ok_and(|mut all| all.next().is_some());
        match ref_in(self.git_dir()) {
            Some(head) => has_linked || head.strip_prefix("refs/heads/") == Some(branch.as_str()),
            None => true,
        }
    }

    /// The repository's own checkout first, then the linked worktrees.
    pub(crate) async fn linked_checkouts(&self) -> Result<Vec<LinkedCheckout>, GitError> {
        let list = self.call("list the worktrees");
        let out = list.args(["worktree", "list", "--porcelain", "-z"]).run().await?;
        let mut all: Vec<LinkedCheckout> = Vec::new();
        for field in out.split(|byte| *byte == 0) {
            if let Some(folder) = field.strip_prefix(b"worktree ") {
                let folder = PathBuf::from(OsStr::from_bytes(folder));
                all.push(LinkedCheckout { folder, ..LinkedCheckout::default() });
            } else if let Some(last) = all.last_mut() {
                read_field(last, &String::from_utf8_lossy(field));
            }
        }
        Ok(all)
    }
}

fn read_field(found: &mut LinkedCheckout, field: &str) {
    if let Some(branch) = field.strip_prefix("branch refs/heads/") {
        found.branch = Some(branch.to_owned());
    } else if field == "bare" {
        found.is_bare = true;
    } else if let Some(reason) = field.strip_prefix("locked") {
        found.lock_reason = Some(reason.trim().to_owned());
    }
}
