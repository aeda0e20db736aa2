//! `/api/recipes`, `/api/runs`, and the recipe of a session: its state, start and stop.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use baton_core::base::id::{ProjectId, RunId, SessionId};
use baton_core::base::text::RecipeId;
use baton_core::phase::PhaseStart;
use baton_engine::base::error::{EngineError, Entity, NotFound};
use baton_engine::query::{Cursor, RunFilter};
use baton_engine::reports::run_view::{RunView, is_told};
use baton_engine::runs::{RunRequest, SessionRuns};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::api::route::{Recall, Route};
use crate::api::routes::projects::find_project;
use crate::api::views::page::list_view;
use crate::api::views::recipe::RecipeView;
use crate::http::error::Result;
use crate::http::input::{JsonBody, NoQuery, PathParam, Query, non_blank};
use crate::schema::words;
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/recipes", "list_recipes", list).returns_named("All recipes by id", "RecipePage"),
        Route::get("/api/recipes/{id}", "get_recipe", show)
            .returns::<RecipeView>("One recipe with the outcomes of its steps")
            .may_be_missing(),
        Route::get("/api/runs", "list_runs", list_runs)
            .query("session_id", "SessionId", "Only runs of this session")
            .query("state", "RunFilterState", "Only runs that are open, or that have exited")
            .paged("RunCursor")
            .returns_named("Runs of recipes and loops, newest first", "RunPage"),
        Route::get("/api/runs/{id}", "get_run", show_run)
            .returns_named("One run of a recipe or loop", "Run")
            .may_be_missing(),
        Route::get("/api/sessions/{id}/recipe", "get_session_recipe", session_run)
            .returns_named("The session's open run, or else the one that ended last", "Run")
            .may_be_missing(),
        Route::post("/api/sessions/{id}/recipe", "start_recipe", start)
            .once(Recall::Run)
            .takes::<StartRecipeBody>()
            .created()
            .returns_named("Starts a recipe on a session; a session runs one recipe at a time", "Run")
            .may_conflict(),
        Route::delete("/api/sessions/{id}/recipe", "exit_recipe", exit)
            .returns_named("Stops the session's recipe; existing work is kept", "Run")
            .may_conflict(),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "NewRun")]
#[serde(deny_unknown_fields)]
struct StartRecipeBody {
    #[schemars(with = "words::Name")]
    recipe_id: RecipeId,
    #[schemars(with = "Option<words::ProjectId>")]
    project_id: Option<ProjectId>,
    #[schemars(with = "Option<words::NonBlank>")]
    message: Option<String>,
    /// The first phase of the loop, plan by default; only for `plan-execute-review`.
    #[schemars(with = "Option<words::FirstPhase>")]
    from: Option<PhaseStart>,
}

async fn list(State(app): State<App>, _: NoQuery) -> Result<Json<Map<String, Value>>> {
    let recipes: Vec<RecipeView> = app.tasks().recipes.list().iter().map(RecipeView::from).collect();
    let mut page = list_view("recipes", &recipes, None)?;
    let faults: Vec<String> = app.tasks().recipes.errors().iter().map(ToString::to_string).collect();
    page.insert("faults".to_owned(), faults.into());
    Ok(Json(page))
}

async fn show(
    State(app): State<App>,
    PathParam(id): PathParam<RecipeId>,
    _: NoQuery,
) -> Result<Json<RecipeView>> {
    // The error suggests the nearest id.
    let found = app.tasks().recipes.find(&id)?;
    let listed = app.tasks().recipes.list().into_iter().find(|listed| listed.recipe.id() == found.id());
    let listed = listed.ok_or_else(|| EngineError::from(NotFound::new(Entity::Recipe, &id)))?;
    Ok(Json(RecipeView::from(&listed)))
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum RunFilterState {
    Open,
    Exited,
}

async fn list_runs(State(app): State<App>, mut query: Query) -> Result<Json<Map<String, Value>>> {
    let is_open = query.word::<RunFilterState>("state")?.map(|state| matches!(state, RunFilterState::Open));
    let filter = RunFilter { session: query.take("session_id")?, is_open };
    let paging = query.page()?;
    query.done()?;
    let page = app.tasks().store.runs(&filter, paging.cursor, paging.limit).await?;
    let mut views = Vec::new();
    for stored in page.items.iter().filter(|stored| is_told(&stored.value)) {
        views.push(RunView::load(app.tasks(), &stored.value).await?);
    }
    list_view("runs", &views, page.next.as_ref().map(Cursor::to_string).as_deref()).map(Json)
}

async fn show_run(
    State(app): State<App>,
    PathParam(id): PathParam<RunId>,
    _: NoQuery,
) -> Result<Json<RunView>> {
    let stored = app.tasks().store.run(id).await?;
    let stored = stored.ok_or_else(|| EngineError::from(NotFound::new(Entity::Run, id)))?;
    Ok(Json(RunView::load(app.tasks(), &stored.value).await?))
}

async fn session_run(
    State(app): State<App>,
    PathParam(session): PathParam<SessionId>,
    _: NoQuery,
) -> Result<Json<RunView>> {
    let run = SessionRuns::new(app.tasks()).latest(&session).await?;
    let missing = || EngineError::from(NotFound::new(Entity::Run, format!("on the session {session}")));
    Ok(Json(RunView::load(app.tasks(), &run.ok_or_else(missing)?).await?))
}

async fn start(
    app: AuthedApp,
    PathParam(session): PathParam<SessionId>,
    _: NoQuery,
    JsonBody(new): JsonBody<StartRecipeBody>,
) -> Result<(StatusCode, Json<RunView>)> {
    if let Some(id) = new.project_id {
        find_project(&app, id).await?;
    }
    let request = RunRequest {
        recipe: new.recipe_id,
        project: new.project_id,
        message: new.message.map(|text| non_blank(&text, "message")).transpose()?,
        from: new.from,
    };
    let run = SessionRuns::new(app.tasks()).start(&session, &request, app.actor()).await?;
    Ok((StatusCode::CREATED, Json(RunView::load(app.tasks(), &run).await?)))
}

async fn exit(app: AuthedApp, PathParam(session): PathParam<SessionId>, _: NoQuery) -> Result<Json<RunView>> {
    let run = SessionRuns::new(app.tasks()).exit(&session, app.actor()).await?;
    Ok(Json(RunView::load(app.tasks(), &run).await?))
}
