//! `/search`: tasks by part of their title, or by the beginning of their id, for the palette.

use axum::Json;
use axum::extract::State;
use baton_engine::query::TaskFilter;
use serde::Serialize;

use crate::http::error::Answer;
use crate::http::input::Query;
use crate::pages::widgets::words::of_state;
use crate::state::App;

/// Nobody reads a longer list; they type one letter more.
const FOUND_MAX: u32 = 12;

#[derive(Serialize)]
pub struct Found {
    entries: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    text: String,
    hint: String,
    address: String,
}

pub async fn find(State(app): State<App>, mut query: Query) -> Answer<Json<Found>> {
    let text: String = query.take("q")?.unwrap_or_default();
    query.done()?;
    let mut tasks = Vec::new();
    if let Ok(id) = app.desk().find_task(text.trim()).await
        && let Some(stored) = app.desk().store.task(id).await?
    {
        tasks.push(stored);
    }
    let filter =
        TaskFilter { title: Some(text.trim().to_owned()), newest_first: true, ..TaskFilter::default() };
    if !text.trim().is_empty() {
        tasks.extend(app.desk().store.tasks(&filter, None, FOUND_MAX).await?.items);
    }
    let entries = tasks.iter().map(|stored| {
        let (task, sign) = (&stored.value, of_state(stored.value.state()));
        Entry {
            text: task.spec().title.to_string(),
            hint: format!("{} {} · {}", sign.glyph, sign.word, task.id()),
            address: format!("/tasks/{}", task.id()),
        }
    });
    Ok(Json(Found { entries: entries.collect() }))
}
