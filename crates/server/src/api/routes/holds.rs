//! `/api/holds`: agents that get no new work for now.

use axum::Json;
use axum::extract::State;
use baton_core::base::text::AgentName;
use baton_core::limits::hold::Hold;
use baton_engine::limits::holds::Holds;
use serde_json::{Value, json};

use crate::api::route::Route;
use crate::http::error::Result;
use crate::http::input::{NoQuery, PathParam};
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/holds", "list_holds", list).returns_named("Agents on hold, and why", "HoldList"),
        Route::post("/api/holds/{agent}/release", "release_hold", release)
            .returns_named("Releases the hold and returns it", "Hold"),
    ]
}

async fn list(State(app): State<App>, _: NoQuery) -> Result<Json<Value>> {
    Ok(Json(json!({ "holds": Holds::new(app.tasks()).active().await? })))
}

async fn release(app: AuthedApp, PathParam(agent): PathParam<AgentName>, _: NoQuery) -> Result<Json<Hold>> {
    Ok(Json(Holds::new(app.tasks()).release(&agent, app.actor()).await?))
}
