//! `/api/health`

use axum::Json;
use axum::extract::State;

use crate::api::route::Route;
use crate::api::views::health::{HealthView, load_health};
use crate::http::error::Result;
use crate::http::input::Query;
use crate::state::App;

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/health", "get_health", show)
            .returns::<HealthView>("The server's health and problems"),
    ]
}

async fn show(State(app): State<App>, query: Query) -> Result<Json<HealthView>> {
    query.done()?;
    Ok(Json(load_health(&app.shop).await))
}
