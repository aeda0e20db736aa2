//! Work as the checks of its branch judge it: with the branch's own version of every protected file.

use baton_core::base::git_name::CommitId;
use baton_core::base::path_glob;

use crate::git::clone::worktrees::Worktrees;
use crate::git::error::GitError;

/// What Baton itself is told by: an agent must not change the checks it is judged by, whatever else is protected.
const ALWAYS_PROTECTED: &str = ".agent/**";
/// The commit is never part of a branch; with one date it is the same commit every time.
const DATE: &str = "@0 +0000";

pub(crate) fn is_protected(globs: &[String], name: &str) -> bool {
    globs.iter().map(String::as_str).chain([ALWAYS_PROTECTED]).any(|glob| {
        // A link or a file in the place of a protected folder decides about everything in it.
        let folder = glob.strip_suffix("/**").or_else(|| glob.strip_suffix('/'));
        // A pattern means folders; files beside them are not meant.
        let folder = folder.filter(|folder| !folder.contains(['*', '?']));
        path_glob::matches(glob, name) || folder.is_some_and(|folder| path_glob::matches(folder, name))
    })
}

/// A tree that differs from another in protected files only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedCommit {
    pub commit: CommitId,
    /// The files that were put back.
    pub files: Vec<String>,
}

impl Worktrees {
    /// A commit with this tree in which every protected file is the one of `tip`. None if none differs.
    pub async fn with_protected_of(
        &self,
        tip: &CommitId,
        tree: &CommitId,
        globs: &[String],
    ) -> Result<Option<ProtectedCommit>, GitError> {
        let tried = "take protected files from the branch";
        let diff = self.repository.call(tried).args(["diff-tree", "-r", "-z", "--no-renames"]);
        let listed = diff.args([tip.as_str(), tree.as_str()]).run().await?;
        let mut fields = listed.split(|byte| *byte == 0);
        let (mut removed, mut restored, mut files) = (Vec::new(), Vec::new(), Vec::new());
        // ":old-mode new-mode old-id new-id status NUL path NUL"
        while let (Some(change), Some(path)) = (fields.next(), fields.next()) {
            let name = String::from_utf8_lossy(path).into_owned();
            if !is_protected(globs, &name) {
                continue;
            }
            let change = String::from_utf8_lossy(change).into_owned();
            let mut words = change.trim_start_matches(':').split(' ');
            let (Some(mode), Some(id)) = (words.next(), words.nth(1)) else {
                return Err(GitError::Garbled { tried, answer: change });
            };
            files.push(name);
            // Mode 0 takes a path out of the index.
            removed.extend(format!("0 {id}\t").bytes().chain(path.iter().copied()).chain([0]));
            if mode != "000000" {
                restored.extend(format!("{mode} {id}\t").bytes().chain(path.iter().copied()).chain([0]));
            }
        }
        if files.is_empty() {
            return Ok(None);
        }
        let scratch = self.scratch()?;
        let index = scratch.path().join("index");
        let with_index = || self.repository.call(tried).env("GIT_INDEX_FILE", &index);
        with_index().args(["read-tree", tree.as_str()]).run().await?;
        removed.extend(restored);
        with_index().args(["update-index", "-z", "--index-info"]).input(removed).run().await?;
        let judged = with_index().args(["write-tree"]).line().await?;
        let commit =
            self.repository.call(tried).args(["commit-tree", &judged, "-F", "-", "-p", tip.as_str()]);
        let commit = commit.env("GIT_AUTHOR_DATE", DATE).env("GIT_COMMITTER_DATE", DATE);
        let commit = commit.input("With the protected files of the branch").commit().await?;
        Ok(Some(ProtectedCommit { commit, files }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_place_of_a_protected_folder_is_protected_too() {
        let globs =
            ["tests/**".to_owned(), "docs/".to_owned(), "**/*.lock".to_owned(), "*/gen/**".to_owned()];
        for name in [".agent", ".agent/baton.toml", "tests", "tests/a/b.rs", "docs", "docs/x", "a/b.lock"] {
            assert!(is_protected(&globs, name), "{name}");
        }
        for name in ["agent", "src/tests.rs", "testsuite", "src/.agent", "b", "x/gen"] {
            assert!(!is_protected(&globs, name), "{name}");
        }
    }
}
