//! `baton task …`

use std::fmt::Write;
use std::path::Path;

use baton_core::attempt::AttemptResult;
use baton_core::command::Command;
use baton_core::id::{AttemptId, BadId, SessionId, TaskId};
use baton_core::recycle::Depth;
use baton_core::state::Queue;
use baton_core::task::{Purpose, TaskSpec};
use baton_core::text::{Role, nearest};
use baton_engine::runner::LOG_FILE;
use baton_engine::view::{TaskSummary, TaskView};
use serde_json::json;

use crate::cli::TaskCommand;
use crate::commands::recipe;
use crate::fault::Fault;
use crate::office::Office;
use crate::output;

pub async fn run(office: &Office, command: TaskCommand) -> Result<String, Fault> {
    match command {
        TaskCommand::Add { title, description, task_type, priority, depends_on, session, recipe } => {
            let title = Office::said(&title, "the title")?;
            let session: SessionId = session.parse().map_err(|error: BadId| {
                Fault::usage(error.to_string(), "choose another name with --session")
            })?;
            let recipe = recipe.map(|id| recipe::find(office, &id)).transpose()?;
            let mut waits_on = Vec::new();
            for task in &depends_on {
                waits_on.push(office.task(task).await?);
            }
            let added = office.desk.add_task(&waits_on, office.actor(), |id, created_at| TaskSpec {
                id,
                session_id: session.clone(),
                project_id: None,
                task_type,
                title: title.clone(),
                description: description.clone(),
                priority,
                role: Role::implement(),
                recipe: recipe.as_ref().map(|recipe| recipe.id().clone()),
                purpose: Purpose::Work,
                depth: Depth::Original,
                created_at,
            });
            let id = added.await?.id();
            show(office, id, &format!("{id} is in the queue.\n")).await
        }
        TaskCommand::List { queue, limit, cursor } => {
            list(office, queue.as_deref(), limit, cursor.as_deref()).await
        }
        TaskCommand::Show { task } => {
            let view = TaskView::load(&office.desk, office.task(&task).await?).await?;
            if office.is_json { output::json(&view) } else { Ok(description(&view)) }
        }
        TaskCommand::Ready { limit } => {
            let ready = office.desk.ready(limit).await?;
            let ready: Vec<TaskSummary> = ready.iter().map(TaskSummary::of).collect();
            let nothing = "No tasks available. Add one: baton task add TITLE\n";
            if office.is_json { output::json(&json!({ "tasks": ready })) } else { Ok(rows(&ready, nothing)) }
        }
        TaskCommand::Reply { task, text } => {
            let id = office.task(&task).await?;
            let answer = Office::said(&text, "the reply")?;
            office.desk.reply(id, answer, office.answered_by(), office.actor()).await?;
            show(office, id, &format!("{id} goes on with your answer.\n")).await
        }
        TaskCommand::Cancel { task, reason } => {
            let id = office.task(&task).await?;
            let reason = reason.map(|reason| Office::said(&reason, "the reason")).transpose()?;
            office.desk.apply(id, Command::Cancel { reason }, office.actor()).await?;
            show(office, id, &format!("{id} is cancelled; what it wrote is kept.\n")).await
        }
        TaskCommand::Retry { task } => {
            let id = office.task(&task).await?;
            office.desk.apply(id, Command::Retry, office.actor()).await?;
            show(office, id, &format!("{id} is in the queue again.\n")).await
        }
        TaskCommand::Log { task } => log(office, office.task(&task).await?).await,
        TaskCommand::Diff { task } => diff(office, office.task(&task).await?).await,
        TaskCommand::Restore { attempt, into } => restore(office, &attempt, &into).await,
    }
}

/// The log of the last attempt that left one: one file for each time an agent was put to work in it.
async fn log(office: &Office, id: TaskId) -> Result<String, Fault> {
    let engine = office.engine(None).await?;
    let view = TaskView::load(&office.desk, id).await?;
    for record in view.attempts.iter().rev() {
        let folder = engine.shop.attempt_folder(record.attempt.id);
        let mut logs: Vec<(usize, String)> = std::fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.starts_with(LOG_FILE))
            .map(|name| (name.len(), name))
            .collect();
        // The first has no number, and the tenth comes after the ninth.
        logs.sort();
        let texts: Vec<String> =
            logs.iter().filter_map(|(_, name)| std::fs::read_to_string(folder.join(name)).ok()).collect();
        if !texts.is_empty() {
            return Ok(texts.concat());
        }
    }
    let why = if view.attempts.is_empty() {
        "no attempt at it has run yet"
    } else {
        "its attempts ran on another machine, or their logs were removed by [retention]"
    };
    Ok(format!("{id} has no log here: {why}.\n"))
}

async fn diff(office: &Office, id: TaskId) -> Result<String, Fault> {
    let engine = office.engine(None).await?;
    let task = office.desk.task(id).await?.value;
    Ok(engine.shop.diff(&task).await?)
}

