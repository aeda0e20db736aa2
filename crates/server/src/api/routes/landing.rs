//! `/api/landing`: accepted work on its way into its branch.

use axum::Json;
use axum::extract::State;
use baton_engine::landing::views::LandingView;

use crate::api::route::Route;
use crate::http::error::Result;
use crate::http::input::NoQuery;
use crate::state::App;

pub(crate) fn routes() -> Vec<Route> {
    vec![Route::get("/api/landing", "show_landing", show).returns_named(
        "The lanes of accepted work, who waits in them, and what the checks said last",
        "Landing",
    )]
}

async fn show(State(app): State<App>, _: NoQuery) -> Result<Json<LandingView>> {
    Ok(Json(app.workspace.landing.view(&app.workspace.projects).await?))
}
