//! `/graph`: what waits on what, drawn. Each edge says whether it is met, pending or dead, and why.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use baton_core::graph::{Graph, Verdict};
use baton_core::id::{ProjectId, TaskId};
use baton_core::state::Queue;
use baton_core::task::Task;
use baton_engine::Store;
use baton_engine::query::TaskFilter;
use maud::{Markup, html};

use super::answer::{PageAnswer, PageError};
use super::layers::places;
use super::layout::{Frame, Tab, empty, heading};
use super::visit::Visit;
use super::words::{of_state, of_verdict, short};
use crate::error::ApiError;
use crate::input::Query;
use crate::state::App;

/// Tasks on one drawing. With more nobody sees anything.
const TASKS_MAX: usize = 150;
const PROJECTS_MAX: u32 = 50;
const WIDTH: usize = 208;
const HEIGHT: usize = 52;
const COLUMN: usize = 276;
const ROW: usize = 72;
const MARGIN: usize = 16;

/// The tasks that are drawn, and what ties them.
struct Drawn {
    tasks: Vec<Task>,
    graph: Graph,
    /// From what is waited on to what waits, by number.
    edges: Vec<(usize, usize)>,
    /// What waits on nothing and is waited on by nothing; a drawing of it would say nothing.
    loose: Vec<Task>,
    is_cut: bool,
}

pub async fn show<S: Store>(State(app): State<App<S>>, visit: Visit, mut query: Query) -> PageAnswer {
    let project: Option<String> = query.take("project")?;
    query.done()?;
    let project: Option<ProjectId> =
        project.filter(|text| !text.is_empty()).map(|text| text.parse()).transpose().map_err(
            |error: baton_core::id::BadId| {
                ApiError::invalid(error.to_string(), "choose a project from the list")
            },
        )?;
    let frame = Frame::load(&app, visit).await?;
    let drawn = load(&app, project).await?;
    let critical = drawn.graph.critical_path();
    let body = html! {
        (heading("Graph", &choice(&app, project).await?))
        @if drawn.tasks.is_empty() && drawn.loose.is_empty() {
            (empty("Nothing to draw", "Open tasks and what they wait on are drawn here.", &[("baton task add \"Second\" --depends-on TASK-…", "a task that waits on another")]))
        } @else {
            p.legend {
                span { "✓ met" } span { "○ pending" } span { "✗ dead" } span { "thick border: ready" } span { "blue: the critical path, " (critical.len()) " long" }
            }
            @if !drawn.tasks.is_empty() { (drawing(&drawn, &critical)) }
            @if drawn.is_cut { p.muted { "Only " (TASKS_MAX) " open tasks are drawn; choose a project to see fewer." } }
            (words(&drawn))
            (loose(&drawn))
        }
    };
    Ok(frame.page(Tab::Graph, "Graph", &[], &body))
}

async fn choice<S: Store>(app: &App<S>, chosen: Option<ProjectId>) -> Result<Markup, PageError> {
    let projects = app.desk().store.projects(None, PROJECTS_MAX).await?.items;
    Ok(html! {
        @if !projects.is_empty() {
            form.filters method="get" action="/graph" {
                label.unseen for="graph-project" { "Project" }
                select #graph-project name="project" {
                    option value="" { "All projects" }
                    @for project in &projects { option value=(project.id) selected[chosen == Some(project.id)] { (project.title) } }
                }
                button type="submit" { "Show" }
            }
        }
    })
}

/// Open tasks first; then those they rest on, finished or not.
async fn load<S: Store>(app: &App<S>, project: Option<ProjectId>) -> Result<Drawn, PageError> {
    let (mut tasks, mut is_cut): (BTreeMap<TaskId, Task>, bool) = (BTreeMap::new(), false);
    let open = [
        Queue::Claimed,
        Queue::Escalated,
        Queue::Provisional,
        Queue::Incoming,
        Queue::NeedsContinuation,
        Queue::Breakdown,
        Queue::Failed,
        Queue::Recycled,
    ];
    for queue in open {
        let room = u32::try_from(TASKS_MAX.saturating_sub(tasks.len())).unwrap_or(0);
        if room == 0 {
            is_cut = true;
            break;
        }
        let filter = TaskFilter { queue: Some(queue), project, ..TaskFilter::default() };
        let page = app.desk().store.tasks(&filter, None, room).await?;
        is_cut |= page.next.is_some();
        tasks.extend(page.items.into_iter().map(|stored| (stored.value.id(), stored.value)));
    }
    let mut edges = BTreeSet::new();
    for id in tasks.keys().copied().collect::<Vec<_>>() {
        for edge in app.desk().store.dependencies(id).await? {
            edges.insert((id, edge.on));
            if let Entry::Vacant(place) = tasks.entry(edge.on) {
                place.insert(app.desk().task(edge.on).await?.value);
            }
        }
    }
    let standings: Vec<_> = stand_ins(app, &mut tasks).await?;
    let graph =
        Graph::load(standings, edges.iter().copied()).map_err(baton_engine::error::EngineError::from)?;
    let is_tied = |task: &Task| edges.iter().any(|(one, other)| [*one, *other].contains(&task.id()));
    let (tasks, loose): (Vec<Task>, Vec<Task>) = tasks.into_values().partition(is_tied);
    let number = |id: TaskId| tasks.iter().position(|task| task.id() == id);
    let edges = edges.iter().filter_map(|(task, on)| Some((number(*on)?, number(*task)?))).collect();
    Ok(Drawn { tasks, graph, edges, loose, is_cut })
}

