//! Where the code of a task is: in a folder of this machine, or in a remote.
//!
//! A project with a remote is worked on in a bare clone in the state folder, on every machine, even if there is a checkout.
//! Machines share only the remote and the store.

use std::path::PathBuf;

use baton_core::base::git_name::BranchName;
use baton_core::base::id::AttemptId;
use baton_core::base::remote_url::RemoteUrl;
use baton_core::records::project::Project;
use baton_core::task::Task;

use crate::base::error::{EngineError, Entity, NotFound};
use crate::git::{CLONES, Pushed, Repository, Worktrees};
use crate::projects::Projects;
use crate::projects::remote_files::beside;
use crate::settings::location::settings_path;

/// The longest part of a remote's name in the name of its clone; the hash after it makes it unique.
const SLUG_CHARS_MAX: usize = 40;
/// Another machine may create the same branch at the same time; then its branch counts.
const TRIES_MAX: u32 = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeSource {
    Here(PathBuf),
    Remote(RemoteUrl),
}

impl CodeSource {
    pub fn remote(&self) -> Option<&RemoteUrl> {
        match self {
            Self::Here(_) => None,
            Self::Remote(remote) => Some(remote),
        }
    }
}

impl Projects {
    pub(crate) async fn project(&self, task: &Task) -> Result<Option<Project>, EngineError> {
        let Some(id) = task.spec().project_id else { return Ok(None) };
        let missing = || NotFound::new(Entity::Project, id);
        Ok(Some(self.tasks.store.project(id).await?.ok_or_else(missing)?.value))
    }

    /// The source of a project, or of work without one.
    pub fn source(&self, project: Option<&Project>) -> CodeSource {
        let remote = match project {
            Some(project) => project.remote.as_ref(),
            None => self.settings.remote.as_ref(),
        };
        match (remote, project) {
            (Some(remote), _) => CodeSource::Remote(remote.clone()),
            (None, Some(project)) => CodeSource::Here(PathBuf::from(&project.path)),
            (None, None) => CodeSource::Here(self.place.root.clone()),
        }
    }

    /// The folder of the repository, which may not exist yet.
    pub fn folder_of(&self, source: &CodeSource) -> PathBuf {
        match source {
            CodeSource::Here(path) => path.clone(),
            CodeSource::Remote(remote) => {
                self.place.state_dir.join(CLONES).join(format!("{}.git", slug(remote)))
            }
        }
    }

    pub(crate) async fn open_source(&self, source: &CodeSource) -> Result<Worktrees, EngineError> {
        let folder = self.folder_of(source);
        if let CodeSource::Remote(remote) = source
            && !folder.is_dir()
        {
            (self.announce)(&format!("cloning {remote}"));
            Repository::clone_of(&self.git, remote, &folder).await?;
        }
        self.repositories.open(&self.git, &folder, &self.place.state_dir).await
    }

    /// The task's repository, and the branch its work starts from and is merged into.
    pub async fn repository(&self, task: &Task) -> Result<(Worktrees, BranchName), EngineError> {
        let project = self.project(task).await?;
        self.repository_of(project.as_ref()).await
    }

    /// As [`repository`](Self::repository), after fetching what other machines pushed. The branch of an attempt that runs
    /// here is not changed.
    pub async fn repository_as_shared(&self, task: &Task) -> Result<(Worktrees, BranchName), EngineError> {
        let live = task.state().live_attempt();
        let is_at_work = live.is_some_and(|live| self.running.ids().contains(&live.id));
        self.pulled(task, is_at_work).await
    }

    /// As [`repository_as_shared`](Self::repository_as_shared), for an attempt that is about to start.
    pub(crate) async fn repository_to_work_in(
        &self,
        task: &Task,
        attempt: AttemptId,
    ) -> Result<(Worktrees, BranchName), EngineError> {
        let (worktrees, branch) = self.pulled(task, false).await?;
        if worktrees.repository().is_clone() {
            worktrees.note_origin(attempt, &BranchName::for_task(task.id())).await?;
        }
        Ok((worktrees, branch))
    }

    async fn pulled(&self, task: &Task, is_at_work: bool) -> Result<(Worktrees, BranchName), EngineError> {
        let project = self.project(task).await?;
        self.fetched(task, project.as_ref(), is_at_work).await?;
        self.repository_of(project.as_ref()).await
    }

