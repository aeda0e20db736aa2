//! One page of a list, under the list's name, with the cursor of the next.

use baton_engine::query::{Cursor, Page};
use serde_json::{Map, Value, json};

use crate::http::error::ApiError;

/// `{"<name>": […], "next_cursor": …}`.
pub(crate) fn page_view<T, V: serde::Serialize>(
    name: &'static str,
    page: &Page<T>,
    view: impl Fn(&T) -> V,
) -> Result<Map<String, Value>, ApiError> {
    let items: Vec<V> = page.items.iter().map(view).collect();
    list_view(name, &items, page.next.as_ref().map(Cursor::to_string).as_deref())
}

pub(crate) fn list_view<V: serde::Serialize>(
    name: &'static str,
    items: &[V],
    next: Option<&str>,
) -> Result<Map<String, Value>, ApiError> {
    let items = serde_json::to_value(items).map_err(|error| {
        let message = format!("cannot serialize the response: {error}");
        ApiError::new(crate::http::error::Code::Internal, message, "this is a bug in Baton; please report it")
    })?;
    Ok(Map::from_iter([(name.to_owned(), items), ("next_cursor".to_owned(), json!(next))]))
}
