//! `/api/tasks`: creating, finding and reading tasks. Decisions about a task are in [`verdicts`].

pub(crate) mod messages;
pub(crate) mod records;
pub(crate) mod review;
pub(crate) mod takeover;
pub(crate) mod verdicts;

use baton_engine::tasks::error::TaskError;
use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use baton_core::base::accept_policy::AcceptPolicy;
use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::{AgentName, Label, NonBlank, RecipeId};
use baton_core::base::time::Timestamp;
use baton_core::task::TaskSpec;
use baton_engine::landing::standing::WorkStanding;
use baton_engine::landing::task_landing::TaskLandingView;
use baton_engine::query::TaskFilter;
use baton_engine::reports::view::{TaskSummary, TaskView, ready_tasks, task_view};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::route::{Recall, Route};
use crate::api::routes::projects::{find_project, parse_title};
use crate::api::views::page::{list_view, page_view};
use crate::http::error::Code;
use crate::http::error::{ApiError, Result};
use crate::http::input::{JsonBody, NoQuery, PathParam, Query};
use crate::schema::words;
use crate::state::App;
use crate::state::principal::AuthedApp;

/// The session of tasks that name neither a session nor a project.
const SESSION_OF_API: &str = "api";
/// Largest number of dependencies of a task.
pub(crate) const DEPENDENCIES_MAX: usize = 200;
/// Commands that verify one task.
const VERIFY_MAX: usize = 20;

