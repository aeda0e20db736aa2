//! The six columns, always in the same order, so that everything has its place.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use baton_core::base::id::TaskId;
use baton_core::base::text::Role;
use baton_core::records::change::Versioned;
use baton_core::task::Task;
use baton_core::task::state::{QueueName, StateName, TaskState, TaskStatus};
use baton_engine::query::TaskFilter;
use maud::{Markup, html};

use crate::http::limits::PAGE_MAX;
use crate::pages::board::filters::BoardQuery;
use crate::pages::frame::response::PageError;
use crate::pages::widgets::card::DependencyCount;
use crate::pages::widgets::words::{grouped, state_name_badge};
use crate::state::App;

/// Cards per column by default.
const CARDS_DEFAULT: u32 = 30;
/// Totals are exact up to here.
pub(super) const COUNTED_MAX: u32 = 100_000;

/// A column: its name in the URL, its state, and the queues it combines.
pub(super) struct Column {
    pub name: &'static str,
    pub state: StateName,
    gathers: &'static [(Option<QueueName>, Option<TaskStatus>)],
    /// Finished tasks are shown newest first.
    newest_first: bool,
    /// Whether cards show met dependencies.
    pub waits: bool,
}

pub(super) const COLUMNS: [Column; 6] = [
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

/// The tasks of a column that are shown, and how many there are.
pub(super) struct ColumnCards {
    pub tasks: Vec<Versioned<Task>>,
    pub total: u64,
    pub has_more: bool,
}

pub(super) async fn load_column(
    app: &App,
    column: &Column,
    wanted: &BoardQuery,
) -> Result<ColumnCards, PageError> {
    let limit = if wanted.is_expanded(column.name) { PAGE_MAX } else { CARDS_DEFAULT };
    let mut cards = ColumnCards { tasks: Vec::new(), total: 0, has_more: false };
    for (queue, status) in column.gathers {
        let filter = TaskFilter {
            queue: *queue,
            status: *status,
            newest_first: column.newest_first,
            ..wanted.filter()
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
pub(super) fn is_scaffolding(task: &Task) -> bool {
    let [plan, _, review] = Role::loop_phases();
    let spec = task.spec();
    let is_of_run = task.is_for_run_alone() || [plan, review].contains(&spec.role);
    matches!(task.state(), TaskState::Done { .. }) && is_of_run && !task.shows_work()
}

pub(super) fn render_column(
    column: &Column,
    wanted: &BoardQuery,
    cards: &[Markup],
    found: &ColumnCards,
) -> Markup {
    let badge = state_name_badge(column.state);
    html! {
        section.column.{ "tone-" (badge.tone) } #(column.name) aria-labelledby={ (column.name) "-title" } {
            h2 #{ (column.name) "-title" } { (badge.glyph) " " (badge.word) " " span.count { (grouped(found.total)) } }
            div.stack { @for card in cards { (card) } }
            @if found.has_more && !wanted.is_expanded(column.name) { p.more { a href=(wanted.expanded(column.name)) { "Show more" } } }
        }
    }
}

/// The dependencies of the tasks that have any.
pub(super) async fn count_dependencies(
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
