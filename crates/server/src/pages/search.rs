//! `/search`: tasks by part of the title or id prefix, for the command palette.

use axum::Json;
use axum::extract::State;
use baton_engine::query::TaskFilter;
use serde::Serialize;

use crate::http::error::Result;
use crate::http::input::Query;
use crate::pages::widgets::words::state_badge;
use crate::state::App;

/// Results per search.
const FOUND_MAX: u32 = 12;

#[derive(Serialize)]
pub(super) struct SearchResults {
    entries: Vec<SearchHit>,
}

#[derive(Serialize)]
struct SearchHit {
    text: String,
    hint: String,
    address: String,
}

pub(super) async fn find(State(app): State<App>, mut query: Query) -> Result<Json<SearchResults>> {
    let text: String = query.take("q")?.unwrap_or_default();
    query.done()?;
    let mut tasks = Vec::new();
    if let Ok(id) = app.tasks().find_task(text.trim()).await
        && let Some(stored) = app.tasks().store.task(id).await?
    {
        tasks.push(stored);
    }
    let filter =
        TaskFilter { title: Some(text.trim().to_owned()), newest_first: true, ..TaskFilter::default() };
    if !text.trim().is_empty() {
        tasks.extend(app.tasks().store.tasks(&filter, None, FOUND_MAX).await?.items);
    }
    let entries = tasks.iter().map(|stored| {
        let (task, badge) = (&stored.value, state_badge(stored.value.state()));
        SearchHit {
            text: task.spec().title.to_string(),
            hint: format!("{} {} · {}", badge.glyph, badge.word, task.id()),
            address: format!("/tasks/{}", task.id()),
        }
    });
    Ok(Json(SearchResults { entries: entries.collect() }))
}
