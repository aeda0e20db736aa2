//! `/board`: tasks in columns by state.

use axum::extract::State;
use baton_core::base::id::ProjectId;
use baton_core::records::change::Versioned;
use baton_core::task::Task;
use baton_core::task::state::{QueueName, StateName, TaskStatus};
use baton_engine::query::TaskFilter;
use maud::{Markup, html};

use super::answer::{PageAnswer, PageError};
use super::card::{Waits, card};
use super::layout::{Frame, Tab, empty, heading};
use super::percent::encoded;
use super::projects;
use super::visit::Visit;
use super::words::of_state_name;
use crate::error::Answer;
use crate::input::Query;
use crate::limits::PAGE_MAX;
use crate::state::App;

/// Cards of a column where nobody asked for more.
const CARDS_DEFAULT: u32 = 30;

/// A column: its name in the address, the state it is for, and the queues it gathers.
struct Column {
    name: &'static str,
    state: StateName,
    gathers: &'static [(Option<QueueName>, Option<TaskStatus>)],
    /// Of what is finished, the newest is what people look for.
    newest_first: bool,
    /// Whether its cards say how many dependencies are met.
    waits: bool,
}

const COLUMNS: [Column; 9] = [
    column(
        "asking",
        StateName::AwaitingResponse,
        &[(None, Some(TaskStatus::AwaitingResponse)), (None, Some(TaskStatus::Blocked))],
    ),
    column("review", StateName::Provisional, &[(Some(QueueName::Provisional), None)]),
    column("working", StateName::Claimed, &[(Some(QueueName::Claimed), Some(TaskStatus::Running))]),
    column(
        "queued",
        StateName::Incoming,
        &[(Some(QueueName::NeedsContinuation), None), (Some(QueueName::Incoming), None)],
    )
    .waiting(),
    column("planning", StateName::Breakdown, &[(Some(QueueName::Breakdown), None)]).waiting(),
    column("failed", StateName::Failed, &[(Some(QueueName::Failed), None)]),
    column("recycled", StateName::Recycled, &[(Some(QueueName::Recycled), None)]).latest_first(),
    column("done", StateName::Done, &[(Some(QueueName::Done), None)]).latest_first(),
    column("cancelled", StateName::Cancelled, &[(Some(QueueName::Rejected), None)]).latest_first(),
];

const fn column(
    name: &'static str,
    state: StateName,
    gathers: &'static [(Option<QueueName>, Option<TaskStatus>)],
) -> Column {
    Column { name, state, gathers, newest_first: false, waits: false }
}

impl Column {
    const fn waiting(self) -> Self {
        Self { waits: true, ..self }
    }

    const fn latest_first(self) -> Self {
        Self { newest_first: true, ..self }
    }
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
            project: projects::wanted(&mut query)?,
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
        let title = self.title.as_deref().map(|title| format!("&q={}", encoded(title))).unwrap_or_default();
        format!("/board?more={}{project}{title}#{more}", names.join(","))
    }

    fn is_whole(&self, column: &str) -> bool {
        self.more.iter().any(|name| name == column)
    }
}

pub async fn show(State(app): State<App>, visit: Visit, query: Query) -> PageAnswer {
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

async fn gathered(
    app: &App,
    column: &Column,
    wanted: &Wanted,
) -> Result<(Vec<Versioned<Task>>, bool), PageError> {
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
        let page = app.tasks().store.tasks(&filter, None, left.max(1)).await?;
        has_more |= page.next.is_some();
        tasks.extend(page.items);
    }
    Ok((tasks, has_more))
}

async fn drawn(
    app: &App,
    frame: &Frame,
    column: &Column,
    wanted: &Wanted,
    tasks: &[Versioned<Task>],
    has_more: bool,
) -> Result<Markup, PageError> {
    let sign = of_state_name(column.state);
    let mut cards = Vec::new();
    for stored in tasks {
        let waits = if column.waits { waits(app, &stored.value).await? } else { None };
        cards.push(card(&stored.value, waits, &app.shop.running, frame.now, Some(sign)));
    }
    Ok(html! {
        section.column.{ "tone-" (sign.tone) } #(column.name) aria-labelledby={ (column.name) "-title" } {
            h2 #{ (column.name) "-title" } { (sign.glyph) " " (sign.word) " " span.count { (tasks.len()) @if has_more { "+" } } }
            div.stack { @for card in &cards { (card) } }
            @if has_more { p.more { a href=(wanted.address(column.name)) { "Show more" } } }
        }
    })
}

/// None where the task waits on nothing at all.
async fn waits(app: &App, task: &Task) -> Result<Option<Waits>, PageError> {
    let edges = app.tasks().store.dependencies(task.id()).await?;
    let met = edges.iter().filter(|edge| edge.is_met).count();
    Ok((!edges.is_empty()).then_some(Waits { met, all: edges.len() }))
}

async fn filters(app: &App, wanted: &Wanted) -> Result<Markup, PageError> {
    let projects = projects::offered(app).await?;
    Ok(html! {
        form.filters method="get" action="/board" role="search" {
            label.unseen for="filter" { "Filter by title" }
            input #filter type="search" name="q" placeholder="Filter  /" value=[wanted.title.as_ref()] autocomplete="off";
            @if !projects.is_empty() {
                label.unseen for="project" { "Project" }
                (projects::choice("project", &projects, wanted.project, "All projects"))
            }
            button type="submit" { "Filter" }
        }
    })
}
