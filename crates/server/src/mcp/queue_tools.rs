//! The queue tools: `get_next_task`, `list_tasks`, `get_task`, `add_task`, `update_task`, `set_task_status`.

use baton_core::base::id::{SessionId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::records::event::EventBody;
use baton_core::task::revision::Revision;
use baton_core::task::state::TaskStatus;
use baton_core::task::{Task, TaskSpec};
use baton_core::transition::command::Command;
use baton_engine::landing::standing::WorkStanding;
use baton_engine::landing::task_landing::TaskLandingView;
use baton_engine::query::TaskFilter;
use baton_engine::reports::view::{TaskSummary, TaskView};
use serde_json::json;

use crate::http::limits::TITLE_CHARS_MAX;
use crate::mcp::inputs::{
    AddTaskArguments, GetTaskArguments, ListTasksArguments, SetStatusArguments, UpdateTaskArguments,
};
use crate::mcp::toolbox::error_text;
use crate::mcp::{Caller, ToolAnswer, Toolbox};

/// Tasks per list. A model that needs others narrows the search.
const LIST_MAX: u32 = 50;
/// Largest number of dependencies of a task.
const DEPENDENCIES_MAX: usize = 200;
/// The session of tasks added by a person's own MCP client.
pub(super) const SESSION_OF_CLIENT: &str = "mcp";
/// A task's first event is its creation.
const EVENTS_LOOKED_AT: u32 = 1;

pub(super) async fn next(toolbox: &Toolbox, caller: &Caller) -> Result<ToolAnswer, String> {
    let own = match caller {
        Caller::Attempt { task, .. } => Some(*task),
        Caller::Person { .. } => None,
    };
    // A run that found no task has one of its own to carry it; that is no work.
    if let Some(id) = own {
        let task = toolbox.tasks.task(id).await.map_err(error_text)?.value;
        if task.is_for_run_alone() {
            return Ok(ToolAnswer::ok("No tasks available."));
        }
    }
    let next = match own {
        Some(task) => Some(task),
        None => toolbox.tasks.ready(1).await.map_err(error_text)?.first().map(|stored| stored.value.id()),
    };
    match next {
        Some(task) => view(toolbox, task).await,
        None => Ok(ToolAnswer::ok("No tasks available.")),
    }
}

pub(super) async fn list(toolbox: &Toolbox, arguments: ListTasksArguments) -> Result<ToolAnswer, String> {
    let filter = TaskFilter { status: arguments.status, title: arguments.title, ..TaskFilter::default() };
    let page = toolbox.tasks.store.tasks(&filter, None, LIST_MAX).await.map_err(|error| error.to_string())?;
    let tasks: Vec<TaskSummary> = page.items.iter().map(TaskSummary::of).collect();
    let more = page.next.is_some().then_some("more tasks match; narrow the search by status or title");
    Ok(ToolAnswer::json(&json!({ "tasks": tasks, "more": more })))
}

pub(super) async fn get(toolbox: &Toolbox, arguments: &GetTaskArguments) -> Result<ToolAnswer, String> {
    let task = find_task(toolbox, &arguments.id).await?;
    view(toolbox, task).await
}

pub(super) async fn add(
    toolbox: &Toolbox,
    caller: &Caller,
    arguments: AddTaskArguments,
) -> Result<ToolAnswer, String> {
    let AddTaskArguments { title, description, priority, depends_on: wanted, task_type } = arguments;
    let title = check_title_length(title)?;
    let task_type = task_type.unwrap_or_else(|| TaskType::detect(&format!("{title}\n{description}")));
    if wanted.len() > DEPENDENCIES_MAX {
        return Err(format!("a task can depend on at most {DEPENDENCIES_MAX} others"));
    }
    let mut depends_on = Vec::new();
    for text in wanted {
        depends_on.push(toolbox.tasks.find_task(&text).await.map_err(error_text)?);
    }
    let (session_id, project_id) = session_and_project(toolbox, caller).await?;
    let spec = |id, created_at| TaskSpec {
        project_id,
        description: description.clone(),
        priority: priority.unwrap_or_default(),
        ..TaskSpec::new(id, session_id.clone(), task_type, title.clone(), created_at)
    };
    let task = toolbox.tasks.add_task(&depends_on, caller.actor(), spec).await.map_err(error_text)?;
    view(toolbox, task.id()).await
}

fn check_title_length(title: NonBlank) -> Result<NonBlank, String> {
    if title.as_str().chars().count() > TITLE_CHARS_MAX {
        return Err(format!(
            "`title` is longer than {TITLE_CHARS_MAX} characters; put the rest into the description"
        ));
    }
    Ok(title)
}

pub(super) async fn update(
    toolbox: &Toolbox,
    caller: &Caller,
    arguments: UpdateTaskArguments,
) -> Result<ToolAnswer, String> {
    let id = find_task(toolbox, &arguments.id).await?;
    let revision = Revision {
        title: arguments.title.map(check_title_length).transpose()?,
        description: arguments.description,
        priority: arguments.priority,
        ..Revision::default()
    };
    if revision.is_empty() {
        return Err("nothing to change; set `title`, `description` or `priority`".to_owned());
    }
    check_may_edit(toolbox, caller, id).await?;
    toolbox.tasks.apply(id, Command::Revise { revision }, caller.actor()).await.map_err(error_text)?;
    view(toolbox, id).await
}

/// The session and project of a new task: those of the attempt that adds it.
async fn session_and_project(
    toolbox: &Toolbox,
    caller: &Caller,
) -> Result<(SessionId, Option<baton_core::base::id::ProjectId>), String> {
    match caller {
        Caller::Attempt { task, .. } => {
            let task = toolbox.tasks.task(*task).await.map_err(error_text)?.value;
            Ok((task.spec().session_id.clone(), task.spec().project_id))
        }
        Caller::Person { .. } => {
            let session = SESSION_OF_CLIENT
                .parse()
                .map_err(|error: baton_core::base::id::InvalidId| error.to_string())?;
            Ok((session, None))
        }
    }
}

pub(super) async fn set_status(
    toolbox: &Toolbox,
    caller: &Caller,
    arguments: SetStatusArguments,
) -> Result<ToolAnswer, String> {
    let id = find_task(toolbox, &arguments.id).await?;
    let command = match arguments.status {
        TaskStatus::Cancelled => Command::Cancel { reason: arguments.reason },
        TaskStatus::Queued => Command::Retry,
        other => {
            return Err(format!(
                "cannot set a task to {}; use CANCELLED to cancel it or QUEUED to retry it. Other statuses follow from its work",
                other.as_str()
            ));
        }
    };
    check_may_edit(toolbox, caller, id).await?;
    toolbox.tasks.apply(id, command, caller.actor()).await.map_err(error_text)?;
    view(toolbox, id).await
}

/// An attempt may edit only tasks that agents of its session added, and not its own task, which ends with its report.
async fn check_may_edit(toolbox: &Toolbox, caller: &Caller, id: TaskId) -> Result<(), String> {
    let Caller::Attempt { task: own, .. } = caller else { return Ok(()) };
    if *own == id {
        return Err("this is your own task; end it with report_outcome".to_owned());
    }
    let task: Task = toolbox.tasks.task(id).await.map_err(error_text)?.value;
    let own: Task = toolbox.tasks.task(*own).await.map_err(error_text)?.value;
    let is_of_session = task.spec().session_id == own.spec().session_id;
    let events = toolbox.tasks.store.task_events(id, 0, EVENTS_LOOKED_AT).await;
    let events = events.map_err(|error| error.to_string())?;
    let by_agent = events.first().is_some_and(|recorded| {
        matches!(&recorded.event.body, EventBody::TaskCreated { .. })
            && matches!(recorded.event.by, Actor::Agent { .. })
    });
    if is_of_session && by_agent {
        Ok(())
    } else {
        Err(format!("{id} was not added by an agent of this session; ask the human about it"))
    }
}

pub(super) async fn find_task(toolbox: &Toolbox, id: &NonBlank) -> Result<TaskId, String> {
    toolbox.tasks.find_task(id.as_str()).await.map_err(error_text)
}

async fn view(toolbox: &Toolbox, id: TaskId) -> Result<ToolAnswer, String> {
    let mut view = TaskView::load(&toolbox.tasks, id).await.map_err(error_text)?;
    let task = toolbox.tasks.task(id).await.map_err(error_text)?.value;
    let landing = TaskLandingView::load(&toolbox.landing, &toolbox.projects, &task).await;
    view.landing = landing.map_err(error_text)?;
    view.standing = WorkStanding::load(&toolbox.projects, &task).await.map_err(error_text)?;
    Ok(ToolAnswer::json(&view))
}
