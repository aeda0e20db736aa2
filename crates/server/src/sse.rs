//! Server-sent events: the log as a stream. The id of each is its number, so a browser comes back where it was.

use std::convert::Infallible;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use baton_engine::StoredEvent;
use futures_util::stream::unfold;
use futures_util::{Stream, StreamExt};

use crate::error::{Answer, ApiError};
use crate::follower::Follower;
use crate::state::App;
use crate::visitor::Visited;

/// What a browser sends when it comes back.
const LAST_EVENT_ID: &str = "last-event-id";
/// How often a quiet stream gives a sign of life, so that a client notices when the server is gone.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Everything after the event of number `after`, for as long as the client listens and may; and, as it comes, what is
/// told `beside` the log.
pub fn stream<B: Stream<Item = Event> + Send + 'static>(
    visited: &Visited,
    after: u64,
    told: fn(&StoredEvent) -> Event,
    beside: B,
) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<B>> {
    let follower = Follower::new(visited, after);
    let (app, visitor) = (App::clone(visited), visited.visitor.clone());
    let over = Box::pin(async move { visitor.time_is_over(&app).await });
    let state = (follower, over, Box::pin(beside), Listening::new(visited), visited.visitor.clone());
    let events = unfold(state, move |(mut follower, mut over, mut beside, listening, visitor)| async move {
        // None of them loses anything when it is dropped for another.
        let next = tokio::select! {
            next = follower.next() => next,
            Some(event) = beside.next() => {
                return Some((Ok(event), (follower, over, beside, listening, visitor)));
            }
            () = &mut over => None,
        };
        match next {
            Some(recorded) if visitor.is_ended_by(&recorded) => None,
            Some(recorded) => Some((Ok(told(&recorded)), (follower, over, beside, listening, visitor))),
            None => None,
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

/// An event whole, for programs.
pub fn event_of(recorded: &StoredEvent) -> Event {
    let value = serde_json::to_value(recorded).unwrap_or_default();
    let name = value["event"].as_str().unwrap_or("event").to_owned();
    Event::default().id(recorded.seq.to_string()).event(name).data(value.to_string())
}

/// Counts a stream for as long as it is open.
struct Listening(App);

impl Listening {
    fn new(app: &App) -> Self {
        app.metrics.event_streams.entered();
        Self(app.clone())
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.metrics.event_streams.left();
    }
}
