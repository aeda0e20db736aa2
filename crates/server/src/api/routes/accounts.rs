//! `/api/accounts`: the logins that agents work on.

use axum::Json;
use axum::extract::State;
use baton_engine::reports::accounts::accounts;
use serde_json::{Value, json};

use crate::api::route::Route;
use crate::http::error::Result;
use crate::http::input::NoQuery;
use crate::state::App;

pub(crate) fn routes() -> Vec<Route> {
    vec![Route::get("/api/accounts", "list_accounts", list).returns_named(
        "The accounts that agents work on, whether they take work, and what was used today",
        "AccountList",
    )]
}

async fn list(State(app): State<App>, _: NoQuery) -> Result<Json<Value>> {
    Ok(Json(json!({ "accounts": accounts(&app.workspace).await? })))
}
