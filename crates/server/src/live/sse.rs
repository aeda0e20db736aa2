//! Server-sent events: the event log as a stream. Ids are sequence numbers, so browsers resume where they were.

use std::convert::Infallible;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use baton_engine::StoredEvent;
use futures_util::stream::unfold;
use futures_util::{Stream, StreamExt};
use tokio::sync::OwnedSemaphorePermit;

use crate::http::error::{ApiError, Result};
use crate::live::follower::EventFollower;
use crate::state::App;
use crate::state::principal::AuthedApp;

/// Sent by browsers on reconnect.
const LAST_EVENT_ID: &str = "last-event-id";
/// Keep-alive interval of an idle stream, so that clients notice when the server is gone.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Streams all events after `after` until the client leaves or its token ends, merged with `extra` events that are not
/// part of the log.
pub(crate) fn stream<B: Stream<Item = Event> + Send + 'static>(
    authed: &AuthedApp,
    after: u64,
    render: fn(&StoredEvent) -> Event,
    extra: B,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>> + use<B>>> {
    let follower = EventFollower::new(App::clone(authed), after);
    let (app, principal) = (App::clone(authed), authed.principal.clone());
    let over = Box::pin(async move { principal.expired(&app).await });
    let state = (follower, over, Box::pin(extra), OpenStream::new(authed)?, authed.principal.clone());
    let events = unfold(state, move |(mut follower, mut over, mut extra, open, principal)| async move {
        // All branches are cancel-safe.
        let next = tokio::select! {
            next = follower.next() => next,
            Some(event) = extra.next() => {
                return Some((Ok(event), (follower, over, extra, open, principal)));
            }
            () = &mut over => None,
        };
        match next {
            Some(recorded) if principal.is_revoked_by(&recorded) => None,
            Some(recorded) => Some((Ok(render(&recorded)), (follower, over, extra, open, principal))),
            None => None,
        }
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// The `Last-Event-ID` header.
pub(crate) fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>> {
    let last = headers.get(LAST_EVENT_ID).map(|value| {
        value.to_str().ok().and_then(|text| text.trim().parse::<u64>().ok()).ok_or_else(|| {
            ApiError::invalid("invalid Last-Event-ID", "send the id of the last event you received")
        })
    });
    last.transpose()
}

/// The whole event, for API clients.
pub(crate) fn to_sse(recorded: &StoredEvent) -> Event {
    let value = serde_json::to_value(recorded).unwrap_or_default();
    let name = value["event"].as_str().unwrap_or("event").to_owned();
    Event::default().id(recorded.seq.to_string()).event(name).data(value.to_string())
}

/// Counts an open stream in the metrics, and holds its place.
struct OpenStream {
    app: App,
    _place: OwnedSemaphorePermit,
}

impl OpenStream {
    fn new(app: &App) -> Result<Self> {
        let place = app.stream_place()?;
        app.metrics.event_streams.entered();
        Ok(Self { app: app.clone(), _place: place })
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.app.metrics.event_streams.left();
    }
}
