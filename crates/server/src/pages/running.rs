//! `/running`: a tile for each agent at work: what it does now, how far it is, and a way to stop it.

use axum::extract::State;
use baton_core::base::time::Timestamp;
use baton_core::task::Task;
use baton_core::task::attempt::Attempt;
use baton_core::task::state::{QueueName, TaskStatus};
use baton_engine::query::TaskFilter;
use maud::{Markup, html};

use crate::pages::frame::layout::{Frame, empty, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult};
use crate::pages::task::log::last_lines;
use crate::pages::widgets::row::QuickDecision;
use crate::pages::widgets::words::{age, pluralize};
use crate::state::App;

/// Tiles shown; more agents run on no machine.
const TILES_MAX: u32 = 60;
/// Lines of the log on a tile.
const LINES: usize = 6;

pub(super) async fn show(State(app): State<App>, request: PageRequest) -> PageResult {
    let frame = Frame::load(&app, request).await?;
    let filter = TaskFilter {
        queue: Some(QueueName::Claimed),
        status: Some(TaskStatus::Running),
        ..TaskFilter::default()
    };
    let page = app.tasks().store.tasks(&filter, None, TILES_MAX).await?;
    let mut tiles = Vec::new();
    for stored in &page.items {
        if let Some(attempt) = stored.value.state().live_attempt() {
            tiles.push(tile(&app, &stored.value, attempt, frame.now).await?);
        }
    }
    let settings = &app.workspace.settings;
    let body = html! {
        (heading("Running", &html! { span.muted { (pluralize(tiles.len() as u64, "agent")) " at work, " (settings.max_agents) " at most on this machine" } }))
        @if tiles.is_empty() {
            (empty("No agent is at work", "Each agent has a tile here while it works.", &[("baton task ready", "what could start")]))
        }
        div.tiles data-filter { @for tile in &tiles { (tile) } }
        @if page.next.is_some() { p { a href="/board#working" { "Show all on the board" } } }
    };
    Ok(frame.page(Tab::Running, "Running", &[], &body))
}

async fn tile(app: &App, task: &Task, attempt: &Attempt, now: Timestamp) -> Result<Markup, PageError> {
    let id = task.id();
    let lines = last_lines(&app.workspace, attempt.id, LINES).await?;
    let at_work = app.workspace.running.at_work(attempt.id);
    let stop = QuickDecision {
        verb: "stop",
        word: "Stop",
        said: "Stopped",
        key: None,
        is_primary: false,
        next: "/running",
    };
    Ok(html! {
        article.tile.tone-working #{ "tile-" (id) } data-row data-task=(id) data-turns tabindex="-1" aria-labelledby={ "tile-" (id) "-title" } {
            header {
                a.title #{ "tile-" (id) "-title" } href={ "/tasks/" (id) } dir="auto" { (task.spec().title) }
                (stop.form(id))
            }
            p.facts {
                span { (attempt.agent) }
                span title="At work for" { (age(attempt.started_at, now)) }
                @if let Some(at) = at_work { span.turns { (at.turns) "/" (at.turns_max) " turns" } }
                @if task.ledger().started > 1 { span { "attempt " (task.ledger().started) } }
            }
            pre.last tabindex="0" role="region" aria-label="Last lines of its log" { @if lines.is_empty() { "No output yet." } @else { (lines.join("\n")) } }
        }
    })
}
