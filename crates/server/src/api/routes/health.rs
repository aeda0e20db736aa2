//! `/api/health`

use axum::Json;
use axum::extract::State;

use crate::api::route::Route;
use crate::api::views::health::{Health, health};
use crate::http::error::Answer;
use crate::http::input::Query;
use crate::state::App;

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/health", "get_health", show).gives("How the server is, and what is wrong", "Health"),
    ]
}

async fn show(State(app): State<App>, query: Query) -> Answer<Json<Health>> {
    query.done()?;
    Ok(Json(health(&app.shop).await))
}
