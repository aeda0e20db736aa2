//! `/api/recipes`, and the recipe of a session.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use baton_core::id::{ProjectId, SessionId};
use baton_core::text::RecipeId;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::api::route::Route;
use crate::api::routes::projects::project;
use crate::api::views::page::listed;
use crate::api::views::recipe::{RecipeView, RunView};
use crate::http::error::Answer;
use crate::http::input::{Body, Key, Query, said};
use crate::state::App;
use crate::state::principal::Visited;

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/recipes", "list_recipes", list).gives("The recipes there are, by id", "RecipePage"),
        Route::post("/api/sessions/{id}/recipe", "start_recipe", start)
            .takes("NewRun")
            .created()
            .gives("Starts a recipe on a session; a session runs one at a time", "Run")
            .may_conflict(),
        Route::delete("/api/sessions/{id}/recipe", "exit_recipe", exit)
            .gives("Stops the recipe of a session; work that is there is kept", "Run")
            .may_conflict(),
    ]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewRun {
    recipe_id: RecipeId,
    project_id: Option<ProjectId>,
    message: Option<String>,
}

async fn list(State(app): State<App>, query: Query) -> Answer<Json<Map<String, Value>>> {
    query.done()?;
    let recipes: Vec<RecipeView> = app.desk().recipes.list().iter().map(RecipeView::from).collect();
    listed("recipes", &recipes, None).map(Json)
}

async fn start(
    app: Visited,
    Key(session): Key<SessionId>,
    query: Query,
    Body(new): Body<NewRun>,
) -> Answer<(StatusCode, Json<RunView>)> {
    query.done()?;
    if let Some(id) = new.project_id {
        project(&app, id).await?;
    }
    let message = new.message.map(|text| said(&text, "message")).transpose()?;
    let run = app.desk().start_run(&session, &new.recipe_id, new.project_id, message, app.actor()).await?;
    Ok((StatusCode::CREATED, Json(RunView::from(&run))))
}

async fn exit(app: Visited, Key(session): Key<SessionId>, query: Query) -> Answer<Json<RunView>> {
    query.done()?;
    Ok(Json(RunView::from(&app.desk().exit_run(&session, app.actor()).await?)))
}
