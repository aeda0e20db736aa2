//! A project as clients see it.

use baton_core::base::git_name::BranchName;
use baton_core::base::id::{ProjectId, SessionId};
use baton_core::base::remote_url::RemoteUrl;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::records::project::Project;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub struct ProjectView {
    pub project_id: ProjectId,
    pub title: NonBlank,
    pub description: String,
    pub path: String,
    pub base_branch: BranchName,
    pub feature_branch: Option<BranchName>,
    /// Where accepted work comes together.
    pub branch: BranchName,
    /// Where its code is shared between machines.
    pub remote: Option<RemoteUrl>,
    /// How many of its tasks may run at once; none for what the settings say.
    pub at_once_max: Option<u32>,
    /// The session that messages go to which name none.
    pub session_id: SessionId,
    pub created_at: Timestamp,
    /// When a person called it complete.
    pub completed_at: Option<Timestamp>,
}

impl From<&Project> for ProjectView {
    fn from(project: &Project) -> Self {
        Self {
            project_id: project.id,
            title: project.title.clone(),
            description: project.description.clone(),
            path: project.path.clone(),
            base_branch: project.base_branch.clone(),
            feature_branch: project.feature_branch.clone(),
            branch: project.branch(),
            remote: project.remote.clone(),
            at_once_max: project.at_once_max,
            session_id: SessionId::for_project(project.id),
            created_at: project.created_at,
            completed_at: project.completed_at,
        }
    }
}
