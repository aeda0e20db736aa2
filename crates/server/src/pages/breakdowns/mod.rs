//! `/breakdowns`: plans for tasks that were too large: read, edit, approve, reject.

pub(super) mod editor;

use axum::extract::State;
use baton_core::base::id::TaskId;
use baton_core::base::text::{NonBlank, Role};
use baton_core::people::actor::Actor;
use baton_core::recycle::plan::Plan;
use baton_core::task::state::{ReviewMark, TaskState};
use baton_core::task::{Purpose, Task};
use baton_core::transition::command::Command;
use baton_engine::attempt::breakdown_prompt::preview;
use baton_engine::base::error::{Entity, NotFound};
use baton_engine::query::TaskFilter;
use maud::{Markup, html};

use crate::pages::breakdowns::editor::{PlanRows, render_editor};
use crate::pages::frame::form::PageForm;
use crate::pages::frame::key::PageParam;
use crate::pages::frame::layout::{Frame, empty, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult, redirect};
use crate::pages::widgets::markdown::markdown;
use crate::pages::widgets::words::{ago, pluralize, state_badge};
use crate::state::App;
use crate::state::principal::AuthedApp;

const LISTED_MAX: u32 = 100;

pub(super) async fn list(State(app): State<App>, request: PageRequest) -> PageResult {
    let frame = Frame::load(&app, request).await?;
    let filter = TaskFilter { role: Some(Role::breakdown()), newest_first: true, ..TaskFilter::default() };
    let mut tasks: Vec<Task> = app
        .tasks()
        .store
        .tasks(&filter, None, LISTED_MAX)
        .await?
        .items
        .into_iter()
        .map(|stored| stored.value)
        .collect();
    // Those that wait for a person come first.
    tasks
        .sort_by_key(|task| !matches!(task.state(), TaskState::Provisional(_) | TaskState::Breakdown { .. }));
    let body = html! {
        (heading("Plans", &html! {}))
        @if tasks.is_empty() {
            (empty("No plans", "A task that is too large for one attempt is split. Its plan waits here for approval.", &[("baton recycle TASK", "split a task"), ("baton breakdown list", "the same in a terminal")]))
        }
        div.rows data-filter {
            @for task in &tasks {
                article #{ "b-" (task.id()) } data-row {
                    (state_badge(task.state()).chip()) " "
                    a.title href={ "/breakdowns/" (task.id()) } { (task.spec().title) } " "
                    span.muted { (task.id()) " · " (ago(task.updated_at(), frame.now)) }
                }
            }
        }
    };
    Ok(frame.page(Tab::Breakdowns, "Plans", &[], &body))
}

async fn breakdown(app: &App, id: TaskId) -> Result<Task, PageError> {
    let task = app.tasks().task(id).await?.value;
    if task.is_breakdown() { Ok(task) } else { Err(NotFound::new(Entity::Breakdown, id).into()) }
}

pub(super) async fn show(
    State(app): State<App>,
    PageParam(id): PageParam<TaskId>,
    request: PageRequest,
) -> PageResult {
    let frame = Frame::load(&app, request).await?;
    let task = breakdown(&app, id).await?;
    let plan = app.tasks().store.plan(id).await?.map(|stored| stored.value);
    let body = html! {
        header.heading.task {
            p.crumbs { (state_badge(task.state()).chip()) a.id href={ "/tasks/" (id) } { (id) } (lineage(&task)) }
            h1 { (task.spec().title) }
        }
        (next_step(&task))
        @if let Some(record) = &plan {
            section {
                h2 { "Plan: " (pluralize(record.plan.items().len() as u64, "task")) " " span.muted { "by " (author(&record.submitted_by)) ", " (ago(record.submitted_at, frame.now)) } }
                (read(&record.plan))
            }
            @if is_provisional(&task) { (decide(id, record.plan.items().len())) }
        }
        @if may_edit(&task) { (render_editor(id, &PlanRows::of(plan.as_ref().map(|record| &record.plan)), plan.is_none(), None)) }
        @if is_to_plan(&task) {
            details {
                summary { "Prompt for the planner" }
                div.prose { (markdown(&planner_prompt(&app, &task).await)) }
            }
        }
    };
    Ok(frame.page(Tab::Breakdowns, "Plan", &[id.to_string()], &body))
}

/// An agent's attempt has an id that says nothing to a person.
fn author(actor: &Actor) -> String {
    match actor {
        Actor::Agent { .. } => "an agent".to_owned(),
        Actor::Human { .. } | Actor::Policy { .. } | Actor::Baton => actor.to_string(),
    }
}

