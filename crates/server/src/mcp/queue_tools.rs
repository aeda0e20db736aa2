//! The queue: `get_next_task`, `list_tasks`, `get_task`, `add_task`, `update_task`, `set_task_status`.

use baton_core::base::id::{SessionId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::records::event::EventBody;
use baton_core::task::revision::Revision;
use baton_core::task::state::TaskStatus;
use baton_core::task::{Task, TaskSpec};
use baton_core::transition::command::Command;
use baton_engine::query::TaskFilter;
use baton_engine::reports::view::{TaskSummary, TaskView};
use serde_json::json;

use super::arguments::Arguments;
use super::toolbox::refused;
use super::{Caller, ToolAnswer, Toolbox};
use crate::limits::TITLE_CHARS_MAX;

/// Tasks of one list. A model that wants more narrows its search.
const LIST_MAX: u32 = 50;
/// What one task may wait on.
const DEPENDENCIES_MAX: usize = 200;
/// Where tasks go that a person's own client adds.
const SESSION_OF_CLIENT: &str = "mcp";
/// Events of a task looked through for who made it: its first is its making.
const EVENTS_LOOKED_AT: u32 = 1;

pub async fn next(toolbox: &Toolbox, caller: &Caller) -> Result<ToolAnswer, String> {
    let own = match caller {
        Caller::Attempt { task, .. } => Some(*task),
        Caller::Person { .. } => None,
    };
    let next = match own {
        Some(task) => Some(task),
        None => toolbox.tasks.ready(1).await.map_err(refused)?.first().map(|stored| stored.value.id()),
    };
    match next {
        Some(task) => view(toolbox, task).await,
        None => Ok(ToolAnswer::good("No tasks available.")),
    }
}

pub async fn list(toolbox: &Toolbox, arguments: &Arguments) -> Result<ToolAnswer, String> {
    let filter = TaskFilter {
        status: arguments.word::<TaskStatus>("status")?,
        title: arguments.text("title")?.map(str::to_owned),
        ..TaskFilter::default()
    };
    let page = toolbox.tasks.store.tasks(&filter, None, LIST_MAX).await.map_err(|error| error.to_string())?;
    let tasks: Vec<TaskSummary> = page.items.iter().map(TaskSummary::of).collect();
    let more = page.next.is_some().then_some("there are more; narrow the search by status or title");
    Ok(ToolAnswer::json(&json!({ "tasks": tasks, "more": more })))
}

pub async fn get(toolbox: &Toolbox, arguments: &Arguments) -> Result<ToolAnswer, String> {
    let task = named(toolbox, arguments).await?;
    view(toolbox, task).await
}

pub async fn add(toolbox: &Toolbox, caller: &Caller, arguments: &Arguments) -> Result<ToolAnswer, String> {
    let title = short(arguments.said("title")?)?;
    let description = arguments.text("description")?.unwrap_or_default();
    let priority = arguments.parsed::<Priority>("priority")?.unwrap_or_default();
    let task_type = arguments.parsed::<TaskType>("task_type")?;
    let task_type = task_type.unwrap_or_else(|| TaskType::detect(&format!("{title}\n{description}")));
    let wanted = arguments.list("depends_on")?;
    if wanted.len() > DEPENDENCIES_MAX {
        return Err(format!("a task can wait on {DEPENDENCIES_MAX} others at most"));
    }
    let mut depends_on = Vec::new();
    for text in wanted {
        depends_on.push(toolbox.tasks.find_task(&text).await.map_err(refused)?);
    }
    let (session_id, project_id) = home(toolbox, caller).await?;
    let spec = |id, created_at| TaskSpec {
        project_id,
        description: description.to_owned(),
        priority,
        ..TaskSpec::new(id, session_id.clone(), task_type, title.clone(), created_at)
    };
    let task = toolbox.tasks.add_task(&depends_on, caller.actor(), spec).await.map_err(refused)?;
    view(toolbox, task.id()).await
}

fn short(title: NonBlank) -> Result<NonBlank, String> {
    if title.as_str().chars().count() > TITLE_CHARS_MAX {
        return Err(format!(
            "`title` is longer than {TITLE_CHARS_MAX} characters; the rest belongs into the description"
        ));
    }
    Ok(title)
}

pub async fn update(toolbox: &Toolbox, caller: &Caller, arguments: &Arguments) -> Result<ToolAnswer, String> {
    let id = named(toolbox, arguments).await?;
    let revision = Revision {
        title: arguments.maybe_said("title")?.map(short).transpose()?,
        description: arguments.text("description")?.map(str::to_owned),
        priority: arguments.parsed::<Priority>("priority")?,
        after: Vec::new(),
    };
    if revision.is_empty() {
        return Err("nothing is to be changed; give a `title`, a `description` or a `priority`".to_owned());
    }
    may_touch(toolbox, caller, id).await?;
    toolbox.tasks.apply(id, Command::Revise { revision }, caller.actor()).await.map_err(refused)?;
    view(toolbox, id).await
}

/// The session and the project a new task belongs to: those of the attempt that adds it.
async fn home(
    toolbox: &Toolbox,
    caller: &Caller,
) -> Result<(SessionId, Option<baton_core::base::id::ProjectId>), String> {
    match caller {
        Caller::Attempt { task, .. } => {
            let task = toolbox.tasks.task(*task).await.map_err(refused)?.value;
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

pub async fn set_status(
    toolbox: &Toolbox,
    caller: &Caller,
    arguments: &Arguments,
) -> Result<ToolAnswer, String> {
    let id = named(toolbox, arguments).await?;
    let reason = arguments.maybe_said("reason")?;
    let wanted = arguments.word::<TaskStatus>("status")?.ok_or("the argument `status` is missing")?;
    let command = match wanted {
        TaskStatus::Cancelled => Command::Cancel { reason },
        TaskStatus::Queued => Command::Retry,
        other => {
            return Err(format!(
                "a task cannot be set to {}; CANCELLED gives it up, QUEUED tries it again. The rest follows from its work",
                other.as_str()
            ));
        }
    };
    may_touch(toolbox, caller, id).await?;
    toolbox.tasks.apply(id, command, caller.actor()).await.map_err(refused)?;
    view(toolbox, id).await
}

/// An attempt may steer what it added itself and nothing else; not even its own task, which ends with its report.
async fn may_touch(toolbox: &Toolbox, caller: &Caller, id: TaskId) -> Result<(), String> {
    let Caller::Attempt { task: own, .. } = caller else { return Ok(()) };
    if *own == id {
        return Err("this is your own task; end it with report_outcome".to_owned());
    }
    let task: Task = toolbox.tasks.task(id).await.map_err(refused)?.value;
    let own: Task = toolbox.tasks.task(*own).await.map_err(refused)?.value;
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
        Err(format!("{id} was not added by an agent of this conversation; ask the human about it"))
    }
}

async fn named(toolbox: &Toolbox, arguments: &Arguments) -> Result<TaskId, String> {
    let text = arguments.said("id")?;
    toolbox.tasks.find_task(text.as_str()).await.map_err(refused)
}

async fn view(toolbox: &Toolbox, id: TaskId) -> Result<ToolAnswer, String> {
    let view = TaskView::load(&toolbox.tasks, id).await.map_err(refused)?;
    Ok(ToolAnswer::json(&view))
}
