//! `/metrics`: the server's numbers and the work's, in the text format of `OpenMetrics`.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use baton_core::task::state::QueueName;
use baton_engine::latency::{LATENCY_BOUNDS_US, OperationLatency};
use baton_engine::query::QuestionFilter;

use crate::api::views::health::counts;
use crate::http::error::Result;
use crate::observe::health_metrics::{HealthReadings, OperationSeconds};
use crate::observe::metrics::Readings;
use crate::state::App;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(crate) async fn serve(State(app): State<App>) -> Result<impl IntoResponse> {
    app.metrics.work.catch_up(&app.workspace).await?;
    let store = &app.tasks().store;
    let counts = counts(&app.workspace).await?;
    let (depth, now) = (store.queue_depths().await?, store.now().await?);
    // Questions come oldest first.
    let oldest = store.questions(&QuestionFilter::pending(), None, 1).await?.items.pop();
    let oldest_ms = oldest.map_or(0, |question| now.ms().saturating_sub(question.value.asked_at.ms()));
    let depth_of = |queue: QueueName| (queue.as_str(), depth.get(&queue).copied().unwrap_or(0));
    let restarts =
        app.workspace.services.snapshot().into_iter().map(|report| (report.name.as_str(), report.restarts));
    let health = HealthReadings {
        store: store.latency().iter().map(seconds).collect(),
        service_restarts: restarts.collect(),
    };
    let readings = Readings {
        sockets: *app.sockets.borrow(),
        tasks_ready: counts.ready,
        agents_running: counts.running,
        questions_pending: counts.pending_questions,
        question_oldest_seconds: u64::try_from(oldest_ms / 1_000).unwrap_or(0),
        tasks_unaccepted: counts.unaccepted,
        events_last_seq: *app.tasks().changes().borrow(),
        queue_depth: QueueName::ALL.into_iter().map(depth_of).collect(),
        health,
    };
    Ok(([(CONTENT_TYPE, OPEN_METRICS)], app.metrics.text(readings)))
}

fn seconds(latency: &OperationLatency) -> OperationSeconds {
    #[expect(clippy::cast_precision_loss, reason = "the bounds are small numbers")]
    let bounds = LATENCY_BOUNDS_US.iter().map(|us| *us as f64 / 1e6);
    OperationSeconds {
        operation: latency.operation,
        sum: latency.sum.as_secs_f64(),
        buckets: bounds.chain([f64::INFINITY]).zip(latency.buckets).collect(),
    }
}
