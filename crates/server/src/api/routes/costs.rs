//! `/api/costs`: what the work of agents cost.

use axum::Json;
use axum::extract::State;
use baton_core::base::time::Timestamp;
use baton_engine::reports::costs::{CostReport, load_costs};

use crate::api::route::Route;
use crate::http::error::Result;
use crate::http::input::Query;
use crate::state::App;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/costs", "show_costs", show)
            .query("since", "Timestamp", "Attempts that ended since then; without it, today (UTC)")
            .returns_named(
                "What agents cost, in total and by project, agent and task, and the budgets",
                "Costs",
            ),
    ]
}

async fn show(State(app): State<App>, mut query: Query) -> Result<Json<CostReport>> {
    let since: Option<Timestamp> = query.take("since")?;
    query.done()?;
    Ok(Json(load_costs(&app.workspace, since).await?))
}
