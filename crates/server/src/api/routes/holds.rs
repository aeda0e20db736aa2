//! `/api/holds`: agents on which nothing is started for now.

use axum::Json;
use axum::extract::State;
use baton_core::hold::Hold;
use baton_core::text::AgentName;
use serde_json::{Value, json};

use crate::api::route::Route;
use crate::http::error::Answer;
use crate::http::input::{Key, Query};
use crate::state::App;
use crate::state::principal::Visited;

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/holds", "list_holds", list)
            .gives("What keeps agents from being given work now", "HoldList"),
        Route::post("/api/holds/{agent}/release", "release_hold", release)
            .gives("Lets the agent go on; what was held", "Hold"),
    ]
}

async fn list(State(app): State<App>, query: Query) -> Answer<Json<Value>> {
    query.done()?;
    Ok(Json(json!({ "holds": app.desk().holds().await? })))
}

async fn release(app: Visited, Key(agent): Key<AgentName>, query: Query) -> Answer<Json<Hold>> {
    query.done()?;
    Ok(Json(app.desk().release_hold(&agent, app.actor()).await?))
}
