//! A person's repository: what is in it, and the few changes Baton makes there (its own refs, and merges).

mod branch_files;
pub(crate) mod brought;
pub(crate) mod definitions;
mod demo;
pub(crate) mod given;
pub(crate) mod ground;
pub(crate) mod head;
pub(crate) mod holders;
pub(crate) mod landed;
pub(crate) mod lock;
pub(crate) mod lookup;
pub(crate) mod made;
pub(crate) mod merge;
pub(crate) mod protected;
pub(crate) mod remote;
pub(crate) mod stack;
pub(crate) mod stale_locks;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use baton_core::base::git_name::{BranchName, CommitId};

use crate::git::command::call::Call;
use crate::git::command::program::{At, Git};
use crate::git::error::GitError;
use crate::git::repository::definitions::FileCache;
use crate::git::repository::head::symbolic;
use crate::git::repository::lookup::Lookup;

#[derive(Debug, Clone)]
pub struct Repository {
    git: Git,
    folder: PathBuf,
    git_dir: PathBuf,
    is_bare: bool,
    pub(crate) lookup: Lookup,
    pub(crate) files: FileCache,
}

/// Whether a branch was created or existed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchMade {
    New(CommitId),
    Found(CommitId),
}

impl BranchMade {
    pub fn tip(&self) -> &CommitId {
        match self {
            Self::New(tip) | Self::Found(tip) => tip,
        }
    }
}

impl Repository {
    /// Opens the repository at a path, or the one the path is in. It may be bare, or a linked worktree.
    pub async fn open(git: &Git, path: &Path) -> Result<Self, GitError> {
        let nowhere = || GitError::NotARepository { path: path.to_owned() };
        let path = fs::canonicalize(path).map_err(|_| nowhere())?;
        if !path.is_dir() {
            return Err(nowhere());
        }
        git.check().await?;
        let tried = "open the repository";
        let ask = |what: &str| {
            git.call(tried, At::Folder(&path)).args(["rev-parse", "--path-format=absolute", what])
        };
        let answer = ask("--is-bare-repository").arg("--is-inside-work-tree").ask().await?;
        let (is_bare, has_files) = match (answer.code, answer.stdout.as_slice()) {
            (Some(0), b"true\nfalse\n") => (true, false),
            (Some(0), b"false\ntrue\n") => (false, true),
            // In the `.git` folder of a repository; there is a better path to name.
            (Some(0), _) => return Err(nowhere()),
            _ if answer.stderr.contains("not a git repository") => return Err(nowhere()),
            _ => return Err(answer.failed(tried)),
        };
        let git_dir = ask("--git-common-dir").path().await?;
        let folder = if has_files { ask("--show-toplevel").path().await? } else { git_dir.clone() };
        Ok(Self {
            git: git.clone(),
            folder,
            git_dir,
            is_bare,
            lookup: Lookup::default(),
            files: FileCache::default(),
        })
    }

