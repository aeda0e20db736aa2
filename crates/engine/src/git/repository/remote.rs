//! The remote a clone comes from: code travels between machines by git, and by nothing else.
//!
//! A clone is bare and Baton's own, so its branches may be moved. Before work starts they are brought to where the
//! remote's are; after it the task's branch is pushed, and only if the remote's still stands where this attempt found it.
//! So an attempt that was cut off cannot push over the work of the one that took its place. What an attempt had
//! (`refs/baton/…`) has names of its own, and is pushed whatever became of the attempt.
//!
//! | ref | what |
//! | --- | --- |
//! | `refs/remotes/origin/…` | where the remote's branches stood when we last looked |
//! | `refs/baton/from/<attempt>` | where the remote's task branch stood when the attempt began; none when there was none |

use std::fs;
use std::path::Path;
use std::time::Duration;

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::AttemptId;
use baton_core::base::remote_url::RemoteUrl;

use crate::git::clone::worktrees::{Worktrees, hidden_ref};
use crate::git::command::call::{GitAnswer, TIMEOUT_FILES};
use crate::git::command::program::{At, Git};
use crate::git::error::GitError;
use crate::git::repository::Repository;
use crate::git::repository::given::given_folder;
use crate::git::repository::lock::RepositoryLock;

/// For a fetch or a push of one attempt's work. A network that is cut does not say so.
const TIMEOUT_NETWORK: Duration = Duration::from_mins(1);
/// Words of git's for "this ref is not where you said", in any version we take.
const OVERTAKEN: [&str; 5] =
    ["[rejected]", "stale info", "non-fast-forward", "fetch first", "cannot lock ref"];

/// What became of one ref that was pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    Done,
    /// Somebody else has moved it since.
    Overtaken,
}

impl Repository {
    /// The clone of a remote in a folder of ours, made when it is not there. Files come when they are needed, where the
    /// remote knows how to leave them out. It appears whole or not at all.
    pub async fn clone_of(git: &Git, remote: &RemoteUrl, folder: &Path) -> Result<Self, GitError> {
        if folder.is_dir() {
            return Self::open(git, folder).await;
        }
        let failed = |source| GitError::File { tried: "make", path: folder.to_owned(), source };
        let parent = folder.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(parent).map_err(failed)?;
        let half = tempfile::Builder::new().prefix("half-").tempdir_in(parent).map_err(failed)?;
        git.check().await?;
        let clone = git.call(TRIED_TO_CLONE, At::Folder(parent));
        let clone =
            clone.args(["clone", "--quiet", "--bare", "--filter=blob:none", "--single-branch", "--no-tags"]);
        clone.args(["--", remote.as_str()]).arg(half.path()).timeout(TIMEOUT_FILES).run().await?;
        match fs::rename(half.path(), folder) {
            // Moved away under its new name: there is nothing left to clean up.
            Ok(()) => _ = half.keep(),
            // Another task of ours was faster.
            Err(_) if folder.is_dir() => {}
            Err(source) => return Err(failed(source)),
        }
        Self::open(git, folder).await
    }

    /// Whether it is a clone of Baton's own.
    pub fn is_clone(&self) -> bool {
        self.is_bare() && self.git_dir().parent().is_some_and(|home| home.ends_with(CLONES))
    }
}

/// What needs the remote, for errors.
pub const TRIED_TO_CLONE: &str = "clone the repository";
pub const TRIED_TO_FETCH: &str = "fetch from the remote";

/// The folder in the state directory that clones lie in.
pub const CLONES: &str = "clones";

impl Worktrees {
    /// Brings the trunk branches, and the task's branch where there is one, to where the remote's are. `is_ahead` says
    /// that ours holds work which has not arrived there yet.
    pub async fn pull(
        &self,
        trunk: &[&BranchName],
        task: Option<&BranchName>,
        is_ahead: bool,
    ) -> Result<(), GitError> {
        // One at a time: two that fetch the same refs are in each other's way.
        let _turn = self.origin_lock().await?;
        let specs = trunk.iter().copied().chain(task).map(|branch| {
            // With a star a branch that is not there is no error.
            format!("+refs/heads/{branch}*:refs/remotes/origin/{branch}*")
        });
        let given = task.map(|task| format!("+{0}*:{0}*", given_folder(task)));
        self.fetch(specs.chain(given)).await?;
        let _lock = self.lock().await?;
        for branch in trunk {
            self.follow_origin(branch).await?;
        }
        if let Some(branch) = task.filter(|_| !is_ahead) {
            self.follow_origin(branch).await?;
        }
        Ok(())
    }

