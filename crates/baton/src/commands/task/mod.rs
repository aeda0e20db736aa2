//! `baton task …`

mod check_output;
pub(crate) mod edit;
mod log_follow;
pub(crate) mod show;
mod start_time;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use baton_core::base::id::{AttemptId, InvalidId, SessionId, TaskId};
use baton_core::base::text::{InvalidName, RecipeId, nearest};
use baton_core::base::words::pluralize;
use baton_core::task::state::{QueueName, ReplacedBy, StateName, TaskState, TaskStatus};
use baton_engine::reports::view::{ReadyTask, TaskSummary, TaskView};
use baton_server::client::with_query;
use serde_json::{Value, json};

use crate::cli::tasks::TaskCommand;
use crate::commands::import::project_id;
use crate::commands::question::status_after;
use crate::commands::task::show::render;
use crate::context::CliContext;
use crate::context::api::{Api, ListRequest};
use crate::error::CliError;
use crate::output;

pub(crate) async fn run(api: &Api, command: TaskCommand) -> Result<String, CliError> {
    match command {
        TaskCommand::Add {
            title,
            needs,
            project,
            description,
            task_type,
            priority,
            depends_on,
            session,
            recipe,
            verify,
            accept_when,
            at,
            within,
            time_zone,
            agent,
            model,
            no_fallback,
        } => {
            let start_at = start_time::parse(at.as_deref(), within.as_deref(), time_zone.as_deref())?;
            let title = CliContext::non_blank(&title, "the title")?;
            let description = text_or_stdin(description)?;
            let project = project.map(|id| project_id(&id)).transpose()?;
            let session = session.or_else(|| project.is_none().then(|| "cli".to_owned()));
            let session =
                session.map(|name| name.parse::<SessionId>()).transpose().map_err(|error: InvalidId| {
                    CliError::usage(error.to_string(), "choose another session name with --session")
                })?;
            let recipe = recipe.map(|id| recipe_id(&id)).transpose()?;
            let mut waits_on = Vec::new();
            for task in &depends_on {
                waits_on.push(api.task_id(task).await?);
            }
            let new = json!({
                "title": title,
                "description": description,
                "task_type": task_type,
                "priority": priority,
                "depends_on": waits_on,
                "session_id": session,
                "recipe": recipe,
                "needs": needs,
                "verify": verify,
                "accept_when": accept_when,
                "start_at": start_at,
                "agent": agent,
                "model": model,
                "no_fallback": no_fallback,
                "project_id": project,
            });
            let starts = start_at.map(|at| format!(" It starts at {at}.")).unwrap_or_default();
            add(api, &new, &starts).await
        }
        TaskCommand::List { queue, limit, cursor } => {
            list(api, queue.as_deref(), limit, cursor.as_deref()).await
        }
        TaskCommand::Show { task, checks } => show(api, &task, checks).await,
        TaskCommand::Edit(asked) => edit::run(api, asked).await,
        TaskCommand::Ready { limit } => ready(api, limit).await,
        TaskCommand::Reply { task, text } => {
            let answer = CliContext::non_blank(&text, "the reply")?;
            let id = post_decision(api, &task, "reply", &json!({ "reply": answer })).await?;
            let queue = api.task(id).await?.summary.queue;
            let status = status_after(api, id, queue).await?;
            api.confirm(id, &format!("Answered; {id} {status}.\n")).await
        }
        TaskCommand::Cancel { task, reason } => {
            let reason = reason.map(|reason| CliContext::non_blank(&reason, "the reason")).transpose()?;
            let id = post_decision(api, &task, "cancel", &json!({ "reason": reason })).await?;
            api.confirm(id, &format!("Cancelled {id}; its work is kept.\n")).await
        }
        TaskCommand::Retry { task } => {
            let id = post_decision(api, &task, "retry", &json!({})).await?;
            api.confirm(id, &format!("Requeued {id}.\n")).await
        }
        TaskCommand::Hold { task, reason } => {
            let reason = reason.map(|reason| CliContext::non_blank(&reason, "the reason")).transpose()?;
            let id = post_decision(api, &task, "hold", &json!({ "reason": reason })).await?;
            api.confirm(id, &format!("Held {id}. Release it: baton task release {id}\n")).await
        }
        TaskCommand::Release { task } => {
            let id = post_decision(api, &task, "release", &json!({})).await?;
            api.confirm(id, &format!("Released {id}.\n")).await
        }
        TaskCommand::Log { task, follow: false } => log(api, api.task_id(&task).await?).await,
        TaskCommand::Log { task, follow: true } => log_follow::run(api, api.task_id(&task).await?).await,
        TaskCommand::Diff { task } => diff(api, api.task_id(&task).await?).await,
        TaskCommand::Restore { attempt, into } => restore(api, &attempt, &into).await,
    }
}

