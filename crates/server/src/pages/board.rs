//! `/board`: tasks in columns by state.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use axum::extract::State;
use baton_core::base::id::{ProjectId, TaskId};
use baton_core::base::text::Role;
use baton_core::records::change::Versioned;
use baton_core::task::Task;
use baton_core::task::state::{QueueName, StateName, TaskState, TaskStatus};
use baton_engine::query::TaskFilter;
use maud::{Markup, html};

use crate::http::error::Result;
use crate::http::input::Query;
use crate::http::limits::PAGE_MAX;
use crate::pages::frame::layout::{Frame, empty, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult};
use crate::pages::parts::done_in_parts;
use crate::pages::projects;
use crate::pages::widgets::card::{DependencyCount, card};
use crate::pages::widgets::percent::encode;
use crate::pages::widgets::words::{DONE_IN_PARTS, grouped, state_badge, state_name_badge};
use crate::state::App;

/// Cards per column by default.
const CARDS_DEFAULT: u32 = 30;
/// Totals are exact up to here.
const COUNTED_MAX: u32 = 100_000;

/// A column: its name in the URL, its state, and the queues it combines.
struct Column {
    name: &'static str,
    state: StateName,
    gathers: &'static [(Option<QueueName>, Option<TaskStatus>)],
    /// Finished tasks are shown newest first.
    newest_first: bool,
    /// Whether cards show met dependencies.
    waits: bool,
}

/// Always these, in this order, so that everything has its place.
const COLUMNS: [Column; 6] = [
    column(
        "queued",
        StateName::Incoming,
        &[
            (Some(QueueName::NeedsContinuation), None),
            (Some(QueueName::Incoming), None),
            (Some(QueueName::Breakdown), None),
        ],
    )
    .waiting(),
    column("working", StateName::Claimed, &[(Some(QueueName::Claimed), Some(TaskStatus::Running))]),
    column(
        "asking",
        StateName::AwaitingResponse,
        &[
            (None, Some(TaskStatus::AwaitingResponse)),
            (None, Some(TaskStatus::Blocked)),
            (Some(QueueName::Failed), None),
        ],
    ),
    column("review", StateName::Provisional, &[(Some(QueueName::Provisional), None)]),
    column("landing", StateName::Landing, &[(Some(QueueName::Landing), None)]),
    column(
        "done",
        StateName::Done,
        &[
            (Some(QueueName::Done), None),
            (Some(QueueName::Recycled), None),
            (Some(QueueName::Rejected), None),
        ],
    )
    .latest_first(),
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

/// The board's query string.
struct BoardQuery {
    project: Option<ProjectId>,
    title: Option<String>,
    /// Expanded columns.
    more: Vec<String>,
}

impl BoardQuery {
    fn parse(mut query: Query) -> Result<Self> {
        let title: Option<String> = query.take("q")?;
        let wanted = Self {
            project: projects::from_query(&mut query)?,
            title: title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty()),
            more: query.take::<String>("more")?.unwrap_or_default().split(',').map(str::to_owned).collect(),
        };
        query.done()?;
        Ok(wanted)
    }

    /// The URL with one more column expanded. Only known column names get into it.
    fn address(&self, more: &'static str) -> String {
        let project = self.project.map(|project| format!("&project={project}")).unwrap_or_default();
        let known = COLUMNS.iter().map(|column| column.name);
        let names: Vec<&str> = known.filter(|name| *name == more || self.is_expanded(name)).collect();
        let title = self.title.as_deref().map(|title| format!("&q={}", encode(title))).unwrap_or_default();
        format!("/board?more={}{project}{title}#{more}", names.join(","))
    }

    fn is_expanded(&self, column: &str) -> bool {
        self.more.iter().any(|name| name == column)
    }
}

pub(super) async fn show(State(app): State<App>, request: PageRequest, query: Query) -> PageResult {
    let wanted = BoardQuery::parse(query)?;
    let frame = Frame::load(&app, request).await?;
    let mut loaded = Vec::new();
    for column in &COLUMNS {
        loaded.push((column, load_column(&app, column, &wanted).await?));
    }
    let is_empty = loaded.iter().all(|(_, cards)| cards.tasks.is_empty());
    let waiting = loaded.iter().filter(|(column, _)| column.waits).flat_map(|(_, cards)| &cards.tasks);
    let waits = count_dependencies(&app, waiting).await?;
    let all = loaded.iter().flat_map(|(_, cards)| &cards.tasks).map(|stored| &stored.value);
    let in_parts = done_in_parts(&app, all).await?;
    let columns: Vec<Markup> = loaded
        .iter()
        .map(|(column, found)| {
            let cards = found.tasks.iter().map(|stored| {
                let waits = waits.get(&stored.value.id()).copied();
                let is_done = in_parts.contains(&stored.value.id());
                card(
                    &stored.value,
                    if is_done { DONE_IN_PARTS } else { state_badge(stored.value.state()) },
                    waits,
                    &app.workspace.running,
                    frame.now,
                    Some(state_name_badge(column.state)),
                )
            });
            render_column(column, &wanted, &cards.collect::<Vec<_>>(), found)
        })
        .collect();
    let body = html! {
        (heading("Board", &html! {
            (render_filters(&app, &wanted).await?)
            a.button href="/tasks/new" data-sheet { "New task" }
        }))
        @if is_empty && wanted.title.is_none() && wanted.project.is_none() {
            (empty("No tasks", "A task is one unit of work for an agent.", &[
                ("baton task add \"Fix the typo in the README\"", "add a task"),
                ("baton chat \"…\"", "send a message"),
                ("baton demo", "watch a whole project run"),
            ]))
        } @else {
            div.board #board data-filter { @for column in &columns { (column) } }
        }
    };
    Ok(frame.page(Tab::Board, "Board", &[], &body))
}

