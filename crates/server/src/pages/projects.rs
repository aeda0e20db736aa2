//! The project picker.

use baton_core::base::id::{InvalidId, ProjectId};
use baton_core::records::project::Project;
use maud::{Markup, html};

use crate::http::error::{ApiError, Result};
use crate::http::input::Query;
use crate::pages::frame::response::PageError;
use crate::state::App;

/// Projects listed.
const OFFERED_MAX: u32 = 100;

pub(super) async fn list_projects(app: &App) -> Result<Vec<Project>, PageError> {
    Ok(app.tasks().store.projects(None, OFFERED_MAX).await?.items)
}

/// A select box; `none` labels the first, empty option.
pub(super) fn picker(id: &str, projects: &[Project], chosen: Option<ProjectId>, none: &str) -> Markup {
    html! {
        select #(id) name="project" {
            option value="" { (none) }
            @for project in projects { option value=(project.id) selected[chosen == Some(project.id)] { (project.title) } }
        }
    }
}

/// The `project` parameter. A form without a choice sends it empty.
pub(super) fn from_query(query: &mut Query) -> Result<Option<ProjectId>> {
    let text = query.take::<String>("project")?.filter(|text| !text.is_empty());
    let unknown = |error: InvalidId| ApiError::invalid(error.to_string(), "choose a project from the list");
    text.map(|text| text.parse().map_err(unknown)).transpose()
}
