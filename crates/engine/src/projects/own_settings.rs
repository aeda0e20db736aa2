//! The settings that apply to a project: those of its own checkout, read when they are needed, so that a change counts at
//! once. A project without a checkout of a person's, and work without a project, go by the settings of this Baton.

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

    pub fn settings_of(&self, project: Option<&Project>) -> Result<Arc<Settings>, EngineError> {
        match self.source(project) {
            CodeSource::Here(folder) => self.settings_in(&folder),
            CodeSource::Remote(_) => Ok(self.serving.clone()),
        }
    }

    /// Those of a repository in a folder of this machine.
    pub(crate) fn settings_in(&self, folder: &Path) -> Result<Arc<Settings>, EngineError> {
        if self.is_home(folder) {
            return Ok(self.serving.clone());
        }
        Ok(Arc::new(self.serving.with_project(Settings::load(&settings_path(folder))?)))
    }

    /// Refuses settings that came with a clone and start programs, until a person has allowed them. Those of the folder that
    /// Baton serves were asked about when it started.
    pub(crate) async fn check_trusted(&self, task: &Task) -> Result<(), EngineError> {
        let CodeSource::Here(folder) = self.source(self.project(task).await?.as_ref()) else { return Ok(()) };
        if self.is_home(&folder) {
            return Ok(());
        }
        match folder_trust::untrusted_in(&folder).await? {
            None => Ok(()),
            Some(untrusted) => {
                Err(ProjectError::Untrusted { path: folder, programs: untrusted.programs }.into())
            }
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
