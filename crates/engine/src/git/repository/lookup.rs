//! Resolves refs through one long-running `git cat-file`, because starting git costs more than its answer.
//!
//! Git reads the refs anew for every name, so no answer is stale. The process starts with the first request and ends with the
//! last clone of its repository; one that fails is replaced at the next request.

use std::sync::Arc;

use baton_core::base::git_name::CommitId;
use tokio::sync::Mutex;

use crate::git::command::conversation::GitConversation;
use crate::git::error::GitError;
use crate::git::repository::Repository;

const TRIED: &str = "look up a ref";

/// The process; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lookup(Arc<Mutex<Option<GitConversation>>>);

impl Repository {
    /// The commit a full ref name leads to.
    pub(crate) async fn commit_at(&self, full_ref: &str) -> Result<Option<CommitId>, GitError> {
        let Some(id) = self.object(&format!("{full_ref}^{{commit}}")).await? else { return Ok(None) };
        id.parse().map(Some).map_err(|_| GitError::Garbled { tried: TRIED, answer: id })
    }

    /// The paths of all files of a commit.
    pub(crate) async fn files_at(&self, commit: &str) -> Result<Vec<String>, GitError> {
        let list = self.call("list the files").args(["ls-tree", "-r", "-z", "--name-only", commit]);
        let listed = list.run().await?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// The tree of a commit.
    pub(crate) async fn tree_at(&self, commit: &CommitId) -> Result<String, GitError> {
        let missing =
            || GitError::Garbled { tried: "look up a tree", answer: format!("{commit} is missing") };
        self.object(&format!("{commit}^{{tree}}")).await?.ok_or_else(missing)
    }

    /// The id of what a name leads to, or `None` when git looked and there is nothing, or it is damaged.
    pub(crate) async fn object(&self, name: &str) -> Result<Option<String>, GitError> {
        let mut slot = self.lookup.0.lock().await;
        // Taken out while it answers: a request that is dropped half-way must not leave its answer to the next.
        let running = match slot.take() {
            Some(running) => Ok(running),
            None => self.call(TRIED).args(["cat-file", "--batch-check=%(objectname)"]).converse(),
        };
        let mut running = running?;
        match running.ask(format!("{name}\n").as_bytes()).await {
            Ok(line) => {
                *slot = Some(running);
                Ok(line.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(line))
            }
            // It was killed, or gave up on damaged data. The request alone may still succeed.
            Err(_) => self.object_alone(name).await,
        }
    }

    async fn object_alone(&self, name: &str) -> Result<Option<String>, GitError> {
        let out = self.call(TRIED).args(["rev-parse", "--verify", "--quiet", name]).find().await?;
        Ok(out.map(|out| String::from_utf8_lossy(&out).trim().to_owned()))
    }
}
