//! Server-sent events: the log as a stream. The id of each is its number, so a browser comes back where it was.

use std::convert::Infallible;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use baton_engine::Recorded;
use baton_engine::Store;
use futures_util::Stream;
use futures_util::stream::unfold;

use crate::error::{Answer, ApiError};
use crate::follower::Follower;
use crate::state::App;

/// What a browser sends when it comes back.
const LAST_EVENT_ID: &str = "last-event-id";
/// How often a quiet stream gives a sign of life, so that a client notices when the server is gone.
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Everything after the event of number `after`, for as long as the client listens.
pub fn stream<S: Store>(
    app: &App<S>,
    after: u64,
) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<S>> {
    let follower = Follower::new(app.desk().clone(), app.ending.clone(), after);
    let state = (follower, Listening::new(app.clone()));
    let events = unfold(state, |(mut follower, listening)| async move {
        match follower.next().await {
            Ok(Some(recorded)) => Some((Ok(event_of(&recorded)), (follower, listening))),
            Ok(None) => None,
            Err(error) => {
                // The client comes back with the last number it saw, and misses nothing.
                tracing::warn!(%error, "an event stream broke off");
                None
            }
        }
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
}

/// The number a browser sends when it comes back.
pub fn last_event_id(headers: &HeaderMap) -> Answer<Option<u64>> {
    let last = headers.get(LAST_EVENT_ID).map(|value| {
        value.to_str().ok().and_then(|text| text.trim().parse::<u64>().ok()).ok_or_else(|| {
            ApiError::invalid("Last-Event-ID is not a number", "send the id of the last event you saw")
        })
    });
    last.transpose()
}

fn event_of(recorded: &Recorded) -> Event {
    let value = serde_json::to_value(recorded).unwrap_or_default();
    let name = value["event"].as_str().unwrap_or("event").to_owned();
    Event::default().id(recorded.seq.to_string()).event(name).data(value.to_string())
}

/// Counts a stream for as long as it is open.
pub struct Listening<S>(App<S>);

impl<S> Listening<S> {
    pub fn new(app: App<S>) -> Self {
        app.metrics.event_streams.entered();
        Self(app)
    }
}

impl<S> Drop for Listening<S> {
    fn drop(&mut self) {
        self.0.metrics.event_streams.left();
    }
}
