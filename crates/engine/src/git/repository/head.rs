//! The HEAD of a person's checkout.

use std::fs;
use std::path::Path;

use crate::git::command::call::Call;
use crate::git::command::program::At;
use crate::git::error::GitError;
use crate::git::repository::Repository;

/// What a HEAD on a branch begins with.
const ON_A_REF: &str = "ref: ";
const BRANCHES: &str = "refs/heads/";
/// What the file says where refs are not files: no branch can have this name.
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
}

/// The branch a symbolic ref names, without the prefix; `None` when it names none.
pub(crate) async fn symbolic(call: Call, name: &str, prefix: &str) -> Result<Option<String>, GitError> {
    let out = call.args(["symbolic-ref", "--quiet", name]).find().await?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&out).trim().strip_prefix(prefix).map(ToOwned::to_owned))
}

/// The ref a HEAD names; none where it names a commit, or refs are not files.
pub(crate) fn ref_in(git_dir: &Path) -> Option<String> {
    let head = fs::read_to_string(git_dir.join("HEAD")).ok()?;
    let named = head.strip_prefix(ON_A_REF)?.trim();
    (named != ELSEWHERE).then(|| named.to_owned())
}

#[cfg(test)]
mod tests {
    use super::ref_in;

    #[test]
    fn a_head_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        assert_eq!(ref_in(here), None, "there is none");
        std::fs::write(here.join("HEAD"), "72fb1c13cc547fa032e01ae088aab5566af87881\n").unwrap();
        assert_eq!(ref_in(here), None, "on a commit");
        std::fs::write(here.join("HEAD"), "ref: refs/heads/baton/TASK-00000001\n").unwrap();
        assert_eq!(ref_in(here).as_deref(), Some("refs/heads/baton/TASK-00000001"));
        std::fs::write(here.join("HEAD"), "ref: refs/heads/.invalid\n").unwrap();
        assert_eq!(ref_in(here), None, "kept elsewhere");
    }
}
