//! `/board`: tasks in columns by state.

use axum::extract::State;
use baton_core::change::Stored;
use baton_core::id::ProjectId;
use baton_core::state::{Queue, Status};
use baton_core::task::Task;
use baton_engine::Store;
use baton_engine::query::TaskFilter;
use maud::{Markup, html};

use super::answer::{PageAnswer, PageError};
use super::card::{Waits, card};
use super::layout::{Frame, Tab, empty, heading};
use super::visit::Visit;
use crate::error::Answer;
use crate::input::Query;
use crate::limits::PAGE_MAX;
use crate::state::App;

/// Cards of a column where nobody asked for more.
const CARDS_DEFAULT: u32 = 30;
/// Projects offered as a filter.
const PROJECTS_MAX: u32 = 50;

/// A column: its name in the address, its heading, and the queues it gathers.
struct Column {
    name: &'static str,
    title: &'static str,
    tone: &'static str,
    gathers: &'static [(Option<Queue>, Option<Status>)],
    /// Of what is finished, the newest is what people look for.
    newest_first: bool,
    /// Whether its cards say how many dependencies are met.
    waits: bool,
}

const COLUMNS: [Column; 9] = [
    column(
        "asking",
        "? Needs you",
        "asking",
        &[(None, Some(Status::AwaitingResponse)), (None, Some(Status::Blocked))],
    ),
    column("review", "◆ To accept", "review", &[(Some(Queue::Provisional), None)]),
    column("working", "▶ Working", "working", &[(Some(Queue::Claimed), Some(Status::Running))]),
    Column {
        waits: true,
        ..column(
            "queued",
            "○ Queued",
            "queued",
            &[(Some(Queue::NeedsContinuation), None), (Some(Queue::Incoming), None)],
        )
    },
    Column {
        waits: true,
        ..column("planning", "⋔ To break down", "planning", &[(Some(Queue::Breakdown), None)])
    },
    column("failed", "✗ Failed", "failed", &[(Some(Queue::Failed), None)]),
    Column {
        newest_first: true,
        ..column("recycled", "♺ Recycled", "recycled", &[(Some(Queue::Recycled), None)])
    },
    Column { newest_first: true, ..column("done", "✓ Done", "done", &[(Some(Queue::Done), None)]) },
    Column {
        newest_first: true,
        ..column("cancelled", "⊘ Cancelled", "cancelled", &[(Some(Queue::Rejected), None)])
    },
];

const fn column(
    name: &'static str,
    title: &'static str,
    tone: &'static str,
    gathers: &'static [(Option<Queue>, Option<Status>)],
) -> Column {
    Column { name, title, tone, gathers, newest_first: false, waits: false }
}

/// What the address asks for.
struct Wanted {
    project: Option<ProjectId>,
    title: Option<String>,
    /// The columns that are shown in full.
    more: Vec<String>,
}

impl Wanted {
    fn read(mut query: Query) -> Answer<Self> {
        let title: Option<String> = query.take("q")?;
        let wanted = Self {
            project: query
                .take::<String>("project")?
                .filter(|text| !text.is_empty())
                .map(|text| parsed(&text))
                .transpose()?,
            title: title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty()),
            more: query.take::<String>("more")?.unwrap_or_default().split(',').map(str::to_owned).collect(),
        };
        query.done()?;
        Ok(wanted)
    }

    /// The same board with one column more in full. Only names of columns get into an address.
    fn address(&self, more: &'static str) -> String {
        let project = self.project.map(|project| format!("&project={project}")).unwrap_or_default();
        let known = COLUMNS.iter().map(|column| column.name);
        let names: Vec<&str> = known.filter(|name| *name == more || self.is_whole(name)).collect();
        format!("/board?more={}{project}#{more}", names.join(","))
    }

    fn is_whole(&self, column: &str) -> bool {
        self.more.iter().any(|name| name == column)
    }
}

fn parsed(text: &str) -> Answer<ProjectId> {
    text.parse().map_err(|error: baton_core::id::BadId| {
        crate::error::ApiError::invalid(error.to_string(), "choose a project from the list")
    })
}