    async fn fetch(&self, specs: impl Iterator<Item = String>) -> Result<(), GitError> {
        let fetch = self.repository.call(TRIED_TO_FETCH);
        let fetch = fetch.args(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "origin"]);
        fetch.args(specs).timeout(TIMEOUT_NETWORK).run().await.map(drop)
    }

    /// Ours becomes what the remote's is. Clones have branches of their own and do not notice.
    async fn follow_origin(&self, branch: &BranchName) -> Result<(), GitError> {
        let Some(theirs) = self.origin_tip(branch).await? else { return Ok(()) };
        let ours = self.repository.tip(branch).await?;
        if ours.as_ref() == Some(&theirs) {
            return Ok(());
        }
        self.repository.check_not_checked_out(branch).await?;
        let line = format!("update refs/heads/{branch} {theirs}\n");
        self.repository.update_refs("follow the remote's branch", &line).await
    }

    /// Where the remote's branch stood when it was last looked at.
    pub async fn origin_tip(&self, branch: &BranchName) -> Result<Option<CommitId>, GitError> {
        self.repository.commit_at(&format!("refs/remotes/origin/{branch}")).await
    }

    /// Remembers where the remote's branch stands as an attempt begins.
    pub async fn note_origin(&self, attempt: AttemptId, branch: &BranchName) -> Result<(), GitError> {
        let Some(tip) = self.origin_tip(branch).await? else { return Ok(()) };
        let line = format!("update {} {tip}\n", hidden_ref("from", attempt));
        self.repository.update_refs("note where the remote stands", &line).await
    }

    /// Pushes what an attempt came to onto its task's branch, and where it began, so that another machine can go on.
    /// `expected` is where the remote's branch must stand.
    pub async fn push_work(
        &self,
        attempt: AttemptId,
        branch: &BranchName,
        head: &CommitId,
        expected: Option<&CommitId>,
    ) -> Result<Pushed, GitError> {
        let expected = expected.map_or("", CommitId::as_str);
        let lease = format!("--force-with-lease=refs/heads/{branch}:{expected}");
        let mut specs = vec![format!("{head}:refs/heads/{branch}")];
        if let Some(base) = self.hidden("base", attempt).await? {
            specs.push(format!("+{base}:{}", hidden_ref("base", attempt)));
        }
        if !self.given_to(&[branch]).await?.is_empty() {
            specs.push(format!("+{0}*:{0}*", given_folder(branch)));
        }
        let pushed = self.push(&[&lease], &specs).await?;
        if pushed == Pushed::Done {
            let line = format!("update refs/remotes/origin/{branch} {head}\n");
            self.repository.update_refs("note where the remote stands", &line).await?;
        }
        Ok(pushed)
    }

    /// Where the remote's task branch stood when the attempt began.
    pub async fn expected(&self, attempt: AttemptId) -> Result<Option<CommitId>, GitError> {
        self.hidden("from", attempt).await
    }

    /// Pushes everything that is kept of an attempt. It has a name of its own there, so nobody is in the way.
    pub async fn push_vault(&self, attempt: AttemptId) -> Result<(), GitError> {
        let mut specs = Vec::new();
        for kind in ["vault", "base"] {
            if let Some(commit) = self.hidden(kind, attempt).await? {
                specs.push(format!("+{commit}:{}", hidden_ref(kind, attempt)));
            }
        }
        for aside in ["tip", "before", "leftovers"] {
            let name = format!("{}.{aside}", hidden_ref("vault", attempt));
            if let Some(commit) = self.repository.commit_at(&name).await? {
                specs.push(format!("+{commit}:{name}"));
            }
        }
        if specs.is_empty() {
            return Ok(());
        }
        self.push(&[], &specs).await.map(drop)
    }

    /// Pushes a branch that others push to as well. Only forwards.
    pub async fn push_trunk(&self, branch: &BranchName) -> Result<Pushed, GitError> {
        let tip = self.repository.tip_of_existing(branch).await?;
        self.push_commit(branch, &tip).await
    }

    /// Pushes a commit onto such a branch.
    pub(crate) async fn push_commit(
        &self,
        branch: &BranchName,
        commit: &CommitId,
    ) -> Result<Pushed, GitError> {
        self.push(&[], &[format!("{commit}:refs/heads/{branch}")]).await
    }

    /// What is known of an attempt that ran elsewhere: where it began, and its vault. What is known here stays.
    pub async fn fetch_attempt(&self, attempt: AttemptId) -> Result<(), GitError> {
        let _turn = self.origin_lock().await?;
        let mut specs = Vec::new();
        for kind in ["base", "vault"] {
            if self.hidden(kind, attempt).await?.is_none() {
                let name = hidden_ref(kind, attempt);
                specs.push(format!("+{name}*:{name}*"));
            }
        }
        if specs.is_empty() { Ok(()) } else { self.fetch(specs.into_iter()).await }
    }

    /// Whether every commit up to this one is on the branch.
    pub async fn holds(&self, branch: &BranchName, commit: &CommitId) -> Result<bool, GitError> {
        match self.repository.tip(branch).await? {
            Some(tip) if tip == *commit => Ok(true),
            // A commit that is not even known here has not arrived.
            Some(tip) if self.repository.commit_at(commit.as_str()).await?.is_some() => {
                self.repository.is_ancestor(commit, &tip).await
            }
            Some(_) | None => Ok(false),
        }
    }

    async fn push(&self, options: &[&str], specs: &[String]) -> Result<Pushed, GitError> {
        let tried = "push to the remote";
        let push = self.repository.call(tried).args(["push", "--quiet", "--no-verify"]);
        let push = push.args(options).arg("origin").args(specs).timeout(TIMEOUT_NETWORK);
        let answer: GitAnswer = push.ask().await?;
        match answer.code {
            Some(0) => Ok(Pushed::Done),
            Some(_) if OVERTAKEN.iter().any(|word| answer.stderr.contains(word)) => Ok(Pushed::Overtaken),
            Some(_) | None => Err(answer.failed(tried)),
        }
    }

    async fn origin_lock(&self) -> Result<RepositoryLock, GitError> {
        RepositoryLock::take(self.state_dir(), &self.repository.git_dir().join("origin")).await
    }
}