/// The tasks of a column that are shown, and how many there are.
struct ColumnCards {
    tasks: Vec<Versioned<Task>>,
    total: u64,
    has_more: bool,
}

async fn load_column(app: &App, column: &Column, wanted: &BoardQuery) -> Result<ColumnCards, PageError> {
    let limit = if wanted.is_expanded(column.name) { PAGE_MAX } else { CARDS_DEFAULT };
    let mut cards = ColumnCards { tasks: Vec::new(), total: 0, has_more: false };
    for (queue, status) in column.gathers {
        let filter = TaskFilter {
            queue: *queue,
            status: *status,
            project: wanted.project,
            title: wanted.title.clone(),
            newest_first: column.newest_first,
            ..TaskFilter::default()
        };
        let page = app.tasks().store.tasks(&filter, None, limit).await?;
        let found = page.items.len() as u64;
        cards.total += match page.next {
            Some(_) => app.tasks().store.count_tasks(&filter, COUNTED_MAX).await?,
            None => found,
        };
        let (shown, scaffolding): (Vec<_>, Vec<_>) =
            page.items.into_iter().partition(|stored| !is_scaffolding(&stored.value));
        cards.total = cards.total.saturating_sub(scaffolding.len() as u64);
        cards.tasks.extend(shown);
    }
    if column.newest_first {
        cards.tasks.sort_by_key(|stored| Reverse(stored.value.updated_at()));
    }
    cards.tasks.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    cards.has_more = cards.total > cards.tasks.len() as u64;
    Ok(cards)
}

/// A finished task that was nobody's work: made for a run that found no task, or for the agent of a loop's plan or review.
/// What it led to is in the run and in the loop.
fn is_scaffolding(task: &Task) -> bool {
    let [plan, _, review] = Role::loop_phases();
    let spec = task.spec();
    let is_of_run = task.is_for_run_alone() || [plan, review].contains(&spec.role);
    matches!(task.state(), TaskState::Done { .. }) && is_of_run && !task.shows_work()
}

fn render_column(column: &Column, wanted: &BoardQuery, cards: &[Markup], found: &ColumnCards) -> Markup {
    let badge = state_name_badge(column.state);
    html! {
        section.column.{ "tone-" (badge.tone) } #(column.name) aria-labelledby={ (column.name) "-title" } {
            h2 #{ (column.name) "-title" } { (badge.glyph) " " (badge.word) " " span.count { (grouped(found.total)) } }
            div.stack { @for card in cards { (card) } }
            @if found.has_more && !wanted.is_expanded(column.name) { p.more { a href=(wanted.address(column.name)) { "Show more" } } }
        }
    }
}

/// The dependencies of the tasks that have any.
async fn count_dependencies(
    app: &App,
    tasks: impl Iterator<Item = &Versioned<Task>>,
) -> Result<BTreeMap<TaskId, DependencyCount>, PageError> {
    let ids: Vec<TaskId> = tasks.map(|stored| stored.value.id()).collect();
    let mut counts: BTreeMap<TaskId, DependencyCount> = BTreeMap::new();
    if ids.is_empty() {
        return Ok(counts);
    }
    for edge in app.tasks().store.dependencies_of_many(&ids).await? {
        let count = counts.entry(edge.task).or_insert(DependencyCount { met: 0, all: 0 });
        count.met += usize::from(edge.is_met);
        count.all += 1;
    }
    Ok(counts)
}

async fn render_filters(app: &App, wanted: &BoardQuery) -> Result<Markup, PageError> {
    let projects = projects::list_projects(app).await?;
    Ok(html! {
        form.filters method="get" action="/board" role="search" {
            label.unseen for="filter" { "Filter by title" }
            input #filter type="search" name="q" placeholder="Filter  /" value=[wanted.title.as_ref()] autocomplete="off";
            @if !projects.is_empty() {
                label.unseen for="project" { "Project" }
                (projects::picker("project", &projects, wanted.project, "All projects"))
            }
            button type="submit" { "Filter" }
        }
    })
}
