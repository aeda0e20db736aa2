//! `/metrics`: the server's numbers and the queue's, for Prometheus.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use crate::api::views::health::counts;
use crate::http::error::Result;
use crate::observe::metrics::Sample;
use crate::state::App;

pub(crate) async fn serve(State(app): State<App>) -> Result<impl IntoResponse> {
    let counts = counts(&app.shop).await?;
    let sample = |name, help, value| Sample { name, help, value };
    let samples = [
        sample("baton_sockets", "Open WebSockets", *app.sockets.borrow()),
        sample("baton_tasks_ready", "Tasks that could be started now", counts.ready),
        sample("baton_agents_running", "Agents at work here", counts.running),
        sample("baton_questions_pending", "Questions without an answer, up to 500", counts.pending_questions),
        sample("baton_tasks_unaccepted", "Finished work nobody has accepted, up to 500", counts.unaccepted),
        sample("baton_events_last_seq", "Number of the last event", *app.tasks().changes().borrow()),
    ];
    let text = app.metrics.text(&samples);
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text))
}
