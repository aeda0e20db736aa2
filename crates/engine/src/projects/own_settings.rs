//! The settings that apply to a project: those of its own checkout, read when they are needed, so that a change counts at
//! once. Those of a project with a remote are the ones on the remote's default branch. A remote without settings, and work
//! without a project, go by the settings of this Baton.

use std::path::Path;
use std::sync::Arc;

use baton_core::records::project::Project;
use baton_core::task::Task;

use crate::base::error::EngineError;
use crate::people::folder_trust;
use crate::projects::Projects;
use crate::projects::error::ProjectError;
use crate::projects::source::CodeSource;
use crate::settings::Settings;
use crate::settings::location::settings_path;

impl Projects {
    pub async fn settings_for(&self, task: &Task) -> Result<Arc<Settings>, EngineError> {
        self.settings_of(self.project(task).await?.as_ref())
    }

    /// The same for whoever runs commands that they name: nothing of a clone runs before a person has allowed it.
    pub(crate) async fn settings_to_run(&self, task: &Task) -> Result<Arc<Settings>, EngineError> {
        let project = self.project(task).await?;
        self.check_trusted(project.as_ref()).await?;
        self.settings_of(project.as_ref())
    }

    /// The same, after a look at what was fetched of its remote. Clones the remote where nobody has worked on it before.
    pub(crate) async fn settings_to_work_by(
        &self,
        project: Option<&Project>,
    ) -> Result<Arc<Settings>, EngineError> {
        self.refresh_remote_files(project).await?;
        self.check_trusted(project).await?;
        self.settings_of(project)
    }

    pub fn settings_of(&self, project: Option<&Project>) -> Result<Arc<Settings>, EngineError> {
        let source = self.source(project);
        let files = match (&source, project) {
            (CodeSource::Here(folder), _) => Some(folder.clone()),
            (CodeSource::Remote(_), Some(_)) => self.remote_files(&source),
            (CodeSource::Remote(_), None) => None,
        };
        files.map_or_else(|| Ok(self.serving.clone()), |files| self.settings_in(&files))
    }

    /// Those of a repository in a folder of this machine.
    pub(crate) fn settings_in(&self, folder: &Path) -> Result<Arc<Settings>, EngineError> {
        if self.is_home(folder) {
            return Ok(self.serving.clone());
        }
        Ok(Arc::new(self.serving.with_project(Settings::load(&settings_path(folder))?)))
    }

    /// Refuses settings that came with a clone and start programs or open the fence, until a person has allowed them. Those
    /// of the folder that Baton serves were asked about when it started.
    async fn check_trusted(&self, project: Option<&Project>) -> Result<(), EngineError> {
        let source = self.source(project);
        let files = match &source {
            CodeSource::Here(folder) => Some(folder.clone()),
            CodeSource::Remote(_) => self.remote_files(&source).filter(|_| project.is_some()),
        };
        let Some(folder) = files.filter(|folder| !self.is_home(folder)) else { return Ok(()) };
        match folder_trust::untrusted_in(&folder, Some(&self.serving)).await? {
            None => Ok(()),
            Some(untrusted) => Err(ProjectError::Untrusted { path: folder, grants: untrusted.grants }.into()),
        }
    }

    fn is_home(&self, folder: &Path) -> bool {
        let root = &self.place.root;
        folder == root || folder.canonicalize().is_ok_and(|folder| folder == *root)
    }

    /// The same for the work of a project with these settings.
    #[must_use]
    pub(crate) fn with_settings(&self, settings: &Arc<Settings>) -> Self {
        Self { settings: settings.clone(), ..self.clone() }
    }
}