    /// As [`repository_as_shared`](Self::repository_as_shared), for whoever only looks: no branch of the person's is created or moved.
    pub(crate) async fn repository_as_it_is(
        &self,
        task: &Task,
    ) -> Result<(Worktrees, BranchName), EngineError> {
        let live = task.state().live_attempt();
        let is_at_work = live.is_some_and(|live| self.running.ids().contains(&live.id));
        let project = self.project(task).await?;
        let worktrees = self.fetched(task, project.as_ref(), is_at_work).await?;
        Ok((worktrees, project.as_ref().map_or_else(BranchName::integration, Project::branch)))
    }

    async fn fetched(
        &self,
        task: &Task,
        project: Option<&Project>,
        is_at_work: bool,
    ) -> Result<Worktrees, EngineError> {
        let worktrees = self.open_source(&self.source(project)).await?;
        if worktrees.repository().is_clone() {
            let branch = BranchName::for_task(task.id());
            let is_ahead = is_at_work || self.unpushed().has_work_of(task.id());
            self.pull(&worktrees, project, Some(&branch), is_ahead).await?;
        }
        Ok(worktrees)
    }

    /// The repository for work without a project.
    pub async fn home_repository(&self) -> Result<(Worktrees, BranchName), EngineError> {
        self.repository_of(None).await
    }

    async fn repository_of(&self, project: Option<&Project>) -> Result<(Worktrees, BranchName), EngineError> {
        let source = self.source(project);
        let worktrees = self.open_source(&source).await?;
        let branch = project.map_or_else(BranchName::integration, Project::branch);
        if branch == BranchName::integration() {
            self.keep_up(&worktrees, project).await?;
        } else if let Some(project) = project {
            worktrees.repository().ensure_branch(&branch, &project.base_branch).await?;
        }
        self.repositories.note(&self.folder_of(&source), &branch);
        Ok((worktrees, branch))
    }

    async fn pull(
        &self,
        worktrees: &Worktrees,
        project: Option<&Project>,
        task: Option<&BranchName>,
        is_ahead: bool,
    ) -> Result<(), EngineError> {
        let Some(project) = project else {
            let base = worktrees.repository().default_branch().await?;
            worktrees.pull(&[&base, &BranchName::integration()], task, is_ahead).await?;
            return Ok(());
        };
        let trunk: Vec<&BranchName> =
            [&project.base_branch].into_iter().chain(&project.feature_branch).collect();
        for _ in 0..TRIES_MAX {
            worktrees.pull(&trunk, task, is_ahead).await?;
            let Some(feature) = &project.feature_branch else { return Ok(()) };
            if worktrees.origin_tip(feature).await?.is_some() {
                return Ok(());
            }
            worktrees.repository().ensure_branch(feature, &project.base_branch).await?;
            if worktrees.push_trunk(feature).await? == Pushed::Done {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The folder from which user tasks are read: the user's checkout, never an agent's worktree. For a clone, which has no
    /// checkout, the files of its remote if that has settings, else the root of this Baton.
    pub fn people_folder(&self, worktrees: &Worktrees) -> PathBuf {
        let repository = worktrees.repository();
        if !repository.is_clone() {
            return repository.folder().to_owned();
        }
        let files = beside(repository.folder());
        if settings_path(&files).is_file() { files } else { self.place.root.clone() }
    }

    /// Where the user tasks of the repository are defined, if it has some.
    pub(crate) fn tasks_folder(worktrees: &Worktrees) -> PathBuf {
        let repository = worktrees.repository();
        if repository.is_clone() { beside(repository.folder()) } else { repository.folder().to_owned() }
    }

    /// The folder of the task's repository, which may not exist yet.
    pub async fn repository_path(&self, task: &Task) -> Result<PathBuf, EngineError> {
        Ok(self.folder_of(&self.source(self.project(task).await?.as_ref())))
    }
}

/// The name of a clone: the remote's name and a hash of its URL. The same on every machine.
pub(crate) fn slug(remote: &RemoteUrl) -> String {
    let text = remote.as_str().trim_end_matches('/').trim_end_matches(".git");
    let name = text.rsplit(['/', ':']).next().unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = name.chars().take(SLUG_CHARS_MAX).map(plain).collect();
    // FNV-1a, because the standard hasher may differ between versions.
    let digits = remote.as_str().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{name}-{digits:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_remote_has_its_own_recognisable_clone_name() {
        let slug = |text: &str| slug(&text.parse().unwrap());
        assert!(slug("git@host:team/app.git").starts_with("app-"));
        assert!(slug("ssh://git@host/team/app.git/").starts_with("app-"));
        assert_ne!(slug("git@host:a/app.git"), slug("git@host:b/app.git"));
        assert!(slug("/srv/../etc").starts_with("etc-"));
        assert!(slug("https://host/%2e%2e").chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
    }
}
