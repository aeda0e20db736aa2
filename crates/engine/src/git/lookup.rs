//! Where names lead: asked of one git that stays, since most of what Baton asks is this and a start of git costs more
//! than its answer.
//!
//! Git looks at the refs anew for every name, so nothing it says is old. It is started with the first name that is asked
//! about and ends with the last clone of its repository; one that breaks down is replaced by the next question's own.

use std::path::Path;
use std::sync::Arc;

use baton_core::base::git_name::CommitId;
use tokio::sync::Mutex;

use crate::git::error::GitError;
use crate::git::program::At;
use crate::git::repository::Repository;
use crate::git::talk::Talk;

const TRIED: &str = "look up a ref";

/// The git that stays; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lookup(Arc<Mutex<Option<Talk>>>);

impl Repository {
    /// The commit a full ref name leads to.
    pub(crate) async fn commit_at(&self, full_ref: &str) -> Result<Option<CommitId>, GitError> {
        let Some(id) = self.object(&format!("{full_ref}^{{commit}}")).await? else { return Ok(None) };
        id.parse().map(Some).map_err(|_| GitError::Garbled { tried: TRIED, answer: id })
    }

    /// The commit a worktree stands on, by git's folder of it; `None` on a branch without commits.
    pub(crate) async fn head_at(&self, git_dir: &Path) -> Result<Option<CommitId>, GitError> {
        match git_dir.file_name().and_then(|name| name.to_str()) {
            Some(name) if self.has_linked(git_dir) && is_plain(name) => {
                self.commit_at(&format!("worktrees/{name}/HEAD")).await
            }
            Some(_) | None => {
                let look = self.call_at("see where the worktree stands", At::Repository(git_dir));
                look.args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).find_commit().await
            }
        }
    }

    /// The tree of a commit.
    pub(crate) async fn tree_at(&self, commit: &CommitId) -> Result<String, GitError> {
        let missing =
            || GitError::Garbled { tried: "look up a tree", answer: format!("{commit} is missing") };
        self.object(&format!("{commit}^{{tree}}")).await?.ok_or_else(missing)
    }

    /// The id of what a name leads to, or `None` when git looked and there is nothing, or it is damaged.
    async fn object(&self, name: &str) -> Result<Option<String>, GitError> {
        let mut seat = self.lookup.0.lock().await;
        // Out of its seat while it answers: a question that is given up half-way must not leave its answer to the next.
        let talk = match seat.take() {
            Some(talk) => Ok(talk),
            None => self.call(TRIED).args(["cat-file", "--batch-check=%(objectname)"]).talk(),
        };
        let mut talk = talk?;
        match talk.ask(format!("{name}\n").as_bytes()).await {
            Ok(line) => {
                *seat = Some(talk);
                Ok(line.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(line))
            }
            // Somebody ended it, or it met something so damaged that it gave up: the question may have more luck alone.
            Err(_) => self.object_alone(name).await,
        }
    }

    async fn object_alone(&self, name: &str) -> Result<Option<String>, GitError> {
        let out = self.call(TRIED).args(["rev-parse", "--verify", "--quiet", name]).find().await?;
        Ok(out.map(|out| String::from_utf8_lossy(&out).trim().to_owned()))
    }
}

/// Whether a worktree's name can be part of a ref's.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}
