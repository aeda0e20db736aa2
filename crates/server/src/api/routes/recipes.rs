//! `/api/recipes`, and starting and stopping a session's recipe.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use baton_core::base::id::{ProjectId, SessionId};
use baton_core::base::text::RecipeId;
use baton_engine::runs::SessionRuns;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::api::route::Route;
use crate::api::routes::projects::find_project;
use crate::api::views::page::list_view;
use crate::api::views::recipe::{RecipeView, RunView};
use crate::http::error::Result;
use crate::http::input::{JsonBody, NoQuery, PathParam, non_blank};
use crate::schema::words;
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/recipes", "list_recipes", list).returns_named("All recipes by id", "RecipePage"),
        Route::post("/api/sessions/{id}/recipe", "start_recipe", start)
            .takes::<StartRecipeBody>()
            .created()
            .returns::<RunView>("Starts a recipe on a session; a session runs one recipe at a time")
            .may_conflict(),
        Route::delete("/api/sessions/{id}/recipe", "exit_recipe", exit)
            .returns::<RunView>("Stops the session's recipe; existing work is kept")
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
}

async fn list(State(app): State<App>, _: NoQuery) -> Result<Json<Map<String, Value>>> {
    let recipes: Vec<RecipeView> = app.tasks().recipes.list().iter().map(RecipeView::from).collect();
    list_view("recipes", &recipes, None).map(Json)
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
    let message = new.message.map(|text| non_blank(&text, "message")).transpose()?;
    let run = SessionRuns::new(app.tasks())
        .start(&session, &new.recipe_id, new.project_id, message, app.actor())
        .await?;
    Ok((StatusCode::CREATED, Json(RunView::from(&run))))
}

async fn exit(app: AuthedApp, PathParam(session): PathParam<SessionId>, _: NoQuery) -> Result<Json<RunView>> {
    Ok(Json(RunView::from(&SessionRuns::new(app.tasks()).exit(&session, app.actor()).await?)))
}
