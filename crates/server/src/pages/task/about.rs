//! What a task is, beside what became of it: its kind and branch, its recipe, what it waits on, where it comes from.

use baton_core::base::git_name::BranchName;
use baton_core::base::id::TaskId;
use baton_core::recipe::run::{Run, RunOrigin, RunState};
use baton_core::records::event::EventBody;
use baton_core::task::attempt::Evidence;
use baton_core::task::attempt_record::{AttemptClosing, AttemptRecord};
use baton_core::task::state::{ReplacedBy, TaskState};
use baton_engine::StoredEvent;
use baton_engine::reports::view::TaskView;
use maud::{Markup, html};

use super::Seen;
use crate::pages::answer::PageError;
use crate::pages::recipes::ends::end;
use crate::pages::words::{ago, money, of_state};
use crate::state::App;

/// What waits on a task, named on its page.
const DEPENDENTS_MAX: u32 = 50;

/// The last recipe somebody chose for it, and how far that is.
pub async fn run_of(app: &App, events: &[StoredEvent]) -> Result<Option<Run>, PageError> {
    let last = events.iter().rev().find_map(|recorded| match &recorded.event.body {
        EventBody::RunStarted { run, .. } | EventBody::RunBound { run, .. } => Some(*run),
        _ => None,
    });
    let Some(id) = last else { return Ok(None) };
    let run = app.tasks().store.run(id).await?.map(|stored| stored.value);
    Ok(run.filter(|run| run.origin() != RunOrigin::Default))
}

pub fn run_told(run: &Run) -> Markup {
    html! {
        a href={ "/recipes#" (run.recipe()) } { (run.recipe()) } " "
        @match run.state() {
            RunState::Leaving { reason } | RunState::Exited { reason } => (end(reason)),
            RunState::Working | RunState::AtGate { .. } => { "at " strong { (run.step()) } ", step " (run.total_steps()) },
        }
    }
}

pub async fn about(app: &App, seen: &Seen, view: &TaskView, run: Option<&Run>) -> Result<Markup, PageError> {
    let spec = seen.task.spec();
    let mut dependents = Vec::new();
    for edge in app.tasks().store.dependents(spec.id, None, DEPENDENTS_MAX).await? {
        dependents.push(app.tasks().task(edge.task).await?.value);
    }
    let cost: u64 = view.attempts.iter().filter_map(ended).map(|verified| verified.cost_micro_usd).sum();
    let project = match spec.project_id {
        Some(id) => app.tasks().store.project(id).await?.map(|stored| stored.value),
        None => None,
    };
    let mut waits_on = Vec::new();
    for on in &view.depends_on {
        let dead = view.dead_edges.iter().find(|edge| edge.on == *on).map(|edge| edge.reason.as_str());
        waits_on.push((app.tasks().task(*on).await?.value, dead));
    }
    Ok(html! {
        section {
            h2 { "About" }
            dl.facts-list {
                dt { "Type" } dd { (spec.task_type) }
                dt { "Priority" } dd { (spec.priority) }
                dt { "Created" } dd { (ago(spec.created_at, seen.frame.now)) }
                @if let Some(project) = project { dt { "Project" } dd { a href={ "/board?project=" (project.id) } { (project.title) } } }
                @if let Some(run) = run { dt { "Recipe" } dd { (run_told(run)) } } @else if let Some(recipe) = &spec.recipe { dt { "Recipe" } dd { a href={ "/recipes#" (recipe) } { (recipe) } } }
                dt { "Branch" } dd { code { (BranchName::for_task(spec.id)) } }
                dt { "Attempts" } dd { (view.attempts.len()) @if cost > 0 { ", " (money(cost)) " in all" } }
            }
        }
        @if !waits_on.is_empty() {
            section {
                h2 { "Waits on" }
                ul.plain {
                    @for (task, dead) in &waits_on {
                        li {
                            (of_state(task.state()).chip()) " " a href={ "/tasks/" (task.id()) } { (task.spec().title) }
                            @if let Some(reason) = dead { p.tone-failed { "✗ can never be met: " (reason) } }
                        }
                    }
                }
            }
        }
        @if !dependents.is_empty() {
            section {
                h2 { "Waited on by" }
                ul.plain {
                    @for task in &dependents {
                        li { (of_state(task.state()).chip()) " " a href={ "/tasks/" (task.id()) } { (task.spec().title) } }
                    }
                }
            }
        }
        (lineage(seen))
    })
}

fn ended(record: &AttemptRecord) -> Option<&Evidence> {
    match &record.closing {
        Some(AttemptClosing::Ended { end, .. }) => Some(&end.verified),
        _ => None,
    }
}

/// What it stands in for, and what stands in for it.
fn lineage(seen: &Seen) -> Markup {
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
                    @if let Some(id) = came_of { li { @if seen.task.is_breakdown() { "recycled from " } @else { "planned in " } (link(&id)) } }
                    @match replaced_by {
                        Some(ReplacedBy::Planning(id)) => li { "being broken down in " a href={ "/breakdowns/" (id) } { (id) } },
                        Some(ReplacedBy::Tasks(ids)) => { @for id in ids { li { "replaced by " (link(id)) } } },
                        None => {},
                    }
                }
                p { a href={ "/tasks/" (seen.task.id()) "/lineage" } { "The whole lineage" } }
            }
        }
    }
}
