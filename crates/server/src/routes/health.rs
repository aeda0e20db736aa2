//! `/api/health`

use axum::Json;
use axum::extract::State;
use baton_engine::Store;

use crate::error::Answer;
use crate::input::Query;
use crate::route::Route;
use crate::state::App;
use crate::views::health::{Health, health};

pub fn routes<S: Store>() -> Vec<Route<S>> {
    vec![
        Route::get("/api/health", "get_health", show::<S>)
            .gives("How the server is, and what is wrong", "Health"),
    ]
}

async fn show<S: Store>(State(app): State<App<S>>, query: Query) -> Answer<Json<Health>> {
    query.done()?;
    Ok(Json(health(&app.shop).await))
}
