//! `/tasks/{id}/details`: the evidence, the times, the origin and the settings of a task.

use axum::extract::State;
use baton_core::base::id::TaskId;
use baton_engine::landing::standing::WorkStanding;
use baton_engine::landing::task_landing::TaskLandingView;
use baton_engine::reports::lineage::Lineage;
use baton_engine::reports::view::{TaskView, task_view};
use maud::{Markup, html};

use crate::pages::frame::key::PageParam;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::PageResult;
use crate::pages::task::about::render_environment;
use crate::pages::task::walk::walk;
use crate::pages::task::{TaskPage, TaskTab, evidence, history, lineage, machine, timeline};
use crate::state::App;

pub(crate) async fn show(
    State(app): State<App>,
    PageParam(id): PageParam<TaskId>,
    request: PageRequest,
) -> PageResult {
    let seen = TaskPage::load(&app, id, request).await?;
    let view = task_view(&app.workspace.scheduling(), id).await?;
    let landing = TaskLandingView::load(&app.workspace.landing, &app.workspace.projects, &seen.task).await?;
    let standing = WorkStanding::load(&app.workspace.projects, &seen.task).await?;
    let family = Lineage::load(app.tasks(), id).await?;
    let related: Vec<String> = family.kin.iter().map(|kin| kin.task.id().to_string()).collect();
    let events = history(&app, id).await?;
    let spans = walk(&seen.task, &events);
    let now = seen.frame.now;
    let body = html! {
        div.columns {
            div {
                (evidence::render(&view.attempts, now))
                (timeline::render(&spans, &view.attempts, &events, now))
                (lineage::render(&family, id))
            }
            aside aria-label="Settings of this task" {
                (settings(&seen, &view))
                @if let Some(landing) = &landing {
                    section #landing { h2 { "Landing" } p { (landing.message) } p { a href="/landing" { "All landings" } } }
                }
                @if let Some(standing) = &standing { (render_standing(standing)) }
                @if let Some(environment) = &view.environment { (render_environment(environment)) }
                section {
                    h2 { "States" }
                    details { summary { "Diagram" } (machine::render(&spans, now)) }
                }
            }
        }
    };
    Ok(seen.page(TaskTab::Details, &related, &body))
}

/// Nothing while the branch is where the work began and nothing keeps a policy from it.
fn render_standing(standing: &WorkStanding) -> Markup {
    html! {
        @if let Some(moved) = standing.moved() { section #moved { h2 { "Branch" } p { (moved) } } }
        @if let Some(text) = standing.on_withdrawn() { section #withdrawn { h2 { "Withdrawn commits" } p { (text) } } }
        @if let Some(reason) = &standing.waits_because { section #waits { h2 { "Waits for you" } p { (reason) } } }
    }
}

/// What was chosen for the task; the rest is as in the project's settings.
fn settings(seen: &TaskPage, view: &TaskView) -> Markup {
    let spec = seen.task.spec();
    html! {
        section #settings {
            h2 { "Settings" }
            dl.facts-list {
                dt { "Type" } dd { (spec.task_type) }
                dt { "Priority" } dd { (spec.priority) }
                dt { "Role" } dd { (spec.role) }
                dt { "Agent" } dd { @if let Some(agent) = &spec.agent { (agent) @if spec.no_fallback { ", no fallback" } } @else { span.muted { "as its role says" } } }
                @if let Some(model) = &spec.model { dt { "Model" } dd { (model) } }
                @if let Some(recipe) = &spec.recipe { dt { "Recipe" } dd { a href={ "/recipes#" (recipe) } { (recipe) } } }
                @if let Some(policy) = spec.accept_when { dt { "Accepted by" } dd { (policy) } }
                @if !spec.needs.is_empty() { dt { "Needs" } dd { @for label in &spec.needs { code { (label) } " " } } }
                @if let Some(at) = spec.start_at { dt { "Not before" } dd { time datetime=(at) { (at) } } }
                @for command in &spec.verify { dt { "Verified by" } dd { code { (command) } } }
                @if let Some(attempt) = &view.summary.added_by { dt { "Added by" } dd { "an agent (" (attempt) ")" } }
                @if let Some(person) = &view.asked_by { dt { "Requested by" } dd { (person) } }
                dt { "Session" } dd { a href={ "/chat/" (spec.session_id) } { (spec.session_id) } }
            }
        }
    }
}
