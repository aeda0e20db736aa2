//! The addresses of tabs that were once pages of their own.

use axum::extract::RawQuery;
use axum::response::Response;
use baton_core::base::id::TaskId;

use crate::pages::frame::key::PageParam;
use crate::pages::frame::response::redirect;

/// Activity was beside an overview; now it is the first tab.
pub(crate) async fn to_activity(PageParam(id): PageParam<TaskId>, RawQuery(query): RawQuery) -> Response {
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    redirect(&format!("/tasks/{id}{query}"))
}

/// Questions are part of the activity.
pub(crate) async fn to_questions(PageParam(id): PageParam<TaskId>) -> Response {
    redirect(&format!("/tasks/{id}#activity"))
}

/// A section of the details, under its old name.
pub(crate) fn to_details(PageParam(id): PageParam<TaskId>, section: &str) -> Response {
    redirect(&format!("/tasks/{id}/details#{section}"))
}
