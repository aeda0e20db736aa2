//! `/api/events`: the event log as a stream.

use axum::http::HeaderMap;
use axum::response::IntoResponse;

use crate::api::route::Route;
use crate::http::error::Result;
use crate::http::input::Query;
use crate::live::sse;
use crate::state::principal::AuthedApp;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/events", "stream_events", stream)
            .query("after", "Seq", "Sequence number of the last event seen; 0 for all events")
            .header(
                "Last-Event-ID",
                "Seq",
                "The same, as browsers send it on reconnect; takes precedence over after",
            )
            .streams("Streams events from the durable log, then new ones as they occur"),
    ]
}

async fn stream(app: AuthedApp, mut query: Query, headers: HeaderMap) -> Result<impl IntoResponse> {
    let after: Option<u64> = query.take("after")?;
    query.done()?;
    let after = sse::last_event_id(&headers)?.or(after).unwrap_or_default();
    sse::stream(&app, after, sse::to_sse, futures_util::stream::pending())
}
