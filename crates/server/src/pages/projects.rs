//! The projects there are, as a list to choose from.

use baton_core::base::id::{InvalidId, ProjectId};
use baton_core::records::project::Project;
use maud::{Markup, html};

use super::answer::PageError;
use crate::error::{Answer, ApiError};
use crate::input::Query;
use crate::state::App;

/// Nobody chooses from a longer list.
const OFFERED_MAX: u32 = 100;

pub async fn offered(app: &App) -> Result<Vec<Project>, PageError> {
    Ok(app.tasks().store.projects(None, OFFERED_MAX).await?.items)
}

/// The list, with the words for "none of them" first.
pub fn choice(id: &str, projects: &[Project], chosen: Option<ProjectId>, none: &str) -> Markup {
    html! {
        select #(id) name="project" {
            option value="" { (none) }
            @for project in projects { option value=(project.id) selected[chosen == Some(project.id)] { (project.title) } }
        }
    }
}

/// The one an address asks for. A form without a choice sends nothing in its place.
pub fn wanted(query: &mut Query) -> Answer<Option<ProjectId>> {
    let text = query.take::<String>("project")?.filter(|text| !text.is_empty());
    let unknown = |error: InvalidId| ApiError::invalid(error.to_string(), "choose a project from the list");
    text.map(|text| text.parse().map_err(unknown)).transpose()
}
