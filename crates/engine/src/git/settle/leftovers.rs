//! What an agent left uncommitted, as a commit: what `git add --all` would add, with the person's filters and ignore rules.

use std::fs;
use std::os::unix::ffi::OsStrExt;

use baton_core::base::git_name::CommitId;
use baton_core::base::id::AttemptId;
use baton_core::task::finding::WorkFinding;

use crate::git::clone::checkout::Checkout;
use crate::git::clone::files::is_real_dir;
use crate::git::clone::worktrees::Worktrees;
use crate::git::command::call::TIMEOUT_FILES;
use crate::git::error::GitError;
use crate::git::settle::file_index::FileIndex;

/// A file that is larger is not committed for the agent: every later clone would carry it.
pub const LEFTOVER_BYTES_MAX: u64 = 100 << 20;

#[derive(Default)]
pub(crate) struct Leftovers {
    /// None when there was nothing to commit.
    pub commit: Option<CommitId>,
    /// An index that matches the commit and the files.
    pub index: Option<FileIndex>,
    pub findings: Vec<WorkFinding>,
}

impl Worktrees {
    /// Commits everything uncommitted on top of `head`, on no branch yet.
    pub(crate) async fn leftovers(
        &self,
        checkout: &Checkout,
        head: Option<&CommitId>,
    ) -> Result<Leftovers, GitError> {
        if !is_real_dir(&checkout.folder) {
            return Ok(Leftovers::default());
        }
        let index = self.index_at(self.clone_in(&checkout.folder), head).await?;
        let mut findings = Vec::new();
        let mut input = Vec::new();
        for path in self.changed_paths(&index).await? {
            match fs::symlink_metadata(checkout.folder.join(&path)) {
                Ok(found) if found.is_file() && found.len() > self.large_file_bytes => {
                    let path = path.display().to_string();
                    findings.push(WorkFinding::FileNotCommitted { path, bytes: found.len() });
                }
                // Pipes, sockets and devices hold no bytes.
                Ok(found) if !(found.is_file() || found.is_symlink() || found.is_dir()) => {}
                Ok(_) | Err(_) => {
                    input.extend_from_slice(path.as_os_str().as_bytes());
                    input.push(0);
                }
            }
        }
        if input.is_empty() {
            return Ok(Leftovers { commit: None, index: Some(index), findings });
        }
        let tried = "add the uncommitted changes";
        let add = self.with_index(tried, &index);
        let add = add.args(["update-index", "-z", "--add", "--remove", "--replace", "--stdin"]);
        add.input(input).timeout(TIMEOUT_FILES).run().await?;
        let tree = self.with_index(tried, &index).arg("write-tree").line().await?;
        let old = match head {
            Some(head) => self.repository.tree_at(head).await?,
            None => self.repository.call("look up a tree").arg("mktree").input([]).line().await?,
        };
        if tree == old {
            return Ok(Leftovers { commit: None, index: Some(index), findings });
        }
        let commit = self.repository.call("commit what was left").args(["commit-tree", &tree, "-F", "-"]);
        let commit = head.iter().fold(commit, |commit, head| commit.args(["-p", head.as_str()]));
        let commit = commit.input(message(checkout.attempt)).commit().await?;
        Ok(Leftovers { commit: Some(commit), index: Some(index), findings })
    }
}

/// The first line of such a commit, by which it is told from the agent's own.
pub(crate) fn subject(attempt: AttemptId) -> String {
    format!("Uncommitted changes of {attempt}")
}

fn message(attempt: AttemptId) -> String {
    let subject = subject(attempt);
    format!("{subject}\n\nThe agent ended without committing these; Baton committed them on its behalf.\n")
}
