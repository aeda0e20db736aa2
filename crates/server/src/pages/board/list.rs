//! The tasks as a list, with what can be done to several of them at once.

use baton_core::base::priority::Priority;
use baton_core::records::change::Versioned;
use baton_core::task::Task;
use baton_engine::query::TaskFilter;
use maud::{Markup, html};

use crate::pages::board::columns::{COLUMNS, COUNTED_MAX, is_scaffolding, load_column};
use crate::pages::board::filters::BoardQuery;
use crate::pages::frame::layout::Frame;
use crate::pages::frame::response::PageError;
use crate::pages::parts::done_in_parts;
use crate::pages::widgets::card::{facts, gist};
use crate::pages::widgets::words::{DONE_IN_PARTS, StateBadge, age, grouped, state_badge};
use crate::state::App;

/// Rows per page.
const ROWS_MAX: u32 = 100;

/// A page of the list.
struct Listed {
    tasks: Vec<Versioned<Task>>,
    total: u64,
    /// The address of what follows.
    next: Option<String>,
}

/// None if nothing is in it.
pub(super) async fn render(
    app: &App,
    wanted: &BoardQuery,
    frame: &Frame,
) -> Result<Option<Markup>, PageError> {
    let listed = load(app, wanted).await?;
    if listed.tasks.is_empty() && wanted.cursor.is_none() {
        return Ok(None);
    }
    let in_parts = done_in_parts(app, listed.tasks.iter().map(|stored| &stored.value)).await?;
    let back = wanted.address(true);
    Ok(Some(html! {
        p.muted { (grouped(listed.total)) @if listed.total == 1 { " task" } @else { " tasks" } @if wanted.state.is_none() { ", newest first" } }
        form #bulk .bulk method="post" action="/tasks/bulk" data-bulk {
            input type="hidden" name="next" value=(back.trim_end_matches(['?', '&']));
            label { input type="checkbox" data-all .js; span.js { " All shown" } }
            span #selected role="status" .muted {}
            span.verbs {
                button type="submit" name="verb" value="accept" { "Accept" }
                button type="submit" name="verb" value="release" { "Release" }
                button type="submit" name="verb" value="retry" { "Retry" }
                button type="submit" name="verb" value="cancel" { "Cancel" }
                label.unseen for="bulk-priority" { "Priority" }
                select #bulk-priority name="priority" { @for priority in Priority::ALL { option value=(priority) selected[priority == Priority::default()] { (priority) } } }
                button type="submit" name="verb" value="priority" { "Set priority" }
            }
        }
        div.list {
            @for stored in &listed.tasks {
                @let task = &stored.value;
                @let badge = if in_parts.contains(&task.id()) { DONE_IN_PARTS } else { state_badge(task.state()) };
                (row(app, frame, task, badge))
            }
        }
        @if let Some(next) = &listed.next { p.more { a href=(next) { "Show more" } } }
    }))
}

async fn load(app: &App, wanted: &BoardQuery) -> Result<Listed, PageError> {
    let column = COLUMNS.iter().find(|column| Some(column.name) == wanted.state);
    if let Some(column) = column {
        let cards = load_column(app, column, wanted).await?;
        let next = (cards.has_more && !wanted.is_expanded(column.name)).then(|| wanted.expanded(column.name));
        return Ok(Listed { tasks: cards.tasks, total: cards.total, next });
    }
    let filter = TaskFilter { newest_first: true, ..wanted.filter() };
    let page = app.tasks().store.tasks(&filter, wanted.cursor.clone(), ROWS_MAX).await?;
    let total = app.tasks().store.count_tasks(&filter, COUNTED_MAX).await?;
    let next = page.next.map(|cursor| format!("{}cursor={cursor}", wanted.address(true)));
    let tasks = page.items.into_iter().filter(|stored| !is_scaffolding(&stored.value)).collect();
    Ok(Listed { tasks, total, next })
}

fn row(app: &App, frame: &Frame, task: &Task, badge: StateBadge) -> Markup {
    let id = task.id();
    html! {
        article.item.{ "tone-" (badge.tone) } #{ "item-" (id) } data-row data-turns[task.state().live_attempt().is_some()] {
            input type="checkbox" name="task" value=(id) form="bulk" aria-label={ "Select " (task.spec().title) };
            (badge.chip())
            a.title href={ "/tasks/" (id) } dir="auto" { (task.spec().title) }
            span.gist { (gist(task)) }
            (facts(task, None, &app.workspace.running, frame.now, false))
            span.age { (age(task.updated_at(), frame.now)) }
        }
    }
}
