//! Where the code of a task is: in a folder of this machine, or in a remote that every machine has a clone of.
//!
//! A project with a remote is worked on in a bare clone under the state folder, on every machine, also on the one whose
//! people have a checkout. What machines share is in the remote and in the store, and nowhere else.

use crate::base::error::{Entity, NotFound};
use std::path::PathBuf;

use baton_core::base::git_name::BranchName;
use baton_core::base::id::AttemptId;
use baton_core::base::remote_url::RemoteUrl;
use baton_core::records::project::Project;
use baton_core::task::Task;

use crate::base::error::EngineError;
use crate::git::{CLONES, Pushed, Repository, Worktrees};
use crate::projects::Projects;

/// The longest part of a remote's name that its clone is called by; the digits behind it tell them apart.
const SLUG_CHARS_MAX: usize = 40;
/// Others may make the same branch at the same moment; then it is theirs that counts.
const TRIES_MAX: u32 = 3;

/// Where some work happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Here(PathBuf),
    Remote(RemoteUrl),
}

impl Source {
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

    /// Where the work of a project happens, or work without one.
    pub fn source(&self, project: Option<&Project>) -> Source {
        let remote = match project {
            Some(project) => project.remote.as_ref(),
            None => self.settings.remote.as_ref(),
        };
        match (remote, project) {
            (Some(remote), _) => Source::Remote(remote.clone()),
            (None, Some(project)) => Source::Here(PathBuf::from(&project.path)),
            (None, None) => Source::Here(self.place.root.clone()),
        }
    }

    /// The folder of the repository, whether it is there yet or not.
    pub fn folder_of(&self, source: &Source) -> PathBuf {
        match source {
            Source::Here(path) => path.clone(),
            Source::Remote(remote) => self.place.state_dir.join(CLONES).join(format!("{}.git", slug(remote))),
        }
    }

    pub(crate) async fn open_source(&self, source: &Source) -> Result<Worktrees, EngineError> {
        let folder = self.folder_of(source);
        if let Source::Remote(remote) = source
            && !folder.is_dir()
        {
            (self.announce)(&format!("cloning {remote}"));
            Repository::clone_of(&self.git, remote, &folder).await?;
        }
        self.repositories.open(&self.git, &folder, &self.place.state_dir).await
    }

    /// The repository a task's work happens in, and the branch it starts from and is merged into.
    pub async fn repository(&self, task: &Task) -> Result<(Worktrees, BranchName), EngineError> {
        let project = self.project(task).await?;
        self.repository_of(project.as_ref()).await
    }

    /// The same, once all that other machines pushed is here too. What an agent is at work on here stays as it is.
    pub async fn repository_as_shared(&self, task: &Task) -> Result<(Worktrees, BranchName), EngineError> {
        let live = task.state().live_attempt();
        let is_at_work = live.is_some_and(|live| self.running.ids().contains(&live.id));
        self.pulled(task, is_at_work).await
    }

    /// The same for the attempt that is about to begin.
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
        let worktrees = self.open_source(&self.source(project.as_ref())).await?;
        if worktrees.repository().is_clone() {
            let branch = BranchName::for_task(task.id());
            let is_ahead = is_at_work || self.unpushed().holds_work_of(task.id());
            self.pull(&worktrees, project.as_ref(), Some(&branch), is_ahead).await?;
        }
        self.repository_of(project.as_ref()).await
    }

    /// The repository of this place, for work without a project.
    pub async fn home_repository(&self) -> Result<(Worktrees, BranchName), EngineError> {
        self.repository_of(None).await
    }

    async fn repository_of(&self, project: Option<&Project>) -> Result<(Worktrees, BranchName), EngineError> {
        let source = self.source(project);
        let worktrees = self.open_source(&source).await?;
        let branch = project.map_or_else(BranchName::integration, Project::branch);
        if branch == BranchName::integration() {
            self.keep_up(&worktrees, project.map(|project| &project.base_branch)).await?;
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

    /// Where the commands of the project's people are read from: their checkout, never an agent's copy. A clone has no
    /// checkout; there it is the folder this Baton was started in.
    pub fn people_folder(&self, worktrees: &Worktrees) -> PathBuf {
        let repository = worktrees.repository();
        if repository.is_clone() { self.place.root.clone() } else { repository.folder().to_owned() }
    }

    /// Where the repository of a task's work is, without looking whether it is there.
    pub async fn repository_path(&self, task: &Task) -> Result<PathBuf, EngineError> {
        Ok(self.folder_of(&self.source(self.project(task).await?.as_ref())))
    }
}

/// What a clone is called: something a person recognises, and digits that no two remotes share. The same on every
/// machine.
pub(crate) fn slug(remote: &RemoteUrl) -> String {
    let text = remote.as_str().trim_end_matches('/').trim_end_matches(".git");
    let name = text.rsplit(['/', ':']).next().unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = name.chars().take(SLUG_CHARS_MAX).map(plain).collect();
    // FNV-1a, which every build of Baton works out alike.
    let digits = remote.as_str().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{name}-{digits:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_remote_has_a_clone_of_its_own_with_a_name_people_know() {
        let slug = |text: &str| slug(&text.parse().unwrap());
        assert!(slug("git@host:team/app.git").starts_with("app-"));
        assert!(slug("ssh://git@host/team/app.git/").starts_with("app-"));
        assert_ne!(slug("git@host:a/app.git"), slug("git@host:b/app.git"));
        assert!(slug("/srv/../etc").starts_with("etc-"));
        assert!(slug("https://host/%2e%2e").chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
    }
}
