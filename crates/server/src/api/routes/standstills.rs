//! `/api/standstills`: what stands still until a person acts, apart from questions and work to accept.

use axum::Json;
use axum::extract::State;
use baton_engine::reports::standstill::load_standstills;
use serde_json::{Value, json};

use crate::api::route::Route;
use crate::http::error::Result;
use crate::http::input::NoQuery;
use crate::state::App;

pub(crate) fn routes() -> Vec<Route> {
    vec![Route::get("/api/standstills", "list_standstills", list).returns_named(
        "What stands still until a person acts, apart from questions and work to accept: breakdowns to plan, cancelled \
         breakdowns, dependencies that can never be met, failed tasks, missing repositories, branches that fail their checks, lanes that cannot go on, reviews \
         without a result",
        "StandstillList",
    )]
}

async fn list(State(app): State<App>, _: NoQuery) -> Result<Json<Value>> {
    Ok(Json(
        json!({ "standstills": load_standstills(&app.workspace.projects, &app.workspace.landing).await? }),
    ))
}
