//! `/board`: all tasks, in columns by state or as a list, narrowed on the server.

pub(super) mod bulk;
mod columns;
mod filters;
mod list;

use axum::extract::State;
use maud::{Markup, html};

use crate::http::input::Query;
use crate::pages::board::columns::{COLUMNS, count_dependencies, load_column, render_column};
use crate::pages::board::filters::BoardQuery;
use crate::pages::frame::layout::{Frame, empty, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult};
use crate::pages::parts::done_in_parts;
use crate::pages::widgets::card::card;
use crate::pages::widgets::words::{DONE_IN_PARTS, state_badge, state_name_badge};
use crate::state::App;

pub(super) async fn show(State(app): State<App>, request: PageRequest, query: Query) -> PageResult {
    let wanted = BoardQuery::parse(query)?;
    let frame = Frame::load(&app, request).await?;
    let tasks = if wanted.is_list {
        list::render(&app, &wanted, &frame).await?
    } else {
        render_columns(&app, &wanted, &frame).await?
    };
    let view = |is_list: bool, word: &str| {
        let is_current = wanted.is_list == is_list;
        html! { a.button href=(wanted.address(is_list).trim_end_matches(['?', '&'])) aria-current=[is_current.then_some("true")] { (word) } }
    };
    let body = html! {
        (heading("Board", &html! {
            span.switch role="group" aria-label="View" { (view(false, "Columns")) (view(true, "List")) }
            a.button href="/tasks/new" data-sheet { "New task" }
        }))
        (wanted.render(&app).await?)
        @match tasks {
            Some(tasks) => (tasks),
            None if wanted.is_narrowed() => (empty("Nothing found", "No task matches. Clear the search to see all of them.", &[])),
            None => (empty("No tasks", "A task is one unit of work for an agent.", &[
                ("baton task add \"Fix the typo in the README\"", "add a task"),
                ("baton chat \"…\"", "send a message"),
                ("baton demo", "watch a whole project run"),
            ])),
        }
    };
    Ok(frame.page(Tab::Board, "Board", &[], &body))
}

/// None if there is nothing in them.
async fn render_columns(app: &App, wanted: &BoardQuery, frame: &Frame) -> Result<Option<Markup>, PageError> {
    let mut loaded = Vec::new();
    for column in COLUMNS.iter().filter(|column| wanted.state.is_none_or(|state| state == column.name)) {
        loaded.push((column, load_column(app, column, wanted).await?));
    }
    if loaded.iter().all(|(_, cards)| cards.tasks.is_empty()) {
        return Ok(None);
    }
    let waiting = loaded.iter().filter(|(column, _)| column.waits).flat_map(|(_, cards)| &cards.tasks);
    let waits = count_dependencies(app, waiting).await?;
    let all = loaded.iter().flat_map(|(_, cards)| &cards.tasks).map(|stored| &stored.value);
    let in_parts = done_in_parts(app, all).await?;
    let columns = loaded.iter().map(|(column, found)| {
        let cards = found.tasks.iter().map(|stored| {
            let task = &stored.value;
            let is_done = in_parts.contains(&task.id());
            card(
                task,
                if is_done { DONE_IN_PARTS } else { state_badge(task.state()) },
                waits.get(&task.id()).copied(),
                &app.workspace.running,
                frame.now,
                Some(state_name_badge(column.state)),
            )
        });
        render_column(column, wanted, &cards.collect::<Vec<_>>(), found)
    });
    Ok(Some(html! { div.board #board { @for column in columns { (column) } } }))
}
