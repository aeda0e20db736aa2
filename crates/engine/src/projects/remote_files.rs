//! The files of a remote's default branch, as they were last fetched. A project with a remote has no checkout of a person's;
//! its settings and its user tasks are read here.

use std::fs;
use std::path::{Path, PathBuf};

use baton_core::records::project::Project;

use crate::base::error::{EngineError, FolderError};
use crate::people::folder_trust::REMOTE_MARK;
use crate::projects::Projects;
use crate::projects::source::CodeSource;
use crate::settings::location::settings_path;
use crate::user_tasks::TASKFILE;

impl Projects {
    /// Brings the files of a project's remote up to what was fetched. Does nothing for a folder of this machine, and for a
    /// remote without settings and user tasks.
    pub(crate) async fn refresh_remote_files(&self, project: Option<&Project>) -> Result<(), EngineError> {
        let Some(project) = project.filter(|project| project.remote.is_some()) else { return Ok(()) };
        let source = self.source(Some(project));
        let worktrees = self.open_source(&source).await?;
        let folder = beside(&self.folder_of(&source));
        let branch = worktrees.repository().default_branch().await?;
        if branch != project.base_branch {
            // An attempt fetches only the branches of its project.
            worktrees.pull(&[&branch], None, false).await?;
        }
        if worktrees.write_branch_files(&branch, &[".agent/baton.toml", TASKFILE], &folder).await? {
            let mark = folder.join(REMOTE_MARK);
            let failed =
                |error: std::io::Error| FolderError { path: mark.clone(), detail: error.to_string() };
            fs::write(&mark, "").map_err(failed)?;
        }
        Ok(())
    }

    /// Where the settings of a remote are read, if it has some.
    pub(super) fn remote_files(&self, source: &CodeSource) -> Option<PathBuf> {
        let files = beside(&self.folder_of(source));
        settings_path(&files).is_file().then_some(files)
    }
}

/// Beside the clone: `app-0123.git` and `app-0123.files`.
pub(super) fn beside(clone: &Path) -> PathBuf {
    clone.with_extension("files")
}