    /// The person's checkout, or the repository itself when it is bare.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder with objects, refs and configuration.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    pub fn is_bare(&self) -> bool {
        self.is_bare
    }

    pub(crate) fn call(&self, tried: &'static str) -> Call {
        self.git.call(tried, At::Repository(&self.git_dir))
    }

    pub(crate) fn call_at(&self, tried: &'static str, at: At<'_>) -> Call {
        self.git.call(tried, at)
    }

    /// The commit a branch stands on, or `None` when there is no such branch.
    pub async fn tip(&self, branch: &BranchName) -> Result<Option<CommitId>, GitError> {
        self.commit_at(&format!("refs/heads/{branch}")).await
    }

    /// The commits these branches stand on, as far as they exist.
    pub async fn tips(&self, branches: &[&BranchName]) -> Result<BTreeMap<BranchName, CommitId>, GitError> {
        let mut tips = BTreeMap::new();
        for branch in branches {
            if let Some(tip) = self.tip(branch).await? {
                tips.insert((*branch).clone(), tip);
            }
        }
        Ok(tips)
    }

    pub(crate) async fn tip_of_existing(&self, branch: &BranchName) -> Result<CommitId, GitError> {
        match self.tip(branch).await? {
            Some(tip) => Ok(tip),
            None if self.branches().await?.is_empty() => {
                Err(GitError::NoCommits { path: self.folder.clone() })
            }
            None => Err(GitError::NoBranch { branch: branch.clone() }),
        }
    }

    /// The branch that is checked out, unless it is one of Baton's: a person who looks at one task's work does not want the
    /// next project built on it. It need not have a commit yet.
    pub async fn current_branch(&self) -> Result<Option<BranchName>, GitError> {
        let current = self.branch_checked_out(&self.folder).await?;
        Ok(current.filter(|name| !name.starts_with("baton/")).and_then(|name| name.parse().ok()))
    }

    /// The branch that new work starts from: the one that is checked out, or else the remote's default, `main`, `master`, or
    /// the only one.
    pub async fn default_branch(&self) -> Result<BranchName, GitError> {
        let current = self.current_branch().await?;
        let branches = self.branches().await?;
        if branches.is_empty() && self.commit_at("HEAD").await?.is_none() {
            return Err(GitError::NoCommits { path: self.folder.clone() });
        }
        let remote = self.call("see which branch the remote prefers");
        let remote = symbolic(remote, "refs/remotes/origin/HEAD", "refs/remotes/origin/").await?;
        let usual = ["main", "master"].map(|name| Some(name.to_owned()));
        let known = |name: &String| branches.iter().find(|branch| branch.as_str() == name).cloned();
        let current = current.map(|branch| branch.to_string());
        let found = [current, remote].into_iter().chain(usual).flatten().find_map(|name| known(&name));
        match (found, branches.as_slice()) {
            (Some(branch), _) => Ok(branch),
            (None, [only]) => Ok(only.clone()),
            (None, _) => Err(GitError::NoBaseBranch {
                path: self.folder.clone(),
                branches: branches.iter().map(ToString::to_string).collect(),
            }),
        }
    }

    /// Every branch with a name Baton accepts.
    pub async fn branches(&self) -> Result<Vec<BranchName>, GitError> {
        let list = self.call("list the branches");
        let out = list.args(["for-each-ref", "--format=%(refname:strip=2)", "refs/heads"]).run().await?;
        Ok(String::from_utf8_lossy(&out).lines().filter_map(|line| line.parse().ok()).collect())
    }

    /// Creates a branch at the tip of another, unless it exists.
    pub async fn ensure_branch(
        &self,
        branch: &BranchName,
        from: &BranchName,
    ) -> Result<BranchMade, GitError> {
        if let Some(tip) = self.tip(branch).await? {
            return Ok(BranchMade::Found(tip));
        }
        let start = self.tip_of_existing(from).await?;
        match self.update_refs("make a branch", &format!("create refs/heads/{branch} {start}\n")).await {
            Ok(()) => Ok(BranchMade::New(start)),
            Err(error) => self.why_no_branch(branch, error).await,
        }
    }

    async fn why_no_branch(&self, branch: &BranchName, error: GitError) -> Result<BranchMade, GitError> {
        // Another process may have created it just now.
        if let Some(tip) = self.tip(branch).await? {
            return Ok(BranchMade::Found(tip));
        }
        let name = branch.as_str();
        let is_in_the_way = |other: &&BranchName| {
            let (short, long) = if other.as_str().len() < name.len() {
                (other.as_str(), name)
            } else {
                (name, other.as_str())
            };
            long.strip_prefix(short).is_some_and(|rest| rest.starts_with('/'))
        };
        match self.branches().await?.iter().find(is_in_the_way) {
            Some(by) => Err(GitError::InTheWay { branch: branch.clone(), by: by.to_string() }),
            None => Err(error),
        }
    }

    /// The branch that holds the truth about a task: its own when it has commits the project's does not, or
    /// else the project's.
    pub async fn truth(&self, task: &BranchName, project: &BranchName) -> Result<BranchName, GitError> {
        let trunk = self.tip_of_existing(project).await?;
        match self.tip(task).await? {
            Some(tip) if !self.is_ancestor(&tip, &trunk).await? => Ok(task.clone()),
            Some(_) | None => Ok(project.clone()),
        }
    }

    /// Whether every commit of `old` is in `new` too.
    /// Whether a commit, which may not be known here, is part of the history of another.
    pub(crate) async fn is_part_of(&self, commit: &CommitId, of: &CommitId) -> Result<bool, GitError> {
        Ok(self.commit_at(commit.as_str()).await?.is_some() && self.is_ancestor(commit, of).await?)
    }

    pub(crate) async fn is_ancestor(&self, old: &CommitId, new: &CommitId) -> Result<bool, GitError> {
        if old == new {
            return Ok(true);
        }
        let tried = "compare two commits";
        let answer =
            self.call(tried).args(["merge-base", "--is-ancestor", old.as_str(), new.as_str()]).ask().await?;
        match answer.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(answer.failed(tried)),
        }
    }

    /// Where the histories of two commits parted. None if they have nothing in common.
    pub(crate) async fn merge_base(
        &self,
        one: &CommitId,
        other: &CommitId,
    ) -> Result<Option<CommitId>, GitError> {
        let call =
            self.call("find where the branch began").args(["merge-base", one.as_str(), other.as_str()]);
        call.find_commit().await
    }

    /// Changes refs, all or none, by the lines `git update-ref --stdin` reads. Stale locks are removed on the way.
    pub(crate) async fn update_refs(&self, tried: &'static str, lines: &str) -> Result<(), GitError> {
        if lines.is_empty() {
            return Ok(());
        }
        match self.try_update_refs(tried, lines).await {
            Err(error) if error.is_lock_held() && self.clear_stale_locks() > 0 => {
                self.try_update_refs(tried, lines).await
            }
            done => done,
        }
    }

    async fn try_update_refs(&self, tried: &'static str, lines: &str) -> Result<(), GitError> {
        let reason = format!("baton: {tried}");
        self.call(tried).args(["update-ref", "-m", &reason, "--stdin"]).input(lines).run().await.map(drop)
    }
}
