//! `/live`: tells open pages what changed. Ids are sequence numbers, so browsers resume where they were.
//!
//! A message says only which ids an event is about; pages that show one of them reload their live part.

use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use baton_core::records::event::EventBody;
use baton_engine::StoredEvent;
use baton_engine::cluster::running::Running;
use futures_util::Stream;
use futures_util::stream::{select, unfold};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::http::error::Result;
use crate::http::input::Query;
use crate::live::sse::{self, last_event_id};
use crate::pages::widgets::markdown::plain;
use crate::pages::widgets::words::short;
use crate::state::principal::AuthedApp;

/// Shortest interval between turn updates.
const TURNS_EVERY: Duration = Duration::from_secs(1);
/// Shortest interval between updates about the output of checks.
const LANDING_EVERY: Duration = Duration::from_millis(500);
/// Longest text of a notification.
const NOTICE_CHARS_MAX: usize = 140;

/// The update that every page reloads for; `live.js` knows it.
const SERVICES: &str = "services";
/// The update that the landing page reloads for; `live.js` knows it.
const LANDING: &str = "landing";

/// What a page needs to know about an event.
#[derive(Serialize)]
struct LiveUpdate {
    event: String,
    /// The ids it concerns.
    about: Vec<String>,
    /// A desktop notification.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<BrowserNotice>,
}

#[derive(Serialize)]
struct BrowserNotice {
    title: &'static str,
    text: String,
    address: String,
}

pub(super) async fn stream(app: AuthedApp, mut query: Query, headers: HeaderMap) -> Result<Response> {
    let after: Option<u64> = query.take("after")?;
    query.done()?;
    let after = last_event_id(&headers)?.or(after).unwrap_or_default();
    let news =
        |recorded: &StoredEvent| Event::default().id(recorded.seq.to_string()).data(update_json(recorded));
    let turns = TurnUpdates::new(app.workspace.running.clone()).into_stream();
    let extra = select(turns, service_updates(app.workspace.services.changes()));
    let extra = select(extra, landing_updates(app.workspace.landing.changes()));
    Ok(sse::stream(&app, after, news, extra)?.into_response())
}

/// State changes of background services: every page shows the failing ones.
fn service_updates(changes: watch::Receiver<u64>) -> impl Stream<Item = Event> {
    unfold(changes, |mut changes| async move {
        changes.changed().await.ok()?;
        let update = LiveUpdate { event: SERVICES.to_owned(), about: Vec::new(), notice: None };
        Some((Event::default().data(serde_json::to_string(&update).unwrap_or_default()), changes))
    })
}

/// What happens in the lanes, and what checks print: not events of the log. Only the page that shows it reloads.
fn landing_updates(changes: watch::Receiver<u64>) -> impl Stream<Item = Event> {
    unfold((changes, Instant::now()), |(mut changes, not_before)| async move {
        sleep_until(not_before).await;
        changes.changed().await.ok()?;
        let update = LiveUpdate { event: LANDING.to_owned(), about: Vec::new(), notice: None };
        let event = Event::default().data(serde_json::to_string(&update).unwrap_or_default());
        Some((event, (changes, Instant::now() + LANDING_EVERY)))
    })
}

/// Updates about agents' turns, throttled.
struct TurnUpdates {
    running: Running,
    taken: watch::Receiver<u64>,
    not_before: Instant,
}

impl TurnUpdates {
    fn new(running: Running) -> Self {
        let taken = running.turns();
        Self { running, taken, not_before: Instant::now() }
    }

    /// Turns are not events of the log, so the messages have no id.
    fn into_stream(self) -> impl Stream<Item = Event> {
        unfold(self, |mut turns| async move {
            let news = turns.next_update().await;
            Some((Event::default().data(news), turns))
        })
    }

    async fn next_update(&mut self) -> String {
        sleep_until(self.not_before).await;
        if self.taken.changed().await.is_err() {
            // The sender is gone.
            std::future::pending::<()>().await;
        }
        self.not_before = Instant::now() + TURNS_EVERY;
        let about = self.running.all_at_work().iter().map(|at| at.task.to_string()).collect();
        let news = LiveUpdate { event: "turns".to_owned(), about, notice: None };
        serde_json::to_string(&news).unwrap_or_default()
    }
}

fn update_json(recorded: &StoredEvent) -> String {
    let value = serde_json::to_value(recorded).unwrap_or_default();
    let named = ["task", "session", "question", "project", "run", "breakdown", "from"];
    let mut about: Vec<String> =
        named.iter().filter_map(|name| value.get(*name)?.as_str().map(str::to_owned)).collect();
    about.extend(recorded.event.body.task().map(|task| task.to_string()));
    if let Some(question) = value.pointer("/question/id").and_then(|id| id.as_str()) {
        about.push(question.to_owned());
    }
    if let Some(session) = value.pointer("/spec/session_id").and_then(|id| id.as_str()) {
        about.push(session.to_owned());
    }
    about.sort();
    about.dedup();
    let event = value["event"].as_str().unwrap_or_default().to_owned();
    let news = LiveUpdate { event, about, notice: notice(&recorded.event.body) };
    serde_json::to_string(&news).unwrap_or_default()
}

/// Questions, failures and work to accept are worth a notification.
fn notice(body: &EventBody) -> Option<BrowserNotice> {
    match body {
        EventBody::QuestionAsked { question, .. } => Some(BrowserNotice {
            title: "Question",
            text: short(&plain(question.text().as_str()), NOTICE_CHARS_MAX),
            address: format!("/questions/{}", question.id),
        }),
        EventBody::TaskFailed { task, error } => Some(BrowserNotice {
            title: "Task failed",
            text: short(error.as_str(), NOTICE_CHARS_MAX),
            address: format!("/tasks/{task}"),
        }),
        EventBody::TaskProvisional { task, .. } => Some(BrowserNotice {
            title: "Work to accept",
            text: task.to_string(),
            address: format!("/tasks/{task}"),
        }),
        _ => None,
    }
}
