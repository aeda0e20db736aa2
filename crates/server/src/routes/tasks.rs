//! `/api/tasks`: adding, finding and reading tasks. What is done to one is in [`verdicts`].

pub mod records;
pub mod verdicts;

use baton_engine::tasks::error::TaskError;
use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::{Label, RecipeId};
use baton_core::task::TaskSpec;
use baton_engine::query::TaskFilter;
use baton_engine::reports::view::{TaskSummary, TaskView};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::projects::{project, titled};
use crate::error::{Answer, ApiError};
use crate::input::{Body, Key, Query};
use crate::route::Route;
use crate::state::App;
use crate::views::page::{listed, page};
use crate::visitor::Visited;

/// Where tasks go that name neither a session nor a project.
const SESSION_OF_API: &str = "api";
/// What one task may wait on.
pub(super) const DEPENDENCIES_MAX: usize = 200;

pub fn routes() -> Vec<Route> {
    let own = vec![
        Route::get("/api/tasks", "list_tasks", list)
            .query("queue", "Queue", "Only tasks in this queue")
            .query("status", "Status", "Only tasks of this status")
            .query("project_id", "ProjectId", "Only tasks of this project")
            .query("session_id", "SessionId", "Only tasks of this session")
            .paged("TaskCursor")
            .gives("Tasks, oldest first", "TaskPage"),
        Route::post("/api/tasks", "create_task", create)
            .takes("NewTask")
            .created()
            .gives("Puts a task into the queue", "Task")
            .may_be_missing()
            .may_conflict(),
        Route::get("/api/tasks/ready", "list_ready_tasks", ready)
            .query("limit", "Limit", "How many at most")
            .gives("What could be started now, in the order it would be, and what keeps it", "ReadyPage"),
        Route::get("/api/tasks/find", "find_task", find)
            .query("prefix", "IdPrefix", "The beginning of an id, with or without TASK-")
            .gives("The one task whose id begins like this", "TaskFound")
            .may_be_missing(),
        Route::get("/api/tasks/{id}", "get_task", show).gives("Everything about one task", "Task"),
    ];
    own.into_iter().chain(verdicts::routes()).chain(records::routes()).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewTask {
    title: String,
    #[serde(default)]
    description: String,
    task_type: Option<TaskType>,
    project_id: Option<ProjectId>,
    session_id: Option<SessionId>,
    #[serde(default)]
    depends_on: Vec<TaskId>,
    #[serde(default)]
    priority: Priority,
    recipe: Option<RecipeId>,
    #[serde(default)]
    needs: BTreeSet<Label>,
}

async fn list(State(app): State<App>, mut query: Query) -> Answer<Json<Map<String, Value>>> {
    let filter = TaskFilter {
        queue: query.word("queue")?,
        status: query.word("status")?,
        project: query.take("project_id")?,
        session: query.take("session_id")?,
        ..TaskFilter::default()
    };
    let paging = query.page()?;
    query.done()?;
    let tasks = app.tasks().store.tasks(&filter, paging.cursor, paging.limit).await?;
    page("tasks", &tasks, TaskSummary::of).map(Json)
}

async fn ready(State(app): State<App>, mut query: Query) -> Answer<Json<Map<String, Value>>> {
    let limit = query.limit()?;
    query.done()?;
    let tasks = app.shop.ready(limit).await?;
    listed("tasks", &tasks, None).map(Json)
}

#[derive(Serialize)]
struct TaskFound {
    task_id: TaskId,
}

async fn find(State(app): State<App>, mut query: Query) -> Answer<Json<TaskFound>> {
    let prefix: Option<String> = query.take("prefix")?;
    query.done()?;
    let prefix = prefix.filter(|prefix| !prefix.is_empty()).ok_or_else(|| {
        ApiError::invalid("there is no prefix to look for", "send ?prefix= with the beginning of an id")
    })?;
    Ok(Json(TaskFound { task_id: app.tasks().find_task(&prefix).await? }))
}

async fn create(
    app: Visited,
    query: Query,
    Body(new): Body<NewTask>,
) -> Answer<(StatusCode, Json<TaskView>)> {
    query.done()?;
    let title = titled(&new.title, "title")?;
    if new.depends_on.len() > DEPENDENCIES_MAX {
        return Err(ApiError::invalid(
            format!("a task can wait on {DEPENDENCIES_MAX} others at most"),
            "put a task between that waits on some of them",
        ));
    }
    if let Some(id) = new.project_id {
        project(&app, id).await?;
    }
    if let Some(recipe) = &new.recipe {
        app.tasks().recipe(recipe)?;
    }
    let session = session_for(&app, new.project_id, new.session_id).await?;
    let words = format!("{title}\n{}", new.description);
    let task_type = new.task_type.unwrap_or_else(|| TaskType::detect(&words));
    let spec = |id, created_at| TaskSpec {
        project_id: new.project_id,
        description: new.description.clone(),
        priority: new.priority,
        recipe: new.recipe.clone(),
        needs: new.needs.clone(),
        ..TaskSpec::new(id, session.clone(), task_type, title.clone(), created_at)
    };
    let task = app.tasks().add_task(&new.depends_on, app.actor(), spec).await?;
    Ok((StatusCode::CREATED, Json(TaskView::load(app.tasks(), task.id()).await?)))
}

/// The session a task goes to. One that another project has begun is not taken.
pub async fn session_for(
    app: &App,
    project: Option<ProjectId>,
    wanted: Option<SessionId>,
) -> Answer<SessionId> {
    let Some(session) = wanted else {
        return match project {
            Some(project) => Ok(SessionId::for_project(project)),
            None => SESSION_OF_API.parse().map_err(|error: baton_core::base::id::InvalidId| {
                ApiError::invalid(error.to_string(), "name a session_id")
            }),
        };
    };
    match app.tasks().store.session(&session).await? {
        Some(known) if known.value.project_id != project => {
            Err(TaskError::OtherProject { session, project: known.value.project_id }.into())
        }
        Some(_) | None => Ok(session),
    }
}

async fn show(State(app): State<App>, Key(id): Key<TaskId>, query: Query) -> Answer<Json<TaskView>> {
    query.done()?;
    Ok(Json(app.shop.task_view(id).await?))
}
