//! `/metrics`: the server's numbers and the work's, in the text format of `OpenMetrics`.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use baton_core::state::Queue;
use baton_engine::query::QuestionFilter;

use crate::error::Answer;
use crate::metrics::Readings;
use crate::snapshot_metrics::Snapshot;
use crate::state::App;
use crate::views::health::counts;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub async fn serve(State(app): State<App>) -> Answer<impl IntoResponse> {
    app.metrics.work.catch_up(&app.shop).await?;
    let store = &app.shop.desk.store;
    let counts = counts(&app.shop).await?;
    let (depth, now) = (store.queue_counts().await?, store.now().await?);
    // Questions come oldest first.
    let oldest = store.questions(&QuestionFilter::pending(), None, 1).await?.items.pop();
    let oldest_ms = oldest.map_or(0, |question| now.ms().saturating_sub(question.value.asked_at.ms()));
    let open = Queue::ALL.into_iter().filter(|queue| *queue != Queue::Done);
    let readings = Readings {
        sockets: *app.sockets.borrow(),
        tasks_ready: counts.ready,
        agents_running: counts.running,
        questions_pending: counts.pending_questions,
        question_oldest_seconds: u64::try_from(oldest_ms / 1_000).unwrap_or(0),
        tasks_unaccepted: counts.unaccepted,
        events_last_seq: *app.desk().changes().borrow(),
        queue_depth: open.map(|queue| (queue.as_str(), depth.get(&queue).copied().unwrap_or(0))).collect(),
        // Filled from `Store::latency()` and the supervisor's snapshot of services once those exist.
        snapshot: Snapshot::default(),
    };
    Ok(([(CONTENT_TYPE, OPEN_METRICS)], app.metrics.text(readings)))
}