fn is_provisional(task: &Task) -> bool {
    matches!(task.state(), TaskState::Provisional(provisional) if provisional.mark == ReviewMark::Plan)
}

fn may_edit(task: &Task) -> bool {
    matches!(task.state(), TaskState::Provisional(_) | TaskState::Breakdown { .. } | TaskState::Failed { .. })
}

fn is_to_plan(task: &Task) -> bool {
    match task.spec().purpose {
        Purpose::Breakdown { by_hand, .. } => !by_hand,
        Purpose::Work | Purpose::Run => false,
    }
}

/// What the planner is told, from the repository as it is now; else the reason why that cannot be said.
async fn planner_prompt(app: &App, task: &Task) -> String {
    match preview(&app.workspace.projects, task).await {
        Ok(prompt) => prompt,
        Err(error) => format!("The repository cannot be read: {error}\n\n{}", task.spec().description),
    }
}

fn lineage(task: &Task) -> Markup {
    html! {
        @if let Some(replaced) = task.replaces() {
            span { "replaces " a href={ "/tasks/" (replaced) } { (replaced) } }
        }
    }
}

/// What the breakdown waits for.
fn next_step(task: &Task) -> Markup {
    let by_hand = matches!(task.spec().purpose, Purpose::Breakdown { by_hand: true, .. });
    html! {
        @if let TaskState::Breakdown { released } = task.state() {
            div.notice {
                @if by_hand { p { "You chose to split it yourself: write the plan below." } }
                @else if *released { p { "Waiting for a free agent to plan it." } }
                @else {
                    p { "Not planned yet. Let an agent plan it, or write the plan below." }
                    form.actions method="post" action={ "/breakdowns/" (task.id()) "/run" } { button.primary type="submit" { "Plan with an agent" } }
                }
            }
        }
    }
}

fn read(plan: &Plan) -> Markup {
    let leaves = plan.leaves();
    html! {
        ol.plan {
            @for (index, item) in plan.items().iter().enumerate() {
                li #{ "item-" (index + 1) } data-row {
                    strong { (item.title) }
                    @if let Some(priority) = item.priority { " " span.muted { (priority) } }
                    @if !item.depends_on.is_empty() { " " span.muted { "after " (editor::numbers(&item.depends_on)) } }
                    @if leaves.contains(&(index + 1)) { " " span.muted { "· tasks that waited for the original wait for this one" } }
                    @if !item.description.is_empty() { div.prose { (markdown(&item.description)) } }
                    (points("Acceptance criteria", &item.acceptance_criteria))
                    (points("Verification", &item.verification))
                }
            }
        }
    }
}

fn points(title: &str, points: &[NonBlank]) -> Markup {
    html! { @if !points.is_empty() { p.muted { (title) } ul.points { @for point in points { li.prose { (markdown(point.as_str())) } } } } }
}

fn decide(id: TaskId, items: usize) -> Markup {
    html! {
        div.actions {
            form method="post" action={ "/breakdowns/" (id) "/approve" } { button.primary type="submit" { "Approve and create " (pluralize(items as u64, "task")) } }
        }
        details {
            summary { "Reject" }
            form method="post" action={ "/breakdowns/" (id) "/reject" } {
                label for="plan-reason" { "What should change? The next planner gets this text." }
                textarea #plan-reason name="reason" rows="3" required data-draft={ "plan-" (id) } {}
                div.actions { button type="submit" { "Reject plan" } }
            }
        }
    }
}

pub(super) async fn run(app: AuthedApp, PageParam(id): PageParam<TaskId>, _: PageForm) -> PageResult {
    breakdown(&app, id).await?;
    app.tasks().apply(id, Command::Release, app.actor()).await?;
    Ok(redirect(&format!("/breakdowns/{id}")))
}

pub(super) async fn approve(app: AuthedApp, PageParam(id): PageParam<TaskId>, _: PageForm) -> PageResult {
    breakdown(&app, id).await?;
    app.tasks().approve(id, app.actor()).await?;
    Ok(redirect("/board"))
}

pub(super) async fn reject(app: AuthedApp, PageParam(id): PageParam<TaskId>, form: PageForm) -> PageResult {
    breakdown(&app, id).await?;
    app.tasks().apply(id, Command::Reject { reason: form.non_blank("reason")? }, app.actor()).await?;
    Ok(redirect(&format!("/breakdowns/{id}")))
}
