//! Creates a project: a repository, its base branch and, for a feature, its own branch.

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
use crate::projects::error::ProjectError;
use crate::projects::source::CodeSource;

/// The project to create. What is not given is derived from the repository.
#[derive(Debug, Clone)]
pub struct NewProject {
    /// The repository on this machine; with a remote, only a name.
    pub path: String,
    /// The remote through which machines share its code.
    pub remote: Option<RemoteUrl>,
    pub title: Option<NonBlank>,
    pub description: String,
    pub base_branch: Option<BranchName>,
    /// Whether its tasks are merged into `feature/<8 hex>`. Always so if its base is not the default branch.
    pub is_feature: bool,
    /// How many of its tasks may run at once.
    pub at_once_max: Option<u32>,
}

impl Projects {
    /// Opens the repository first, so that every project can be worked on.
    pub async fn create_project(&self, new: NewProject, actor: Actor) -> Result<Project, EngineError> {
        let (repository, folder) = match &new.remote {
            None => {
                let repository = self.repository_at(Path::new(&new.path)).await?;
                let folder = repository.folder().to_owned();
                (repository, folder)
            }
            Some(remote) => {
                let worktrees = self.open_source(&CodeSource::Remote(remote.clone())).await?;
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
        let is_other_branch = new.remote.is_none() && !is_default_branch(&repository, &base_branch).await?;
        let feature_branch = (new.is_feature || is_other_branch).then(|| BranchName::feature(id));
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
            let detail = "it is not absolute".to_owned();
            return Err(ProjectError::InvalidPath { path: path.to_owned(), detail }.into());
        }
        Ok(Repository::open(&self.git, path).await?)
    }
}

/// Whether it is the default branch. Work based on another branch must not be mixed with work based on it.
async fn is_default_branch(repository: &Repository, base: &BranchName) -> Result<bool, EngineError> {
    match repository.default_branch().await {
        Ok(branch) => Ok(branch == *base),
        Err(GitError::NoBaseBranch { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn no_name(folder: &Path) -> EngineError {
    ProjectError::InvalidPath { path: folder.to_owned(), detail: "it has no name".to_owned() }.into()
}
