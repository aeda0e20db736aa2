//! `baton import`: tasks of other tools.

use std::collections::HashMap;
use std::fmt::Write;

use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::records::project::Project;
use baton_engine::base::error::EngineError;
use baton_engine::import::{Import, Imported};
use serde_json::json;

use crate::api::Api;
use crate::cli::keeping;
use crate::fault::Fault;
use crate::office::Office;
use crate::output;

/// Tasks a dry run shows one by one.
const SHOWN_MAX: usize = 200;
/// Lines about what was left out.
const LEFT_OUT_SHOWN_MAX: usize = 20;

pub async fn run(api: &Api, asked: keeping::Import) -> Result<String, Fault> {
    let source = asked.from.source();
    let found = source.read(&asked.path).map_err(EngineError::from)?;
    let import = Import::of(found);
    let office = api.office().await?;
    let project = match &asked.project {
        Some(text) => Some(office.tasks.project(project_id(text)?).await?.value),
        None => None,
    };
    let session = match &asked.session {
        Some(text) => Office::session(text)?,
        None => default_session(project.as_ref(), source.as_str())?,
    };
    let printed = if asked.dry_run {
        let known = import.known(&office.tasks).await?;
        if api.is_json { output::json(&preview(&import, &known)) } else { Ok(told(&import, &known)) }
    } else {
        let (progress, total) = (office.progress.clone(), import.items.len() as u64);
        let done = import
            .write(&office.tasks, &session, project.as_ref(), &office.actor(), |count| {
                progress.at("Importing", count as u64, total);
            })
            .await;
        office.progress.end();
        let done = done?;
        if api.is_json {
            output::json(&result(&import, &done, &session))
        } else {
            Ok(summed_up(&import, &done))
        }
    };
    if api.is_served() {
        office.close().await?;
    }
    printed
}

pub fn project_id(text: &str) -> Result<ProjectId, Fault> {
    let whole = if text.starts_with(ProjectId::PREFIX) {
        text.to_owned()
    } else {
        format!("{}{text}", ProjectId::PREFIX)
    };
    whole.parse().map_err(|error: baton_core::base::id::BadId| {
        Fault::usage(error.to_string(), "see what there is: baton project list")
    })
}

fn default_session(project: Option<&Project>, name: &str) -> Result<SessionId, Fault> {
    match project {
        Some(project) => Ok(SessionId::of_project(project.id)),
        None => Office::session(&format!("import-{name}")),
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

fn told(import: &Import, known: &HashMap<String, TaskId>) -> String {
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
        let _ = writeln!(text, "… and {} more; --json lists them all", import.items.len() - SHOWN_MAX);
    }
    let fresh = import.items.len() - known.len();
    let _ = writeln!(text, "\n{fresh} would be new, {} are here already. Nothing was written.", known.len());
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

fn summed_up(import: &Import, done: &[Imported]) -> String {
    let fresh = done.iter().filter(|item| item.is_new).count();
    let mut text = format!("{fresh} imported, {} were here already.\n", done.len() - fresh);
    text.push_str(&left_out(import));
    if fresh > 0 {
        text.push_str("See them: baton task list. What can start now: baton task ready.\n");
    }
    text
}

/// What could not be kept, each in a sentence.
fn left_out(import: &Import) -> String {
    let dropped = import.dropped.iter().map(|edge| format!("{edge}; that dependency is left out"));
    let lines: Vec<String> = import.left_out.iter().cloned().chain(dropped).collect();
    let mut text = String::new();
    for line in lines.iter().take(LEFT_OUT_SHOWN_MAX) {
        let _ = writeln!(text, "  {line}");
    }
    if lines.len() > LEFT_OUT_SHOWN_MAX {
        let _ = writeln!(
            text,
            "  … and {} more of this kind; --json lists them all",
            lines.len() - LEFT_OUT_SHOWN_MAX
        );
    }
    text
}
