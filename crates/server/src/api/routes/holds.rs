//! `/api/holds`: agents that get no new work for now.

use axum::Json;
use axum::extract::State;
use baton_core::hold::Hold;
use baton_core::text::AgentName;
use serde_json::{Value, json};

use crate::api::route::Route;
use crate::http::error::Result;
use crate::http::input::{PathParam, Query};
use crate::state::App;
use crate::state::principal::AuthedApp;

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/holds", "list_holds", list).returns_named("Agents on hold, and why", "HoldList"),
        Route::post("/api/holds/{agent}/release", "release_hold", release)
            .returns_named("Releases the hold and returns it", "Hold"),
    ]
}

async fn list(State(app): State<App>, query: Query) -> Result<Json<Value>> {
    query.done()?;
    Ok(Json(json!({ "holds": app.desk().holds().await? })))
}

async fn release(app: AuthedApp, PathParam(agent): PathParam<AgentName>, query: Query) -> Result<Json<Hold>> {
    query.done()?;
    Ok(Json(app.desk().release_hold(&agent, app.actor()).await?))
}
