//! `/api/workers`: the processes that run agents on this store.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::api::route::Route;
use crate::http::error::Result;
use crate::http::input::NoQuery;
use crate::state::App;
use baton_engine::reports::workers::workers;

pub(crate) fn routes() -> Vec<Route> {
    vec![Route::get("/api/workers", "list_workers", list).returns_named(
        "The processes that run agents on this store, what they run, and their last heartbeat",
        "WorkerList",
    )]
}

async fn list(State(app): State<App>, _: NoQuery) -> Result<Json<Value>> {
    Ok(Json(json!({ "workers": workers(&app.workspace).await? })))
}