pub(crate) fn routes() -> Vec<Route> {
    let own = vec![
        Route::get("/api/tasks", "list_tasks", list)
            .query("queue", "Queue", "Only tasks in this queue")
            .query("status", "Status", "Only tasks of this status")
            .query("project_id", "ProjectId", "Only tasks of this project")
            .query("session_id", "SessionId", "Only tasks of this session")
            .paged("TaskCursor")
            .returns_named("Tasks, oldest first", "TaskPage"),
        Route::post("/api/tasks", "create_task", create)
            .once(Recall::Task)
            .takes::<NewTask>()
            .created()
            .returns_named("Creates a task", "Task")
            .may_be_missing()
            .may_conflict(),
        Route::get("/api/tasks/ready", "list_ready_tasks", ready)
            .query("limit", "Limit", "Page size")
            .returns_named("Tasks that could start now, in order, and why they have not", "ReadyPage"),
        Route::get("/api/tasks/find", "find_task", find)
            .query("prefix", "IdPrefix", "The start of an id, with or without TASK-")
            .returns::<TaskFound>("The only task whose id starts with the prefix")
            .may_be_missing(),
        Route::get("/api/tasks/{id}", "get_task", show).returns_named("Everything about one task", "Task"),
    ];
    own.into_iter()
        .chain(verdicts::routes())
        .chain(records::routes())
        .chain(messages::routes())
        .chain(takeover::routes())
        .chain(review::routes())
        .collect()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewTask {
    #[schemars(with = "words::Title")]
    title: String,
    #[serde(default)]
    description: String,
    #[schemars(with = "Option<words::TaskType>")]
    task_type: Option<TaskType>,
    #[schemars(with = "Option<words::ProjectId>")]
    project_id: Option<ProjectId>,
    #[schemars(with = "Option<words::SessionId>")]
    session_id: Option<SessionId>,
    #[serde(default)]
    #[schemars(with = "Vec<words::TaskId>")]
    depends_on: Vec<TaskId>,
    #[serde(default)]
    #[schemars(with = "words::Priority")]
    priority: Priority,
    #[schemars(with = "Option<words::Name>")]
    recipe: Option<RecipeId>,
    #[serde(default)]
    #[schemars(with = "Vec<words::Name>")]
    needs: BTreeSet<Label>,
    /// Who accepts it; without it, what the settings say.
    #[schemars(with = "Option<words::AcceptPolicy>")]
    accept_when: Option<AcceptPolicy>,
    /// Shell commands that must pass before it lands, and should fail without it.
    #[serde(default)]
    #[schemars(with = "Vec<words::NonBlank>")]
    verify: Vec<NonBlank>,
    /// It does not start before this moment.
    #[schemars(with = "Option<words::Timestamp>")]
    start_at: Option<Timestamp>,
    /// The agent for it, over that of its role.
    #[schemars(with = "Option<words::Name>")]
    agent: Option<AgentName>,
    /// The model for it, for agents that let it be chosen.
    #[schemars(with = "Option<words::NonBlank>")]
    model: Option<NonBlank>,
    /// Wait for its agent instead of giving it to a fallback.
    #[serde(default)]
    no_fallback: bool,
}

async fn list(State(app): State<App>, mut query: Query) -> Result<Json<Map<String, Value>>> {
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
    page_view("tasks", &tasks, TaskSummary::of).map(Json)
}

async fn ready(State(app): State<App>, mut query: Query) -> Result<Json<Map<String, Value>>> {
    let limit = query.limit()?;
    query.done()?;
    let tasks = ready_tasks(&app.workspace.scheduling(), limit).await?;
    list_view("tasks", &tasks, None).map(Json)
}

#[derive(Serialize, JsonSchema)]
struct TaskFound {
    #[schemars(with = "words::TaskId")]
    task_id: TaskId,
}

async fn find(State(app): State<App>, mut query: Query) -> Result<Json<TaskFound>> {
    let prefix: Option<String> = query.take("prefix")?;
    query.done()?;
    let prefix = prefix
        .filter(|prefix| !prefix.is_empty())
        .ok_or_else(|| ApiError::invalid("the prefix is missing", "send ?prefix= with the start of an id"))?;
    Ok(Json(TaskFound { task_id: app.tasks().find_task(&prefix).await? }))
}

async fn create(
    app: AuthedApp,
    _: NoQuery,
    JsonBody(new): JsonBody<NewTask>,
) -> Result<(StatusCode, Json<TaskView>)> {
    let title = parse_title(&new.title, "title")?;
    if new.depends_on.len() > DEPENDENCIES_MAX {
        return Err(ApiError::invalid(
            format!("a task can depend on at most {DEPENDENCIES_MAX} others"),
            "add an intermediate task that depends on some of them",
        ));
    }
    if let Some(id) = new.project_id {
        find_project(&app, id).await?;
    }
    if let Some(recipe) = &new.recipe {
        app.tasks().recipes.find(recipe)?;
    }
    if !app.actor().is_human() && (new.accept_when.is_some() || !new.verify.is_empty()) {
        return Err(ApiError::new(
            Code::Forbidden,
            "only a person decides how a task is verified and who accepts it",
            "leave out accept_when and verify",
        ));
    }
    if !app.actor().is_human() && (new.agent.is_some() || new.model.is_some() || new.no_fallback) {
        return Err(ApiError::new(
            Code::Forbidden,
            "only a person chooses the agent and the model of a task",
            "leave out agent, model and no_fallback",
        ));
    }
    if let Some(agent) = new.agent.as_ref().filter(|_| !app.workspace.node.is_shared) {
        // On a shared store another machine may have it.
        let known = &app.workspace.settings.agents;
        if !known.contains_key(agent) {
            let names: Vec<&str> = known.keys().map(AgentName::as_str).collect();
            return Err(ApiError::invalid(
                format!("there is no agent {agent} in the settings"),
                format!("choose one of: {}", names.join(", ")),
            ));
        }
    }
    if new.verify.len() > VERIFY_MAX {
        return Err(ApiError::invalid(
            format!("a task can have at most {VERIFY_MAX} commands that verify it"),
            "put them into a script, or into a task of the Taskfile",
        ));
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
        accept_when: new.accept_when,
        verify: new.verify.clone(),
        start_at: new.start_at,
        agent: new.agent.clone(),
        model: new.model.clone(),
        no_fallback: new.no_fallback,
        ..TaskSpec::new(id, session.clone(), task_type, title.clone(), created_at)
    };
    let task = app.tasks().add_task(&new.depends_on, app.actor(), spec).await?;
    Ok((StatusCode::CREATED, Json(TaskView::load(app.tasks(), task.id()).await?)))
}

/// The session of a new task. A session of another project is refused.
pub(crate) async fn session_for(
    app: &App,
    project: Option<ProjectId>,
    wanted: Option<SessionId>,
) -> Result<SessionId> {
    let Some(session) = wanted else {
        return match project {
            Some(project) => Ok(SessionId::for_project(project)),
            None => SESSION_OF_API.parse().map_err(|error: baton_core::base::id::InvalidId| {
                ApiError::invalid(error.to_string(), "name a session_id")
            }),
        };
    };
    match app.tasks().store.session(&session).await? {
        Some(known) if !app.tasks().is_same_place(known.value.project_id, project).await? => {
            Err(TaskError::OtherProject { session, project: known.value.project_id }.into())
        }
        Some(_) | None => Ok(session),
    }
}

async fn show(
    State(app): State<App>,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
) -> Result<Json<TaskView>> {
    let mut view = task_view(&app.workspace.scheduling(), id).await?;
    let task = app.tasks().task(id).await?.value;
    view.landing = TaskLandingView::load(&app.workspace.landing, &app.workspace.projects, &task).await?;
    view.standing = WorkStanding::load(&app.workspace.projects, &task).await?;
    Ok(Json(view))
}