pub async fn show<S: Store>(State(app): State<App<S>>, visit: Visit, query: Query) -> PageAnswer {
    let wanted = Wanted::read(query)?;
    let frame = Frame::load(&app, visit).await?;
    let mut columns = Vec::new();
    for column in &COLUMNS {
        let (tasks, has_more) = gathered(&app, column, &wanted).await?;
        if !tasks.is_empty() {
            columns.push(drawn(&app, &frame, column, &wanted, &tasks, has_more).await?);
        }
    }
    let body = html! {
        (heading("Board", &html! {
            (filters(&app, &wanted).await?)
            a.button href="/tasks/new" data-sheet { "New task" }
        }))
        @if columns.is_empty() {
            (empty("No tasks here", "A task is one unit of work for an agent.", &[
                ("baton task add \"Fix the typo in the README\"", "put one into the queue"),
                ("baton chat \"…\"", "say what you want"),
                ("baton demo", "watch a whole project being done"),
            ]))
        } @else {
            div.board #board data-filter { @for column in &columns { (column) } }
        }
    };
    Ok(frame.page(Tab::Board, "Board", &[], &body))
}

async fn gathered<S: Store>(
    app: &App<S>,
    column: &Column,
    wanted: &Wanted,
) -> Result<(Vec<Stored<Task>>, bool), PageError> {
    let limit = if wanted.is_whole(column.name) { PAGE_MAX } else { CARDS_DEFAULT };
    let (mut tasks, mut has_more) = (Vec::new(), false);
    for (queue, status) in column.gathers {
        let filter = TaskFilter {
            queue: *queue,
            status: *status,
            project: wanted.project,
            title: wanted.title.clone(),
            newest_first: column.newest_first,
            ..TaskFilter::default()
        };
        let left = limit.saturating_sub(u32::try_from(tasks.len()).unwrap_or(u32::MAX));
        let page = app.desk().store.tasks(&filter, None, left.max(1)).await?;
        has_more |= page.next.is_some();
        tasks.extend(page.items);
    }
    Ok((tasks, has_more))
}

async fn drawn<S: Store>(
    app: &App<S>,
    frame: &Frame,
    column: &Column,
    wanted: &Wanted,
    tasks: &[Stored<Task>],
    has_more: bool,
) -> Result<Markup, PageError> {
    let mut cards = Vec::new();
    for stored in tasks {
        let waits = if column.waits { waits(app, &stored.value).await? } else { None };
        cards.push(card(&stored.value, waits, &app.shop.running, frame.now));
    }
    Ok(html! {
        section.column.{ "tone-" (column.tone) } #(column.name) aria-labelledby={ (column.name) "-title" } {
            h2 #{ (column.name) "-title" } { (column.title) " " span.count { (tasks.len()) @if has_more { "+" } } }
            div.stack { @for card in &cards { (card) } }
            @if has_more { p.more { a href=(wanted.address(column.name)) { "Show more" } } }
        }
    })
}

/// None where the task waits on nothing at all.
async fn waits<S: Store>(app: &App<S>, task: &Task) -> Result<Option<Waits>, PageError> {
    let edges = app.desk().store.dependencies(task.id()).await?;
    let met = edges.iter().filter(|edge| edge.is_met).count();
    Ok((!edges.is_empty()).then_some(Waits { met, all: edges.len() }))
}

async fn filters<S: Store>(app: &App<S>, wanted: &Wanted) -> Result<Markup, PageError> {
    let projects = app.desk().store.projects(None, PROJECTS_MAX).await?.items;
    Ok(html! {
        form.filters method="get" action="/board" role="search" {
            label.unseen for="filter" { "Filter by title" }
            input #filter type="search" name="q" placeholder="Filter  /" value=[wanted.title.as_ref()] autocomplete="off";
            @if !projects.is_empty() {
                label.unseen for="project" { "Project" }
                select #project name="project" {
                    option value="" { "All projects" }
                    @for project in &projects {
                        option value=(project.id) selected[wanted.project == Some(project.id)] { (project.title) }
                    }
                }
            }
            button type="submit" { "Filter" }
        }
    })
}
