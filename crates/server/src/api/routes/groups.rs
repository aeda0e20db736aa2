//! `/api/task-groups`: sessions as groups of tasks.

use axum::Json;
use axum::extract::State;
use baton_core::base::id::SessionId;
use baton_engine::base::error::{Entity, NotFound};
use baton_engine::query::TaskFilter;
use baton_engine::reports::view::TaskSummary;
use serde_json::{Map, Value, json};

use crate::api::route::Route;
use crate::api::views::group::GroupView;
use crate::api::views::page::page_view;
use crate::http::error::Result;
use crate::http::input::{PathParam, Query};
use crate::state::App;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/task-groups", "list_task_groups", list)
            .paged("GroupCursor")
            .returns_named("Task groups, oldest first; a session is its task group", "TaskGroupPage"),
        Route::get("/api/task-groups/{id}/tasks", "list_group_tasks", tasks)
            .paged("TaskCursor")
            .returns_named("The tasks of one group, oldest first", "GroupTaskPage"),
    ]
}

async fn list(State(app): State<App>, mut query: Query) -> Result<Json<Map<String, Value>>> {
    let paging = query.page()?;
    query.done()?;
    let groups = app.tasks().store.task_groups(paging.cursor, paging.limit).await?;
    let mut view = page_view("task_groups", &groups, |group| GroupView::from(group))?;
    view.insert("namespace".to_owned(), json!(app.namespace()));
    Ok(Json(view))
}

async fn tasks(
    State(app): State<App>,
    PathParam(session): PathParam<SessionId>,
    mut query: Query,
) -> Result<Json<Map<String, Value>>> {
    let paging = query.page()?;
    query.done()?;
    let filter = TaskFilter { session: Some(session.clone()), ..TaskFilter::default() };
    let is_first = paging.cursor.is_none();
    let tasks = app.tasks().store.tasks(&filter, paging.cursor, paging.limit).await?;
    if is_first && tasks.items.is_empty() {
        return Err(NotFound::new(Entity::TaskGroup, session).into());
    }
    let mut view = page_view("tasks", &tasks, TaskSummary::of)?;
    view.insert("namespace".to_owned(), json!(app.namespace()));
    view.insert("task_group_id".to_owned(), json!(session));
    Ok(Json(view))
}