async fn show(api: &Api, task: &str, has_checks: bool) -> Result<String, CliError> {
    let view = api.task(api.task_id(task).await?).await?;
    if api.is_json {
        return output::json(&view);
    }
    let printed = if has_checks { check_output::render(&view) } else { String::new() };
    Ok(render(&view) + &cancelled_plan(api, &view).await? + &printed)
}

/// What to do about a recycled task that nobody plans any more.
async fn cancelled_plan(api: &Api, view: &TaskView) -> Result<String, CliError> {
    let TaskState::Recycled { replaced_by: ReplacedBy::Planning(plan) } = &view.state else {
        return Ok(String::new());
    };
    if api.task(*plan).await?.summary.queue != QueueName::Rejected {
        return Ok(String::new());
    }
    let id = view.summary.task_id;
    Ok(format!(
        "{plan} was cancelled, so nobody plans them. Plan it after all: baton task retry {plan}; or give it up: baton task \
         cancel {id}\n"
    ))
}

async fn add(api: &Api, new: &Value, starts: &str) -> Result<String, CliError> {
    let added: TaskView = api.post("/api/tasks", new).await?;
    if api.is_json {
        return output::json(&added);
    }
    output::line(&format!("Added {}.{starts}", added.summary.task_id));
    if !api.is_served() {
        output::next("No agents are running. Start them: baton up");
    }
    Ok(String::new())
}

pub(crate) fn recipe_id(text: &str) -> Result<RecipeId, CliError> {
    text.parse()
        .map_err(|error: InvalidName| CliError::usage(error.to_string(), "list recipes: baton recipe list"))
}

/// Posts a decision about a task; returns its id.
pub(crate) async fn post_decision(
    api: &Api,
    task: &str,
    what: &str,
    body: &Value,
) -> Result<TaskId, CliError> {
    let id = api.task_id(task).await?;
    let _: Value = api.post(&format!("/api/tasks/{id}/{what}"), body).await?;
    Ok(id)
}

