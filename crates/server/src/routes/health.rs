//! `/api/health`

use axum::Json;
use axum::extract::State;

use crate::error::Answer;
use crate::input::Query;
use crate::route::Route;
use crate::state::App;
use crate::views::health::{Health, health};

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/health", "get_health", show).gives("How the server is, and what is wrong", "Health"),
    ]
}

async fn show(State(app): State<App>, query: Query) -> Answer<Json<Health>> {
    query.done()?;
    Ok(Json(health(&app.shop).await))
}
