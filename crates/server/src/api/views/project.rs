//! A project as clients see it.

use baton_core::base::git_name::BranchName;
use baton_core::base::id::{ProjectId, SessionId};
use baton_core::base::remote_url::RemoteUrl;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::records::project::Project;
use schemars::JsonSchema;
use serde::Serialize;

use crate::schema::words;

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Project")]
pub(crate) struct ProjectView {
    #[schemars(with = "words::ProjectId")]
    pub project_id: ProjectId,
    #[schemars(with = "words::NonBlank")]
    pub title: NonBlank,
    pub description: String,
    pub path: String,
    #[schemars(with = "words::Text")]
    pub base_branch: BranchName,
    #[schemars(with = "Option<words::Text>")]
    pub feature_branch: Option<BranchName>,
    /// The branch that accepted work is merged into.
    #[schemars(with = "words::Text")]
    pub branch: BranchName,
    /// The git remote that machines share.
    #[schemars(with = "Option<words::Text>")]
    pub remote: Option<RemoteUrl>,
    /// How many of its tasks may run at once; none uses the settings.
    pub at_once_max: Option<u32>,
    /// The default session for messages.
    #[schemars(with = "words::SessionId")]
    pub session_id: SessionId,
    #[schemars(with = "words::Timestamp")]
    pub created_at: Timestamp,
    /// When a person marked it complete.
    #[schemars(with = "Option<words::Timestamp>")]
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
