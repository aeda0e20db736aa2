//! `/graph`: what waits on what, drawn. Each edge says whether it is met, pending or dead, and why.

mod load;
mod picture;

use axum::extract::State;
use baton_core::base::id::ProjectId;
use baton_core::graph::DependencyStatus;
use baton_core::task::Task;
use maud::{Markup, html};

use super::answer::{PageAnswer, PageError};
use super::layout::{Frame, Tab, empty, heading};
use super::projects;
use super::visit::Visit;
use super::words::of_state;
use crate::input::Query;
use crate::state::App;
use load::{Drawn, TASKS_MAX, load};
use picture::{drawing, why};

pub async fn show(State(app): State<App>, visit: Visit, mut query: Query) -> PageAnswer {
    let project = projects::wanted(&mut query)?;
    query.done()?;
    let frame = Frame::load(&app, visit).await?;
    let drawn = load(&app, project).await?;
    let critical = drawn.graph.critical_path();
    let body = html! {
        (heading("Graph", &choice(&app, project).await?))
        @if drawn.tasks.is_empty() && drawn.loose.is_empty() {
            (empty("Nothing to draw", "Open tasks and what they wait on are drawn here.", &[("baton task add \"Second\" --depends-on TASK-…", "a task that waits on another")]))
        } @else {
            (legend(&drawn, critical.len()))
            @if !drawn.tasks.is_empty() { (drawing(&drawn, &critical)) }
            @if drawn.is_cut { p.muted { "Only " (TASKS_MAX) " open tasks are drawn; choose a project to see fewer." } }
            (words(&drawn))
            (loose(&drawn))
        }
    };
    Ok(frame.page(Tab::Graph, "Graph", &[], &body))
}

async fn choice(app: &App, chosen: Option<ProjectId>) -> Result<Markup, PageError> {
    let projects = projects::offered(app).await?;
    Ok(html! {
        @if !projects.is_empty() {
            form.filters method="get" action="/graph" {
                label.unseen for="graph-project" { "Project" }
                (projects::choice("graph-project", &projects, chosen, "All projects"))
                button type="submit" { "Show" }
            }
        }
    })
}

/// What the signs mean, and what there is to see.
fn legend(drawn: &Drawn, critical: usize) -> Markup {
    let ready = drawn.tasks.iter().chain(&drawn.loose).filter(|task| is_ready(drawn, task)).count();
    html! {
        p.legend {
            span { "✓ met" } span { "○ pending" } span { "✗ dead" }
            @if drawn.ties.iter().any(|tie| tie.is_stand_in) { span { "♺ stands in for what was recycled" } }
            span { strong { (ready) " ready" } @if ready > 0 { ": an agent may take " @if ready == 1 { "it" } @else { "them" } " now" } }
            @if critical > 1 { span { span.thick aria-hidden="true" { "━" } " critical path: " (critical) " tasks, one after the other" } }
        }
    }
}

fn is_ready(drawn: &Drawn, task: &Task) -> bool {
    drawn.graph.is_ready(task.id()) && task.is_claimable()
}

/// The same as a list.
fn words(drawn: &Drawn) -> Markup {
    let title = |number: usize| drawn.tasks[number].spec().title.as_str();
    html! {
        @if !drawn.ties.is_empty() {
            details {
                summary { "In words" }
                ul {
                    @for tie in &drawn.ties {
                        @if tie.is_stand_in {
                            li { (title(tie.from)) " stands in for " (title(tie.to)) ", which was recycled" }
                        } @else {
                            li { (title(tie.to)) " waits on " (title(tie.from)) " — " (why(&drawn.graph.verdict(drawn.tasks[tie.from].id()).unwrap_or(DependencyStatus::Met))) }
                        }
                    }
                }
            }
        }
    }
}

fn loose(drawn: &Drawn) -> Markup {
    html! {
        @if !drawn.loose.is_empty() {
            section {
                h2 { "Tied to nothing" }
                ul.plain {
                    @for task in &drawn.loose {
                        li { (of_state(task.state()).chip()) " " a href={ "/tasks/" (task.id()) } { (task.spec().title) } @if is_ready(drawn, task) { span.muted { " · ready" } } }
                    }
                }
            }
        }
    }
}
