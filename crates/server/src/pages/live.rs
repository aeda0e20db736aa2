//! `/live`: what happens, told to an open page. The id of each message is the number of its event, so a browser
//! that comes back goes on where it was.
//!
//! A page needs to know only what an event is about; it asks again for the parts that show it.

use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use baton_core::records::event::EventBody;
use baton_engine::StoredEvent;
use baton_engine::attempt::running::Running;
use futures_util::Stream;
use futures_util::stream::{select, unfold};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::markdown::plain;
use super::words::short;
use crate::error::Answer;
use crate::input::Query;
use crate::sse::{self, last_event_id};
use crate::visitor::Visited;

/// Turns are told no more often than this.
const TURNS_EVERY: Duration = Duration::from_secs(1);
/// As much of a question as a notification shows.
const NOTICE_CHARS_MAX: usize = 140;

/// What every page asks again for; `live.js` knows it.
const SERVICES: &str = "services";

/// One event, as little of it as a page needs.
#[derive(Serialize)]
struct News {
    event: String,
    /// Ids it is about, for pages that show one thing only.
    about: Vec<String>,
    /// What a person who is not looking should be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<Notice>,
}

#[derive(Serialize)]
struct Notice {
    title: &'static str,
    text: String,
    address: String,
}

pub async fn stream(app: Visited, mut query: Query, headers: HeaderMap) -> Answer<Response> {
    let after: Option<u64> = query.take("after")?;
    query.done()?;
    let after = last_event_id(&headers)?.or(after).unwrap_or_default();
    let news = |recorded: &StoredEvent| Event::default().id(recorded.seq.to_string()).data(told(recorded));
    let turns = Turns::of(app.shop.running.clone()).told();
    let beside = select(turns, states(app.shop.services.changes()));
    Ok(sse::stream(&app, after, news, beside).into_response())
}

/// States of background services: every page shows those that fail.
fn states(changes: watch::Receiver<u64>) -> impl Stream<Item = Event> {
    unfold(changes, |mut changes| async move {
        changes.changed().await.ok()?;
        let news = News { event: SERVICES.to_owned(), about: Vec::new(), notice: None };
        Some((Event::default().data(serde_json::to_string(&news).unwrap_or_default()), changes))
    })
}

/// Turns that agents take, gathered: a page that shows them need not be told of each.
struct Turns {
    running: Running,
    taken: watch::Receiver<u64>,
    not_before: Instant,
}

impl Turns {
    fn of(running: Running) -> Self {
        let taken = running.turns();
        Self { running, taken, not_before: Instant::now() }
    }

    /// They are no events of the history, so they have no number.
    fn told(self) -> impl Stream<Item = Event> {
        unfold(self, |mut turns| async move {
            let news = turns.taken().await;
            Some((Event::default().data(news), turns))
        })
    }

    async fn taken(&mut self) -> String {
        sleep_until(self.not_before).await;
        if self.taken.changed().await.is_err() {
            // Nobody is left who could take one.
            std::future::pending::<()>().await;
        }
        self.not_before = Instant::now() + TURNS_EVERY;
        let about = self.running.all_at_work().iter().map(|at| at.task.to_string()).collect();
        let news = News { event: "turns".to_owned(), about, notice: None };
        serde_json::to_string(&news).unwrap_or_default()
    }
}

fn told(recorded: &StoredEvent) -> String {
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
    let news = News { event, about, notice: notice(&recorded.event.body) };
    serde_json::to_string(&news).unwrap_or_default()
}

/// What is worth a notification: a question, and work that waits for a person or failed.
fn notice(body: &EventBody) -> Option<Notice> {
    match body {
        EventBody::QuestionAsked { question, .. } => Some(Notice {
            title: "Baton asks",
            text: short(&plain(question.text().as_str()), NOTICE_CHARS_MAX),
            address: format!("/questions/{}", question.id),
        }),
        EventBody::TaskFailed { task, error } => Some(Notice {
            title: "A task failed",
            text: short(error.as_str(), NOTICE_CHARS_MAX),
            address: format!("/tasks/{task}"),
        }),
        EventBody::TaskProvisional { task, .. } => Some(Notice {
            title: "Work to accept",
            text: task.to_string(),
            address: format!("/tasks/{task}"),
        }),
        // Whoever wants to know the rest looks at the page.
        _ => None,
    }
}
