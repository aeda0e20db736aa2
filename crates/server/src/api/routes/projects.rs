//! `/api/projects`

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use baton_core::base::git_name::BranchName;
use baton_core::base::id::ProjectId;
use baton_core::base::remote_url::RemoteUrl;
use baton_core::records::project::Project;
use baton_engine::base::error::{Entity, NotFound};
use baton_engine::projects::{commands, new_project};
use baton_engine::reports::project_report::ProjectReport;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::api::route::{Recall, Route};
use crate::api::views::page::page_view;
use crate::api::views::project::ProjectView;
use crate::api::views::report::ReportView;
use crate::http::error::{ApiError, Result};
use crate::http::input::{EmptyBody, JsonBody, NoQuery, PathParam, Query, non_blank};
use crate::http::limits::TITLE_CHARS_MAX;
use crate::schema::words;
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/projects", "list_projects", list)
            .returns_named("Projects, oldest first", "ProjectPage")
            .paged("ProjectCursor"),
        Route::post("/api/projects", "create_project", create)
            .once(Recall::Project)
            .takes::<NewProjectBody>()
            .created()
            .returns::<ProjectView>("Creates a project for a git repository")
            .may_conflict(),
        Route::get("/api/projects/{id}", "get_project", show).returns::<ProjectView>("One project"),
        Route::patch("/api/projects/{id}", "limit_project", limit)
            .takes::<ProjectLimit>()
            .returns::<ProjectView>("Sets how many of its tasks may run at once; null uses the settings")
            .may_conflict(),
        Route::get("/api/projects/{id}/report", "report_project", report)
            .returns_named("A project's progress, effort and tasks", "ProjectReport"),
        Route::post("/api/projects/{id}/complete", "complete_project", complete)
            .takes::<EmptyBody>()
            .returns_named("Marks a project complete; all its tasks must be finished", "ProjectReport")
            .may_conflict(),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "NewProject")]
#[serde(deny_unknown_fields)]
struct NewProjectBody {
    /// Optional if there is a remote.
    #[serde(default)]
    path: String,
    #[schemars(with = "Option<words::NonBlank>")]
    remote: Option<RemoteUrl>,
    #[schemars(with = "Option<words::Title>")]
    title: Option<String>,
    #[serde(default)]
    description: String,
    #[schemars(with = "Option<words::NonBlank>")]
    base_branch: Option<BranchName>,
    #[serde(default)]
    feature: bool,
    at_once_max: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ProjectLimit {
    /// Required, if only as null: omitting it is usually a mistake.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schemars(with = "words::AtOnceMax")]
    at_once_max: Option<u32>,
}

async fn list(State(app): State<App>, mut query: Query) -> Result<Json<Map<String, Value>>> {
    let paging = query.page()?;
    query.done()?;
    let projects = app.tasks().store.projects(paging.cursor, paging.limit).await?;
    page_view("projects", &projects, |project| ProjectView::from(project)).map(Json)
}

async fn create(
    app: AuthedApp,
    _: NoQuery,
    JsonBody(new): JsonBody<NewProjectBody>,
) -> Result<(StatusCode, Json<ProjectView>)> {
    let title = new.title.as_deref().map(|title| parse_title(title, "title")).transpose()?;
    let new = new_project::NewProject {
        path: new.path,
        remote: new.remote,
        title,
        description: new.description,
        base_branch: new.base_branch,
        is_feature: new.feature,
        at_once_max: new.at_once_max,
    };
    let project = app.workspace.projects.create_project(new, app.actor()).await?;
    Ok((StatusCode::CREATED, Json(ProjectView::from(&project))))
}

async fn show(
    State(app): State<App>,
    PathParam(id): PathParam<ProjectId>,
    _: NoQuery,
) -> Result<Json<ProjectView>> {
    Ok(Json(ProjectView::from(&find_project(&app, id).await?)))
}

async fn limit(
    app: AuthedApp,
    PathParam(id): PathParam<ProjectId>,
    _: NoQuery,
    JsonBody(limit): JsonBody<ProjectLimit>,
) -> Result<Json<ProjectView>> {
    Ok(Json(ProjectView::from(&commands::limit(app.tasks(), id, limit.at_once_max, app.actor()).await?)))
}

async fn report(
    State(app): State<App>,
    PathParam(id): PathParam<ProjectId>,
    _: NoQuery,
) -> Result<Json<ReportView>> {
    Ok(Json(ProjectReport::load(app.tasks(), id).await?.into()))
}

async fn complete(
    app: AuthedApp,
    PathParam(id): PathParam<ProjectId>,
    _: NoQuery,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Result<Json<ReportView>> {
    commands::complete(app.tasks(), id, app.actor()).await?;
    Ok(Json(ProjectReport::load(app.tasks(), id).await?.into()))
}

/// Loads a project or answers 404.
pub(crate) async fn find_project(app: &App, id: ProjectId) -> Result<Project> {
    let missing = || NotFound::new(Entity::Project, id);
    Ok(app.tasks().store.project(id).await?.ok_or_else(missing)?.value)
}

/// Checks a title.
pub(crate) fn parse_title(text: &str, name: &'static str) -> Result<baton_core::base::text::NonBlank> {
    if text.chars().count() > TITLE_CHARS_MAX {
        return Err(ApiError::invalid(
            format!("{name} is longer than {TITLE_CHARS_MAX} characters"),
            "shorten it; put the rest into the description",
        ));
    }
    non_blank(text, name)
}
