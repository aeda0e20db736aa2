//! A new project: a repository that is there, a branch it has, and, for a feature, a branch of its own.

use crate::projects::error::ProjectError;
use std::path::{Path, PathBuf};

use baton_core::base::git_name::BranchName;
use baton_core::base::remote_url::RemoteUrl;
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::records::event::{Event, EventBody};
use baton_core::records::project::Project;

use crate::base::error::EngineError;
use crate::git::{GitError, Repository};
use crate::projects::Projects;
use crate::projects::source::Source;

/// What was asked for; what is left out is found.
#[derive(Debug, Clone)]
pub struct NewProject {
    /// The repository on this machine; with a remote, only what its people call it.
    pub path: String,
    /// Where its code is shared, when machines work on it together.
    pub remote: Option<RemoteUrl>,
    pub title: Option<NonBlank>,
    pub description: String,
    pub base_branch: Option<BranchName>,
    /// Its tasks come together on `feature/<8 hex>`; so they do where its base is not the branch people are on.
    pub is_feature: bool,
    /// How many of its tasks may run at once.
    pub at_once_max: Option<u32>,
}

impl Projects {
    /// Looks at the repository first, so that a project is never one that cannot be worked on.
    pub async fn create_project(&self, new: NewProject, actor: Actor) -> Result<Project, EngineError> {
        let (repository, folder) = match &new.remote {
            None => {
                let repository = self.repository_at(Path::new(&new.path)).await?;
                let folder = repository.folder().to_owned();
                (repository, folder)
            }
            Some(remote) => {
                let worktrees = self.open_source(&Source::Remote(remote.clone())).await?;
                let base = match &new.base_branch {
                    Some(base) => base.clone(),
                    None => worktrees.repository().default_branch().await?,
                };
                worktrees.pull(&[&base], None, false).await?;
                let folder = if new.path.is_empty() { remote.as_str() } else { &new.path };
                (worktrees.repository().clone(), PathBuf::from(folder))
            }
        };
        let base_branch = match new.base_branch {
            Some(branch) => branch,
            None => repository.default_branch().await?,
        };
        if repository.tip(&base_branch).await?.is_none() {
            return Err(GitError::NoBranch { branch: base_branch }.into());
        }
        let (id, context) = (self.tasks.ids.project(), self.tasks.context(actor.clone()).await?);
        let is_beside = new.remote.is_none() && !is_peoples(&repository, &base_branch).await?;
        let feature_branch = (new.is_feature || is_beside).then(|| BranchName::feature(id));
        if let Some(feature) = &feature_branch {
            repository.ensure_branch(feature, &base_branch).await?;
        }
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let title = match new.title {
            Some(title) => title,
            None => NonBlank::or(&name, NonBlank::new(id.to_string()).map_err(|_| no_name(&folder))?),
        };
        let project = Project {
            id,
            title,
            description: new.description,
            path: folder.display().to_string(),
            base_branch,
            feature_branch,
            remote: new.remote,
            at_once_max: new.at_once_max,
            created_at: context.now,
            completed_at: None,
        };
        let body = EventBody::ProjectCreated { project: id, title: project.title.clone() };
        let mut change = Change::new().put(Record::Project(project.clone()), WriteGuard::New);
        change.events.push(Event { at: context.now, by: actor, body });
        self.tasks.write(change).await?;
        Ok(project)
    }

    async fn repository_at(&self, path: &Path) -> Result<Repository, EngineError> {
        if !path.is_absolute() {
            let detail = "a project's path begins at the root".to_owned();
            return Err(ProjectError::InvalidPath { path: path.to_owned(), detail }.into());
        }
        Ok(Repository::open(&self.git, path).await?)
    }
}

/// Whether it is the branch people are on. What grows on another one must not come together with what grows on theirs.
async fn is_peoples(repository: &Repository, base: &BranchName) -> Result<bool, EngineError> {
    match repository.default_branch().await {
        Ok(branch) => Ok(branch == *base),
        Err(GitError::NoBaseBranch { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn no_name(folder: &Path) -> EngineError {
    ProjectError::InvalidPath { path: folder.to_owned(), detail: "it has no name".to_owned() }.into()
}
