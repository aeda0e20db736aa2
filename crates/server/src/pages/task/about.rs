//! The sidebar of a task: type, branch, recipe, dependencies, origin.

use baton_core::base::git_name::BranchName;
use baton_core::base::id::TaskId;
use baton_core::recipe::LOOP_RECIPE;
use baton_core::recipe::run::{Run, RunOrigin, RunState};
use baton_core::records::event::EventBody;
use baton_core::task::Task;
use baton_core::task::attempt::Evidence;
use baton_core::task::attempt_record::{AttemptClosing, AttemptRecord};
use baton_core::task::environment::AttemptEnvironment;
use baton_core::task::state::{ReplacedBy, TaskState};
use baton_engine::StoredEvent;
use baton_engine::reports::view::TaskView;
use maud::{Markup, html};

use crate::pages::frame::response::PageError;
use crate::pages::recipes::exits::render_end;
use crate::pages::task::TaskPage;
use crate::pages::tasks_by_id::load_tasks;
use crate::pages::widgets::words::{ago, money, state_badge};
use crate::state::App;

/// Dependents listed on a task's page.
const DEPENDENTS_MAX: u32 = 50;

/// The run of the last recipe a person chose for the task.
pub(crate) async fn find_run(app: &App, events: &[StoredEvent]) -> Result<Option<Run>, PageError> {
    let last = events.iter().rev().find_map(|recorded| match &recorded.event.body {
        EventBody::RunStarted { run, .. } | EventBody::RunBound { run, .. } => Some(*run),
        _ => None,
    });
    let Some(id) = last else { return Ok(None) };
    let run = app.tasks().store.run(id).await?.map(|stored| stored.value);
    Ok(run.filter(|run| run.origin() != RunOrigin::Default))
}

/// Where a run is, or how it ended; `is_waiting` if its task waits for a person.
pub(crate) fn describe_run(run: &Run, is_waiting: bool) -> Markup {
    html! {
        a href={ "/recipes#" (run.recipe()) } { (run.recipe()) } " "
        @match run.state() {
            RunState::Leaving { reason } | RunState::Exited { reason } => {
                (render_end(reason, is_waiting))
                @if let Some(error) = run.error() { " " span.muted { (error) } }
                @if let Some(words) = run.memory().handover().and_then(|last| last.words.as_ref()) {
                    blockquote { (words) }
                }
            },
            RunState::Working | RunState::AtGate { .. } => { "at " strong { (run.step()) } (position(run)) },
        }
    }
}

/// The step's number in the whole run, and the iteration of a loop.
pub(crate) fn position(run: &Run) -> Markup {
    let goes_round = run.iteration() > 1 || run.recipe().as_str() == LOOP_RECIPE;
    html! { ", step " (run.step_count()) @if goes_round { ", iteration " (run.iteration()) } }
}

