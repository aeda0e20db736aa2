//! The repository that Baton was started in, and its project.
//!
//! Work without a project is done in that repository, and so is the work of the repository's own project: the two
//! are one place. A session of either takes tasks and messages of both.

use std::path::Path;
use std::sync::Arc;

use baton_core::base::id::ProjectId;
use baton_core::records::project::Project;
use baton_core::schedule::ProjectScope;

use crate::base::error::Result;
use crate::tasks::service::TaskService;

/// Projects read at once.
const PROJECTS_PAGE: u32 = 500;

impl TaskService {
    /// The same, started in the repository at `root`.
    #[must_use]
    pub fn at_root(self, root: &Path) -> Self {
        Self { root: Some(Arc::from(root)), ..self }
    }

    /// The oldest project of the repository that is not a feature, if there is one.
    pub async fn home_project(&self) -> Result<Option<ProjectId>> {
        let Some(root) = &self.root else { return Ok(None) };
        let mut cursor = None;
        loop {
            let page = self.store.projects(cursor, PROJECTS_PAGE).await?;
            let is_home =
                |known: &&Project| Path::new(&known.path) == &**root && known.feature_branch.is_none();
            if let Some(home) = page.items.iter().find(is_home) {
                return Ok(Some(home.id));
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(None);
            }
        }
    }

    /// Whether work of both is done in the same place.
    pub async fn is_same_place(&self, one: Option<ProjectId>, other: Option<ProjectId>) -> Result<bool> {
        if one == other {
            return Ok(true);
        }
        let home = self.home_project().await?;
        let is_home = |project: Option<ProjectId>| project.is_none() || project == home;
        Ok(is_home(one) && is_home(other))
    }

    /// Whose tasks a run takes that works for this project, or for none.
    pub(crate) async fn scope_of(&self, project: Option<ProjectId>) -> Result<ProjectScope> {
        Ok(match self.home_project().await? {
            Some(home) if project.is_none_or(|project| project == home) => ProjectScope::Home(home),
            Some(_) | None => ProjectScope::exactly(project),
        })
    }
}
