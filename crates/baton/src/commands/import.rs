//! `baton import`: tasks from other tools.

use std::collections::HashMap;
use std::fmt::Write;

use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::records::project::Project;
use baton_engine::base::error::EngineError;
use baton_engine::import::{Import, Imported};
use serde_json::json;

use crate::cli::transfer;
use crate::context::CliContext;
use crate::context::api::Api;
use crate::error::CliError;
use crate::output;

/// Most tasks a dry run lists.
const SHOWN_MAX: usize = 200;
/// Most lines about skipped items.
const LEFT_OUT_SHOWN_MAX: usize = 20;

pub(crate) async fn run(api: &Api, args: transfer::ImportArgs) -> Result<String, CliError> {
    let source = args.from.source();
    let found = source.read(&args.path).map_err(EngineError::from)?;
    let import = Import::new(found);
    let context = api.context().await?;
    let project = match &args.project {
        Some(text) => Some(context.tasks.project(project_id(text)?).await?.value),
        None => None,
    };
    let session = match &args.session {
        Some(text) => CliContext::parse_session_id(text)?,
        None => default_session(project.as_ref(), source.as_str())?,
    };
    let printed = if args.dry_run {
        let known = import.find_known(&context.tasks).await?;
        if api.is_json {
            output::json(&preview(&import, &known))
        } else {
            Ok(render_preview(&import, &known))
        }
    } else {
        let (progress, total) = (context.progress.clone(), import.items.len() as u64);
        let done = import
            .write(&context.tasks, &session, project.as_ref(), &context.actor(), |count| {
                progress.at("Importing", count as u64, total);
            })
            .await;
        context.progress.end();
        let done = done?;
        if api.is_json {
            output::json(&result(&import, &done, &session))
        } else {
            Ok(render_result(&import, &done))
        }
    };
    if api.is_served() {
        context.close().await?;
    }
    printed
}

pub(crate) fn project_id(text: &str) -> Result<ProjectId, CliError> {
    let whole = if text.starts_with(ProjectId::PREFIX) {
        text.to_owned()
    } else {
        format!("{}{text}", ProjectId::PREFIX)
    };
    whole.parse().map_err(|error: baton_core::base::id::InvalidId| {
        CliError::usage(error.to_string(), "list projects: baton project list")
    })
}

fn default_session(project: Option<&Project>, name: &str) -> Result<SessionId, CliError> {
    match project {
        Some(project) => Ok(SessionId::for_project(project.id)),
        None => CliContext::parse_session_id(&format!("import-{name}")),
    }
}

fn preview(import: &Import, known: &HashMap<String, TaskId>) -> serde_json::Value {
    let tasks: Vec<_> = import
        .items
        .iter()
        .map(|item| {
            json!({
                "name": item.name,
                "title": item.title,
                "arrives": item.arrival.as_str(),
                "priority": item.priority,
                "waits_on": item.waits_on,
                "task_id": known.get(&item.name),
            })
        })
        .collect();
    json!({ "dry_run": true, "tasks": tasks, "left_out": import.left_out, "dropped_dependencies": dropped(import) })
}

fn dropped(import: &Import) -> Vec<String> {
    import.dropped.iter().map(ToString::to_string).collect()
}

fn render_preview(import: &Import, known: &HashMap<String, TaskId>) -> String {
    let rows: Vec<[String; 5]> = import
        .items
        .iter()
        .take(SHOWN_MAX)
        .map(|item| {
            let arrives = known
                .get(&item.name)
                .map_or_else(|| item.arrival.as_str().to_owned(), |id| format!("is {id}"));
            [
                item.name.clone(),
                arrives,
                item.priority.to_string(),
                item.waits_on.join(" "),
                item.title.clone(),
            ]
        })
        .collect();
    let mut text = output::table(["NAME", "ARRIVES", "PRIO", "WAITS ON", "TITLE"], &rows);
    if import.items.len() > SHOWN_MAX {
        let _ = writeln!(text, "… and {} more; --json lists all", import.items.len() - SHOWN_MAX);
    }
    let fresh = import.items.len() - known.len();
    let _ = writeln!(text, "\n{fresh} new, {} already imported. Nothing was changed.", known.len());
    text + &left_out(import)
}

fn result(import: &Import, done: &[Imported], session: &SessionId) -> serde_json::Value {
    let tasks: Vec<_> = done
        .iter()
        .map(|item| json!({ "name": item.name, "task_id": item.task, "is_new": item.is_new }))
        .collect();
    json!({
        "imported": done.iter().filter(|item| item.is_new).count(),
        "session_id": session,
        "tasks": tasks,
        "left_out": import.left_out,
        "dropped_dependencies": dropped(import),
    })
}

fn render_result(import: &Import, done: &[Imported]) -> String {
    let fresh = done.iter().filter(|item| item.is_new).count();
    let mut text = format!("Imported {fresh}; {} already there.\n", done.len() - fresh);
    text.push_str(&left_out(import));
    if fresh > 0 {
        text.push_str("List them: baton task list. Ready to start: baton task ready.\n");
    }
    text
}

/// What could not be imported, one line each.
fn left_out(import: &Import) -> String {
    let dropped = import.dropped.iter().map(|edge| format!("{edge}; dependency skipped"));
    let lines: Vec<String> = import.left_out.iter().cloned().chain(dropped).collect();
    let mut text = String::new();
    for line in lines.iter().take(LEFT_OUT_SHOWN_MAX) {
        let _ = writeln!(text, "  {line}");
    }
    if lines.len() > LEFT_OUT_SHOWN_MAX {
        let _ = writeln!(text, "  … and {} more; --json lists all", lines.len() - LEFT_OUT_SHOWN_MAX);
    }
    text
}
