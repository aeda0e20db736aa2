//! `/graph`: the dependency graph. Each edge shows whether it is met, pending or dead, and why.

mod load;
mod picture;

use axum::extract::State;
use baton_core::base::id::ProjectId;
use baton_core::graph::DependencyStatus;
use baton_core::task::Task;
use maud::{Markup, html};

use crate::http::input::Query;
use crate::pages::frame::layout::{Frame, empty, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult};
use crate::pages::projects;
use crate::pages::widgets::words::state_badge;
use crate::state::App;
use load::{GraphModel, TASKS_MAX, load};
use picture::{render, why};

pub(super) async fn show(State(app): State<App>, request: PageRequest, mut query: Query) -> PageResult {
    let project = projects::from_query(&mut query)?;
    query.done()?;
    let frame = Frame::load(&app, request).await?;
    let model = load(&app, project).await?;
    let critical = model.graph.critical_path();
    let body = html! {
        (heading("Graph", &picker(&app, project).await?))
        @if model.tasks.is_empty() && model.unconnected.is_empty() {
            (empty("No open tasks", "Open tasks and their dependencies appear here.", &[("baton task add \"Second\" --after TASK-…", "add a task that depends on another")]))
        } @else {
            (legend(&model, critical.len()))
            @if !model.tasks.is_empty() { (render(&model, &critical)) }
            @if model.is_cut { p.muted { "There are more open tasks than fit: at most " (TASKS_MAX) " that depend on each other are drawn. Choose a project to see fewer." } }
            (describe(&model))
            (render_unconnected(&model))
        }
    };
    Ok(frame.page(Tab::Graph, "Graph", &[], &body))
}

async fn picker(app: &App, chosen: Option<ProjectId>) -> Result<Markup, PageError> {
    let projects = projects::list_projects(app).await?;
    Ok(html! {
        @if !projects.is_empty() {
            form.filters method="get" action="/graph" {
                label.unseen for="graph-project" { "Project" }
                (projects::picker("graph-project", &projects, chosen, "All projects"))
                button type="submit" { "Show" }
            }
        }
    })
}

/// The legend and the counts.
fn legend(model: &GraphModel, critical: usize) -> Markup {
    let ready = model.tasks.iter().chain(&model.unconnected).filter(|task| is_ready(model, task)).count();
    html! {
        p.legend {
            span { "✓ done" } span { "○ waiting" } span { "✗ cannot be met" }
            @if model.ties.iter().any(|tie| tie.is_replacement) { span { "♺ replaces a split task" } }
            span { strong { (ready) " ready" } @if ready > 0 { " to start" } }
            @if critical > 1 { span { span.thick aria-hidden="true" { "━" } " critical path: " (critical) " tasks" } }
        }
    }
}

fn is_ready(model: &GraphModel, task: &Task) -> bool {
    model.graph.is_ready(task.id()) && task.is_claimable()
}

/// The graph as a list.
fn describe(model: &GraphModel) -> Markup {
    let title = |number: usize| model.tasks[number].spec().title.as_str();
    html! {
        @if !model.ties.is_empty() {
            details {
                summary { "As text" }
                ul {
                    @for tie in &model.ties {
                        @if tie.is_replacement {
                            li { (title(tie.from)) " replaces " (title(tie.to)) ", which was split" }
                        } @else {
                            li { (title(tie.to)) " waits on " (title(tie.from)) " — " (why(&model.graph.verdict(model.tasks[tie.from].id()).unwrap_or(DependencyStatus::Met))) }
                        }
                    }
                }
            }
        }
    }
}

fn render_unconnected(model: &GraphModel) -> Markup {
    html! {
        @if !model.unconnected.is_empty() {
            section {
                h2 { "Without dependencies" }
                ul.plain {
                    @for task in &model.unconnected {
                        li { (state_badge(task.state()).chip()) " " a href={ "/tasks/" (task.id()) } { (task.spec().title) } @if is_ready(model, task) { span.muted { " · ready" } } }
                    }
                }
            }
        }
    }
}
