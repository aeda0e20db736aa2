//! `/api/events`: the history as it grows.

use axum::http::HeaderMap;
use axum::response::IntoResponse;

use crate::api::route::Route;
use crate::http::error::Result;
use crate::http::input::Query;
use crate::live::sse;
use crate::state::principal::AuthedApp;

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/events", "stream_events", stream)
            .query("after", "Seq", "The number of the last event seen; 0 for all of them")
            .header(
                "Last-Event-ID",
                "Seq",
                "The same, as a browser sends it when it comes back; it wins over after",
            )
            .streams("Events from the durable log, then each as it happens"),
    ]
}

async fn stream(app: AuthedApp, mut query: Query, headers: HeaderMap) -> Result<impl IntoResponse> {
    let after: Option<u64> = query.take("after")?;
    query.done()?;
    let after = sse::last_event_id(&headers)?.or(after).unwrap_or_default();
    Ok(sse::stream(&app, after, sse::to_sse, futures_util::stream::pending()))
}