/// How each stands. A recycled task brings those that stand in for it.
async fn stand_ins<S: Store>(
    app: &App<S>,
    tasks: &mut BTreeMap<TaskId, Task>,
) -> Result<Vec<(TaskId, baton_core::graph::Standing)>, PageError> {
    use baton_core::graph::Standing;
    let mut missing: Vec<TaskId> = Vec::new();
    for task in tasks.values() {
        match task.standing() {
            Standing::Recycled { planning } => missing.push(planning),
            Standing::Replaced { by } => missing.extend(by),
            Standing::Open | Standing::Done | Standing::Cancelled | Standing::Failed => {}
        }
    }
    while let Some(id) = missing.pop() {
        if tasks.contains_key(&id) {
            continue;
        }
        let task = app.desk().task(id).await?.value;
        match task.standing() {
            Standing::Recycled { planning } => missing.push(planning),
            Standing::Replaced { by } => missing.extend(by),
            Standing::Open | Standing::Done | Standing::Cancelled | Standing::Failed => {}
        }
        tasks.insert(id, task);
    }
    Ok(tasks.values().map(|task| (task.id(), task.standing())).collect())
}

fn drawing(drawn: &Drawn, critical: &[TaskId]) -> Markup {
    let places = places(drawn.tasks.len(), &drawn.edges);
    let columns = places.iter().map(|(column, _)| column + 1).max().unwrap_or(1);
    let rows = places.iter().map(|(_, row)| row + 1).max().unwrap_or(1);
    let (width, height) = (columns * COLUMN - (COLUMN - WIDTH) + 2 * MARGIN, rows * ROW + 2 * MARGIN);
    let corner = |number: usize| (MARGIN + places[number].0 * COLUMN, MARGIN + places[number].1 * ROW);
    html! {
        div.drawing tabindex="0" role="region" aria-label="Dependencies, drawn; the same in words is below" {
            svg width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
                @for (on, task) in &drawn.edges { (edge(drawn, critical, *on, *task, &corner)) }
                @for (number, task) in drawn.tasks.iter().enumerate() { (node(drawn, critical, task, corner(number))) }
            }
        }
    }
}

fn edge(
    drawn: &Drawn,
    critical: &[TaskId],
    on: usize,
    task: usize,
    corner: &dyn Fn(usize) -> (usize, usize),
) -> Markup {
    let (from, to) = (drawn.tasks[on].id(), drawn.tasks[task].id());
    let verdict = drawn.graph.verdict(from).unwrap_or(Verdict::Met);
    let sign = of_verdict(&verdict);
    let ((x1, y1), (x2, y2)) = (corner(on), corner(task));
    let (x1, y1, y2) = (x1 + WIDTH, y1 + HEIGHT / 2, y2 + HEIGHT / 2);
    let middle = usize::midpoint(x1, x2);
    let is_critical = critical.windows(2).any(|pair| pair == [from, to]);
    html! {
        g class={ "tone-" (sign.tone) } {
            path class={ "edge " (sign.word) @if is_critical { " critical" } } d={ "M" (x1) " " (y1) " C" (middle) " " (y1) " " (middle) " " (y2) " " (x2) " " (y2) } {}
            path.head d={ "M" (x2) " " (y2) " l-8 -4 v8 z" } {}
            text.verdict x=(middle) y=(usize::midpoint(y1, y2) - 4) text-anchor="middle" { (sign.glyph) " " (sign.word) title { (why(&verdict)) } }
        }
    }
}

/// Why an edge is worth what it is.
fn why(verdict: &Verdict) -> String {
    use baton_core::graph::Wait;
    match verdict {
        Verdict::Met => "met: it is done".to_owned(),
        Verdict::Pending { wait: Wait::Completion } => "pending: it is not done yet".to_owned(),
        Verdict::Pending { wait: Wait::Retry } => "pending: it failed and waits for a retry".to_owned(),
        Verdict::Pending { wait: Wait::Breakdown { planning } } => {
            format!("pending: it was recycled and {planning} plans the rest")
        }
        Verdict::Pending { wait: Wait::Replacements { open } } => {
            let names: Vec<String> = open.iter().map(ToString::to_string).collect();
            format!("pending: it was recycled; still open are {}", names.join(", "))
        }
        Verdict::Dead { reason } => format!("dead: {reason}"),
    }
}

fn node(drawn: &Drawn, critical: &[TaskId], task: &Task, (x, y): (usize, usize)) -> Markup {
    const CHARS_MAX: usize = 28;
    let sign = of_state(task.state());
    let is_ready = drawn.graph.is_ready(task.id()) && task.is_claimable();
    html! {
        a href={ "/tasks/" (task.id()) } {
            g class={ "tone-" (sign.tone) @if is_ready { " ready" } @if critical.contains(&task.id()) { " critical" } } {
                title { (task.spec().title) }
                rect.box x=(x) y=(y) width=(WIDTH) height=(HEIGHT) rx="8" {}
                text x=(x + 10) y=(y + 21) { (short(task.spec().title.as_str(), CHARS_MAX)) }
                text.state x=(x + 10) y=(y + 40) { (sign.glyph) " " (sign.word) @if is_ready { " · ready" } }
            }
        }
    }
}

/// The same as a list.
fn words(drawn: &Drawn) -> Markup {
    let title = |number: usize| drawn.tasks[number].spec().title.as_str();
    html! {
        @if !drawn.edges.is_empty() {
            details {
                summary { "In words" }
                ul {
                    @for (on, task) in &drawn.edges {
                        li { (title(*task)) " waits on " (title(*on)) " — " (why(&drawn.graph.verdict(drawn.tasks[*on].id()).unwrap_or(Verdict::Met))) }
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
                        li { (of_state(task.state()).chip()) " " a href={ "/tasks/" (task.id()) } { (task.spec().title) } @if task.is_claimable() { span.muted { " ready" } } }
                    }
                }
            }
        }
    }
}