pub(crate) async fn render_about(
    app: &App,
    seen: &TaskPage,
    view: &TaskView,
    run: Option<&Run>,
) -> Result<Markup, PageError> {
    let spec = seen.task.spec();
    let edges = app.tasks().store.dependents(spec.id, None, DEPENDENTS_MAX).await?;
    let ids = edges.iter().map(|edge| edge.task).chain(view.depends_on.iter().copied());
    let tasks = load_tasks(app, ids).await?;
    let dependents: Vec<&Task> = edges.iter().filter_map(|edge| tasks.get(&edge.task)).collect();
    let cost: u64 =
        view.attempts.iter().filter_map(evidence_of).map(|verified| verified.cost_micro_usd).sum();
    let project = match spec.project_id {
        Some(id) => app.tasks().store.project(id).await?.map(|stored| stored.value),
        None => None,
    };
    let dead =
        |on: &TaskId| view.dead_edges.iter().find(|edge| edge.on == *on).map(|edge| edge.reason.as_str());
    let waits_on: Vec<(&Task, Option<&str>)> =
        view.depends_on.iter().filter_map(|on| Some((tasks.get(on)?, dead(on)))).collect();
    Ok(html! {
        section {
            h2 { "About" }
            dl.facts-list {
                dt { "Type" } dd { (spec.task_type) }
                dt { "Priority" } dd { (spec.priority) }
                dt { "Created" } dd { (ago(spec.created_at, seen.frame.now)) }
                @if let Some(project) = project { dt { "Project" } dd { a href={ "/board?project=" (project.id) } { (project.title) } } }
                @if let Some(run) = run { dt { "Recipe" } dd { (describe_run(run, seen.task.pending_question().is_some())) } } @else if let Some(recipe) = &spec.recipe { dt { "Recipe" } dd { a href={ "/recipes#" (recipe) } { (recipe) } } }
                dt { "Branch" } dd { code { (BranchName::for_task(spec.id)) } }
                @if seen.task.state().live_attempt().is_some() { dt { "Take over" } dd { code { "baton take " (spec.id) } } }
                dt { "Attempts" } dd { (view.attempts.len()) @if cost > 0 { ", " (money(cost)) " in total" } }
            }
        }
        @if !waits_on.is_empty() {
            section {
                h2 { "Depends on" }
                ul.plain {
                    @for (task, dead) in &waits_on {
                        li {
                            (state_badge(task.state()).chip()) " " a href={ "/tasks/" (task.id()) } { (task.spec().title) }
                            @if let Some(reason) = dead { p.tone-failed { "✗ cannot be met: " (reason) } }
                        }
                    }
                }
            }
        }
        @if !dependents.is_empty() {
            section {
                h2 { "Dependents" }
                ul.plain {
                    @for task in &dependents {
                        li { (state_badge(task.state()).chip()) " " a href={ "/tasks/" (task.id()) } { (task.spec().title) } }
                    }
                }
            }
        }
        (lineage(seen))
    })
}

/// What attempts work with beside the code.
pub(super) fn render_environment(environment: &AttemptEnvironment) -> Markup {
    html! {
        section {
            h2 { "Environment" }
            dl.facts-list {
                @if let Some(reason) = &environment.paused { dt { "Paused" } dd { (reason) } }
                @for service in &environment.services {
                    dt { "Service " (service.name) }
                    dd {
                        @if let Some(reason) = &service.ended { span.tone-failed { "✗ ended" } " " (reason) }
                        @else if service.is_running { span.tone-working { "▶ running" } @if let Some(url) = &service.url { " " a href=(url) rel="noreferrer" { (url) } } }
                        @else { span.muted { "ended with its attempt" } }
                    }
                }
                @for (name, value) in &environment.values { dt { code { (name) } } dd { code { (value) } } }
                @for folder in &environment.reused {
                    dt { code { (folder.path) } }
                    dd { "by " (folder.way.as_str()) span.muted { ", " (folder.files) " files, " (folder.bytes / 1_000_000) " MB, " (folder.duration_ms) " ms" } }
                }
            }
        }
    }
}

fn evidence_of(record: &AttemptRecord) -> Option<&Evidence> {
    match &record.closing {
        Some(AttemptClosing::Ended { end, .. }) => Some(&end.verified),
        _ => None,
    }
}

/// What it replaces, and what replaces it.
fn lineage(seen: &TaskPage) -> Markup {
    let came_of = seen.task.derived_from();
    let link = |id: &TaskId| html! { a href={ "/tasks/" (id) } { (id) } };
    let replaced_by = match seen.task.state() {
        TaskState::Recycled { replaced_by } => Some(replaced_by),
        _ => None,
    };
    html! {
        @if came_of.is_some() || replaced_by.is_some() {
            section {
                h2 { "Lineage" }
                ul.plain {
                    @if let Some(id) = came_of { li { @if seen.task.is_breakdown() { "split from " } @else { "planned in " } (link(&id)) } }
                    @match replaced_by {
                        Some(ReplacedBy::Planning(id)) => li { "being planned in " a href={ "/breakdowns/" (id) } { (id) } },
                        Some(ReplacedBy::Tasks(ids)) => { @for id in ids { li { "replaced by " (link(id)) } } },
                        None => {},
                    }
                }
                p { a href={ "/tasks/" (seen.task.id()) "/details#lineage" } { "The whole lineage" } }
            }
        }
    }
}