async fn ready(api: &Api, limit: u32) -> Result<String, CliError> {
    let mut page: Value = api.get(&with_query("/api/tasks/ready", &[("limit", &limit.to_string())])).await?;
    let ready: Vec<ReadyTask> = crate::context::api::read(page["tasks"].take())?;
    if api.is_json {
        return output::json(&json!({ "tasks": ready }));
    }
    if ready.is_empty() {
        return Ok("No tasks available. Add one: baton task add TITLE\n".to_owned());
    }
    let mark = |task: &ReadyTask| {
        let code = task.not_started.as_ref().map(|reason| reason.code.replace('_', " "));
        row(&task.summary, code.unwrap_or_default())
    };
    let mut text = output::table(HEADINGS, &ready.iter().map(mark).collect::<Vec<_>>());
    let reasons: BTreeSet<&str> =
        ready.iter().filter_map(|task| Some(task.not_started.as_ref()?.message.as_str())).collect();
    for reason in reasons {
        let _ = write!(text, "\nNot started: {reason}");
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// Joins a paged text; also returns the first page.
pub(crate) async fn fetch_all(api: &Api, path: &str) -> Result<(String, Value), CliError> {
    let mut text = String::new();
    let (mut offset, mut first) = (Some(0), None);
    while let Some(at) = offset {
        let page: Value = api.get(&with_query(path, &[("offset", &at.to_string())])).await?;
        text.push_str(page["text"].as_str().unwrap_or_default());
        offset = page["next_offset"].as_u64();
        first.get_or_insert(page);
    }
    Ok((text, first.unwrap_or_default()))
}

async fn diff(api: &Api, id: TaskId) -> Result<String, CliError> {
    let (text, mut first) = fetch_all(api, &format!("/api/tasks/{id}/diff")).await?;
    if api.is_json {
        (first["text"], first["next_offset"], first["is_cut"]) = (json!(text), Value::Null, json!(false));
        return output::json(&first);
    }
    if text.is_empty() {
        output::talk(&format!("{id} has changed nothing."));
    }
    Ok(text)
}

/// The log of the last attempt that has one.
async fn log(api: &Api, id: TaskId) -> Result<String, CliError> {
    let (text, mut first) = fetch_all(api, &format!("/api/tasks/{id}/log")).await?;
    if api.is_json {
        (first["text"], first["next_offset"]) = (json!(text), Value::Null);
        return output::json(&first);
    }
    if !first["attempt_id"].is_null() {
        return Ok(text);
    }
    let why = if api.task(id).await?.attempts.is_empty() {
        "no attempt has run yet"
    } else {
        "its attempts ran on another machine, or [retention] removed the logs"
    };
    Ok(format!("{id} has no log here: {why}.\n"))
}

/// Not through the server: the files are written here, with the permissions of this user.
async fn restore(api: &Api, attempt: &str, into: &Path) -> Result<String, CliError> {
    let attempt: AttemptId = attempt.parse().map_err(|error: InvalidId| {
        CliError::usage(error.to_string(), "list the attempts: baton task show TASK --json")
    })?;
    let context = api.context().await?;
    let engine = context.engine(None).await?;
    let restored = engine.workspace.projects.restore(attempt, into).await?;
    Ok(format!(
        "Restored {} of {attempt} to {}\n",
        pluralize(u64::from(restored.files), "file"),
        restored.folder.display()
    ))
}

async fn list(api: &Api, queue: Option<&str>, limit: u32, cursor: Option<&str>) -> Result<String, CliError> {
    let queue = queue.map(parse_queue).transpose()?;
    let query: Vec<(&str, &str)> = queue.iter().map(|queue| ("queue", queue.as_str())).collect();
    let tasks = ListRequest { path: "/api/tasks", name: "tasks", query: &query };
    let (tasks, next): (Vec<TaskSummary>, _) = api.list(&tasks, limit, cursor).await?;
    if api.is_json {
        return output::json(&json!({ "tasks": tasks, "next_cursor": next }));
    }
    let mut text = rows(&tasks, "No tasks. Add one: baton task add TITLE\n");
    if let Some(next) = next {
        let _ = writeln!(text, "\nMore: baton task list --cursor {next}");
    }
    Ok(text)
}

const QUEUES: [QueueName; 11] = [
    QueueName::Incoming,
    QueueName::Breakdown,
    QueueName::Claimed,
    QueueName::NeedsContinuation,
    QueueName::Escalated,
    QueueName::Provisional,
    QueueName::Landing,
    QueueName::Recycled,
    QueueName::Done,
    QueueName::Failed,
    QueueName::Rejected,
];

fn parse_queue(text: &str) -> Result<QueueName, CliError> {
    let is_meant = |queue: &QueueName| {
        let words = queue.label(TaskStatus::Running);
        let is_short = text == "review" && *queue == QueueName::Provisional;
        is_short || queue.as_str() == text || words.eq_ignore_ascii_case(&text.replace(['-', '_'], " "))
    };
    QUEUES.into_iter().find(is_meant).ok_or_else(|| {
        let names = QUEUES.map(QueueName::as_str);
        let hint = match nearest(text, names) {
            Some(name) => format!("did you mean {name}?"),
            None => format!("the queues are {}", names.join(", ")),
        };
        CliError::usage(format!("unknown queue \"{text}\""), hint)
    })
}

fn rows(tasks: &[TaskSummary], nothing: &str) -> String {
    if tasks.is_empty() {
        return nothing.to_owned();
    }
    let mark = |task: &TaskSummary| match task {
        task if task.waits_until.is_some() => "later",
        task if !task.needs_review.is_empty() || task.too_large.is_some() => "review",
        task if task.left_to_person.is_some() => "review",
        task if task.open_question.is_some() => "asks",
        _ => "",
    };
    let rows: Vec<[String; 5]> = tasks.iter().map(|task| row(task, mark(task).to_owned())).collect();
    output::table(HEADINGS, &rows)
}

const HEADINGS: [&str; 5] = ["ID", "STATE", "PRIO", "", "TITLE"];

/// Where it stands, in the words of the pages.
pub(crate) fn label(task: &TaskSummary) -> &'static str {
    let is_held = task.queue == QueueName::Incoming && task.held_because.is_some();
    if is_held { StateName::Held.label() } else { task.queue.label(task.status) }
}

fn row(task: &TaskSummary, mark: String) -> [String; 5] {
    [
        task.task_id.to_string(),
        label(task).to_owned(),
        task.priority.as_str().to_owned(),
        mark,
        task.title.to_string(),
    ]
}

/// The text, or what is on standard input if it is a dash.
pub(crate) fn text_or_stdin(text: String) -> Result<String, CliError> {
    if text != "-" {
        return Ok(text);
    }
    std::io::read_to_string(std::io::stdin()).map_err(|error| {
        CliError::usage(format!("cannot read standard input: {error}"), "pass the text instead of -")
    })
}
