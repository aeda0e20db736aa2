//! `/api/holds`: agents on which nothing is started for now.

use axum::Json;
use axum::extract::State;
use baton_core::base::text::AgentName;
use baton_core::limits::hold::Hold;
use baton_engine::Store;
use serde_json::{Value, json};

use crate::error::Answer;
use crate::input::{Key, Query};
use crate::route::Route;
use crate::state::App;
use crate::visitor::Visited;

pub fn routes<S: Store>() -> Vec<Route<S>> {
    vec![
        Route::get("/api/holds", "list_holds", list::<S>)
            .gives("What keeps agents from being given work now", "HoldList"),
        Route::post("/api/holds/{agent}/release", "release_hold", release::<S>)
            .gives("Lets the agent go on; what was held", "Hold"),
    ]
}

async fn list<S: Store>(State(app): State<App<S>>, query: Query) -> Answer<Json<Value>> {
    query.done()?;
    Ok(Json(json!({ "holds": app.desk().holds().await? })))
}

async fn release<S: Store>(app: Visited<S>, Key(agent): Key<AgentName>, query: Query) -> Answer<Json<Hold>> {
    query.done()?;
    Ok(Json(app.desk().release_hold(&agent, app.actor()).await?))
}
