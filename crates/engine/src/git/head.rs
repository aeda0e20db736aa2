//! What a checkout stands on: its HEAD.
//!
//! Where git keeps its refs in files, HEAD is one line, read and written here without starting git. The new line is
//! written beside it and renamed, so that whoever looks finds the one or the other, after a crash too; git's own lock
//! would be left behind then. Anything else is left to git.

use std::fs;
use std::io;
use std::path::Path;

use baton_core::base::git_name::BranchName;

use crate::git::call::Call;
use crate::git::error::GitError;
use crate::git::program::At;
use crate::git::repository::Repository;

/// What a HEAD on a branch begins with.
const ON_A_REF: &str = "ref: ";
const BRANCHES: &str = "refs/heads/";
/// What stands in the file where the refs are kept elsewhere: no branch can be called this.
const ELSEWHERE: &str = "refs/heads/.invalid";

impl Repository {
    /// The name of the branch that is checked out in `folder`, which need not have a commit yet.
    pub(crate) async fn branch_checked_out(&self, folder: &Path) -> Result<Option<String>, GitError> {
        let git_dir = if self.is_bare() { folder.to_owned() } else { folder.join(".git") };
        if let Some(named) = ref_in(&git_dir) {
            return Ok(named.strip_prefix(BRANCHES).map(ToOwned::to_owned));
        }
        let look = self.call_at("see which branch is checked out", At::Folder(folder));
        symbolic(look, "HEAD", BRANCHES).await
    }

    /// Puts a worktree, known by git's folder of it, on a branch. No file of it changes. Nobody works there now: it is a
    /// spare, or its agent has ended.
    pub(crate) async fn put_on(&self, git_dir: &Path, branch: &BranchName) -> Result<(), GitError> {
        if stands_on(git_dir, branch) {
            return Ok(());
        }
        let full_ref = format!("{BRANCHES}{branch}");
        if self.is_plain_files() && write(git_dir, &full_ref).is_ok() {
            return Ok(());
        }
        // Git knows what to do, or what to say.
        let attach = self.call_at("put the worktree on its branch", At::Repository(git_dir));
        attach.args(["symbolic-ref", "HEAD", &full_ref]).run().await.map(drop)
    }
}

/// The branch a symbolic ref names, without the prefix; `None` when it names none.
pub(crate) async fn symbolic(call: Call, name: &str, prefix: &str) -> Result<Option<String>, GitError> {
    let out = call.args(["symbolic-ref", "--quiet", name]).find().await?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&out).trim().strip_prefix(prefix).map(ToOwned::to_owned))
}

/// Whether the worktree is on the branch; false too where its HEAD cannot be read.
fn stands_on(git_dir: &Path, branch: &BranchName) -> bool {
    ref_in(git_dir).is_some_and(|named| named.strip_prefix(BRANCHES) == Some(branch.as_str()))
}

/// The ref a HEAD names; none where it names a commit, or is not kept in a file that we understand.
fn ref_in(git_dir: &Path) -> Option<String> {
    let head = fs::read_to_string(git_dir.join("HEAD")).ok()?;
    let named = head.strip_prefix(ON_A_REF)?.trim();
    (named != ELSEWHERE).then(|| named.to_owned())
}

fn write(git_dir: &Path, full_ref: &str) -> io::Result<()> {
    let new = git_dir.join("HEAD.baton");
    fs::write(&new, format!("{ON_A_REF}{full_ref}\n"))?;
    fs::rename(&new, git_dir.join("HEAD"))
}

#[cfg(test)]
mod tests {
    use super::{ref_in, stands_on, write};

    #[test]
    fn a_head_is_read_and_moved() {
        let folder = tempfile::tempdir().unwrap();
        let (here, branch) = (folder.path(), "baton/TASK-00000001".parse().unwrap());
        assert_eq!(ref_in(here), None, "there is none");
        std::fs::write(here.join("HEAD"), "72fb1c13cc547fa032e01ae088aab5566af87881\n").unwrap();
        assert_eq!(ref_in(here), None, "on a commit");
        write(here, "refs/heads/baton/TASK-00000001").unwrap();
        assert!(stands_on(here, &branch));
        assert_eq!(
            std::fs::read_to_string(here.join("HEAD")).unwrap(),
            "ref: refs/heads/baton/TASK-00000001\n"
        );
        std::fs::write(here.join("HEAD"), "ref: refs/heads/.invalid\n").unwrap();
        assert_eq!(ref_in(here), None, "kept elsewhere");
    }
}