async fn restore(office: &Office, attempt: &str, into: &Path) -> Result<String, Fault> {
    let attempt: AttemptId = attempt.parse().map_err(|error: BadId| {
        Fault::usage(error.to_string(), "see the attempts: baton task show TASK --json")
    })?;
    let engine = office.engine(None).await?;
    let restored = engine.shop.restore(attempt, into).await?;
    Ok(format!("{} file(s) of {attempt} are in {}\n", restored.files, restored.folder.display()))
}

/// The task as JSON, or a sentence about what was done.
pub async fn show(office: &Office, id: TaskId, sentence: &str) -> Result<String, Fault> {
    if office.is_json {
        output::json(&TaskView::load(&office.desk, id).await?)
    } else {
        Ok(sentence.to_owned())
    }
}

async fn list(
    office: &Office,
    queue: Option<&str>,
    limit: u32,
    cursor: Option<&str>,
) -> Result<String, Fault> {
    let queue = queue.map(read_queue).transpose()?;
    let page = office.desk.list(queue, cursor, limit).await.map_err(Fault::from)?;
    let tasks: Vec<TaskSummary> = page.items.iter().map(TaskSummary::of).collect();
    let next = page.next.map(|cursor| cursor.to_string());
    if office.is_json {
        return output::json(&json!({ "tasks": tasks, "next_cursor": next }));
    }
    let mut text = rows(&tasks, "No tasks here. Add one: baton task add TITLE\n");
    if let Some(next) = next {
        let _ = writeln!(text, "\nMore: baton task list --cursor {next}");
    }
    Ok(text)
}

const QUEUES: [Queue; 10] = [
    Queue::Incoming,
    Queue::Breakdown,
    Queue::Claimed,
    Queue::NeedsContinuation,
    Queue::Escalated,
    Queue::Provisional,
    Queue::Recycled,
    Queue::Done,
    Queue::Failed,
    Queue::Rejected,
];

fn read_queue(text: &str) -> Result<Queue, Fault> {
    QUEUES.into_iter().find(|queue| queue.as_str() == text).ok_or_else(|| {
        let names = QUEUES.map(Queue::as_str);
        let hint = match nearest(text, names) {
            Some(name) => format!("did you mean {name}?"),
            None => format!("the queues are {}", names.join(", ")),
        };
        Fault::usage(format!("there is no queue \"{text}\""), hint)
    })
}

fn rows(tasks: &[TaskSummary], nothing: &str) -> String {
    if tasks.is_empty() {
        return nothing.to_owned();
    }
    let rows: Vec<[String; 5]> = tasks
        .iter()
        .map(|task| {
            [
                task.task_id.to_string(),
                task.queue.as_str().to_owned(),
                task.priority.as_str().to_owned(),
                if task.show_reply_ui { "asks you".to_owned() } else { String::new() },
                task.title.to_string(),
            ]
        })
        .collect();
    output::table(["ID", "QUEUE", "PRIO", "", "TITLE"], &rows)
}

fn description(view: &TaskView) -> String {
    let summary = &view.summary;
    let mut text = format!(
        "{}  {}\n{} · {} · {} · {}\n",
        summary.task_id,
        summary.title,
        summary.queue.as_str(),
        summary.status.as_str(),
        summary.task_type,
        summary.priority.as_str()
    );
    if !view.description.trim().is_empty() {
        let _ = writeln!(text, "\n{}", view.description.trim_end());
    }
    if let Some(question) = &summary.question {
        let _ = writeln!(text, "\nIt asks ({}):\n{}", question.id, question.text());
        let _ = writeln!(text, "\nAnswer: baton answer {} TEXT", question.id);
    }
    if !view.waiting_on.is_empty() {
        let names: Vec<String> = view.waiting_on.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "\nWaiting on {}", names.join(", "));
    }
    if !view.dead_edges.is_empty() {
        text.push_str("\nIt can never start; cancel it, or add it again without these:\n");
        for edge in &view.dead_edges {
            let _ = writeln!(text, "  {}", edge.reason);
        }
    }
    if let (Some(reported), Some(verified)) = (&view.reported, &view.verified) {
        let _ = writeln!(text, "\nReported: {:?}", reported.result.kind());
        // What an agent that never came to work wrote, or its provider said, is here and nowhere else.
        if let AttemptResult::Error { message, .. } = &reported.result {
            let _ = writeln!(text, "{}", message.trim_end());
        }
        let _ = writeln!(
            text,
            "Verified: {} commit(s), {} of {} turns",
            verified.commits, verified.turns, verified.turns_max
        );
    }
    if let Some(output) = view.output.as_deref().filter(|output| !output.trim().is_empty()) {
        let _ = writeln!(text, "\nOutput:\n{}", output.trim_end());
    }
    text
}
