//! `/api/health`

use axum::Json;
use axum::extract::State;

use crate::api::route::Route;
use crate::api::views::health::{HealthView, load_health};
use crate::http::error::Result;
use crate::http::input::NoQuery;
use crate::state::App;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/health", "get_health", show)
            .returns::<HealthView>("The server's health and problems"),
    ]
}

async fn show(State(app): State<App>, _: NoQuery) -> Result<Json<HealthView>> {
    Ok(Json(load_health(&app.workspace).await))
}
