//! `/api/events`: the history as it grows.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use baton_engine::Store;

use crate::error::{Answer, ApiError};
use crate::input::Query;
use crate::route::Route;
use crate::sse;
use crate::state::App;

/// What a browser sends when it comes back.
const LAST_EVENT_ID: &str = "last-event-id";

pub fn routes<S: Store>() -> Vec<Route<S>> {
    vec![
        Route::get("/api/events", "stream_events", stream::<S>)
            .query("after", "Seq", "The number of the last event seen; 0 for all of them")
            .header(
                "Last-Event-ID",
                "Seq",
                "The same, as a browser sends it when it comes back; it wins over after",
            )
            .streams("Events from the durable log, then each as it happens"),
    ]
}

async fn stream<S: Store>(
    State(app): State<App<S>>,
    mut query: Query,
    headers: HeaderMap,
) -> Answer<impl IntoResponse> {
    let after: Option<u64> = query.take("after")?;
    query.done()?;
    let last = headers.get(LAST_EVENT_ID).map(|value| {
        value.to_str().ok().and_then(|text| text.trim().parse::<u64>().ok()).ok_or_else(|| {
            ApiError::invalid("Last-Event-ID is not a number", "send the id of the last event you saw")
        })
    });
    let after = last.transpose()?.or(after).unwrap_or_default();
    Ok(sse::stream(&app, after))
}
