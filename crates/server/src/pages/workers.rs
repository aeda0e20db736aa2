//! `/workers`: the machines that run agents on this store.

use axum::extract::State;
use baton_core::schedule::worker::{WorkerDuty, WorkerHealth};
use maud::{Markup, html};

use crate::http::error::ApiError;
use crate::pages::frame::layout::{Frame, empty, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::PageResult;
use crate::pages::widgets::words::{age, ago};
use crate::state::App;
use baton_engine::reports::workers::{WorkerView, workers};

pub(super) async fn show(State(app): State<App>, request: PageRequest) -> PageResult {
    let frame = Frame::load(&app, request).await?;
    let workers = workers(&app.workspace).await.map_err(ApiError::from)?;
    let body = html! {
        (heading("Workers", &html! { span.muted { "as of page load" } }))
        @if workers.is_empty() {
            (empty("No workers", "No process runs agents on this store.", &[
                ("baton up", "run agents and this page here"),
                ("baton worker --store postgres://…", "run agents on another machine"),
            ]))
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Workers" {
                table {
                    thead { tr { th { "Worker" } th { "State" } th { "Running" } th { "Agents" } th { "Last heartbeat" } th { "Since" } } }
                    tbody { @for worker in &workers { (row(worker, &frame)) } }
                }
            }
        }
        p.muted { "API: " a href="/api/workers" { "/api/workers" } }
    };
    Ok(frame.page(Tab::Health, "Workers", &["none".to_owned()], &body))
}

fn row(worker: &WorkerView, frame: &Frame) -> Markup {
    let join = |words: Vec<String>| words.join(", ");
    html! {
        tr {
            td {
                strong { (worker.name) }
                br;
                span.muted { @match worker.duty { WorkerDuty::Server => "server", WorkerDuty::Worker => "worker" } " " (worker.version) }
            }
            td {
                @match worker.state {
                    WorkerHealth::Live => span.tone-done { "✓ live" },
                    WorkerHealth::Draining => span.tone-asking { "▲ draining" },
                    WorkerHealth::Lost => span.tone-failed { "✗ lost" },
                }
            }
            td {
                (worker.running.len()) " of " (worker.capacity)
                @for running in &worker.running {
                    br;
                    a href={ "/tasks/" (running.task_id) } { (running.title) }
                    span.muted { " " (running.agent) ", " (age(running.since, frame.now)) }
                }
            }
            td {
                (join(worker.agents.iter().map(ToString::to_string).collect()))
                @if !worker.labels.is_empty() { br; span.muted { (join(worker.labels.iter().map(ToString::to_string).collect())) } }
            }
            td { (ago(worker.last_heartbeat, frame.now)) }
            td { (age(worker.started_at, frame.now)) }
        }
    }
}
