//! The project of this repository, which messages from the command line belong to.

use baton_core::base::id::ProjectId;
use serde::Deserialize;
use serde_json::json;

use crate::context::api::{Api, ListRequest};
use crate::error::CliError;

/// Most projects to search.
const PROJECTS_MAX: u32 = 10_000;

#[derive(Deserialize)]
struct ProjectItem {
    project_id: ProjectId,
    path: String,
    feature_branch: Option<String>,
}

/// The oldest project of this repository that is not a feature; created if there is none.
pub(crate) async fn find_or_create(api: &Api) -> Result<ProjectId, CliError> {
    let list = ListRequest { path: "/api/projects", name: "projects", query: &[] };
    let (projects, _): (Vec<ProjectItem>, _) = api.list(&list, PROJECTS_MAX, None).await?;
    let root = api.place.root.display().to_string();
    let is_own = |known: &&ProjectItem| known.path == root && known.feature_branch.is_none();
    if let Some(known) = projects.iter().find(is_own) {
        return Ok(known.project_id);
    }
    let new: ProjectItem = api.post("/api/projects", &json!({ "path": root })).await?;
    Ok(new.project_id)
}
