//! `baton breakdown …`

use std::fmt::Write;
use std::io::Read;
use std::path::Path;

use baton_core::base::id::TaskId;
use baton_core::recycle::plan::{Plan, PlanErrors};
use baton_core::recycle::plan_record::PlanRecord;
use baton_core::task::state::QueueName;
use baton_engine::reports::view::{TaskSummary, TaskView};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::breakdowns::BreakdownCommand;
use crate::context::CliContext;
use crate::context::api::{Api, ListRequest};
use crate::documents::plan;
use crate::error::CliError;
use crate::output;
use crate::terminal::editor;

/// Most breakdowns to list.
const BREAKDOWNS_MAX: u32 = 200;

/// The API's answer.
#[derive(Deserialize)]
struct BreakdownResponse {
    breakdown: TaskView,
    plan: Option<PlanRecord>,
}

impl BreakdownResponse {
    fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref().map(|record| &record.plan)
    }
}

pub(crate) async fn run(api: &Api, command: BreakdownCommand) -> Result<String, CliError> {
    match command {
        BreakdownCommand::List => list(api).await,
        BreakdownCommand::Show { task } => {
            let id = api.task_id(&task).await?;
            let found = load(api, id).await?;
            let (view, plan) = (&found.breakdown, found.plan());
            if api.is_json {
                return output::json(&json!({ "breakdown": view, "plan": plan }));
            }
            let mut text = format!("{}  {}\n{}\n", id, view.summary.title, view.state.label());
            match plan {
                Some(plan) => {
                    let _ = write!(text, "\n{plan}");
                }
                None => text.push_str("\nNo plan yet.\n"),
            }
            Ok(text)
        }
        BreakdownCommand::Run { task } => {
            let id = api.task_id(&task).await?;
            let _: Value = api.post(&format!("/api/breakdowns/{id}/run"), &json!({})).await?;
            api.confirm(id, &format!("Released {id}; an agent will plan it.\n")).await
        }
        BreakdownCommand::Edit { task, file } => {
            let id = api.task_id(&task).await?;
            let plan = edit(api, id, file.as_deref()).await?;
            let next = format!("Approve it: baton breakdown approve {id}\n");
            if api.is_json { output::json(&plan) } else { Ok(format!("\n{plan}\n{next}")) }
        }
        BreakdownCommand::Approve { task } => {
            let id = api.task_id(&task).await?;
            let approved: Value = api.post(&format!("/api/breakdowns/{id}/approve"), &json!({})).await?;
            if api.is_json {
                return output::json(&json!({ "breakdown": id, "subtasks": approved["subtasks"] }));
            }
            let subtasks = approved["subtasks"].as_array().into_iter().flatten();
            let names: Vec<&str> = subtasks.filter_map(Value::as_str).collect();
            Ok(format!("Approved. New tasks: {}\n", names.join(", ")))
        }
        BreakdownCommand::Reject { task, reason } => {
            let reason = CliContext::non_blank(&reason, "the reason")?;
            let id = api.task_id(&task).await?;
            let path = format!("/api/breakdowns/{id}/reject");
            let sent: Value = api.post(&path, &json!({ "reason": reason })).await?;
            let next = match sent["queue"].as_str() {
                Some("escalated") => {
                    format!("It was rejected too often; Baton asks you how to go on: baton questions {id}")
                }
                _ => format!(
                    "The next planner gets the reason, and starts by itself unless your settings say [recycle] plan = \"person\"; \
                     then: baton breakdown run {id}"
                ),
            };
            api.confirm(id, &format!("Rejected the plan of {id}. {next}\n")).await
        }
    }
}

async fn load(api: &Api, id: TaskId) -> Result<BreakdownResponse, CliError> {
    api.get(&format!("/api/breakdowns/{id}")).await
}

async fn list(api: &Api) -> Result<String, CliError> {
    let mut breakdowns: Vec<TaskSummary> = Vec::new();
    for queue in [QueueName::Escalated, QueueName::Provisional, QueueName::Breakdown, QueueName::Claimed] {
        let query = [("queue", queue.as_str())];
        let list = ListRequest { path: "/api/breakdowns", name: "breakdowns", query: &query };
        breakdowns.extend(api.list(&list, BREAKDOWNS_MAX, None).await?.0);
    }
    if api.is_json {
        return output::json(&json!({ "breakdowns": breakdowns }));
    }
    if breakdowns.is_empty() {
        return Ok("No breakdowns.\n".to_owned());
    }
    let rows: Vec<[String; 3]> = breakdowns
        .iter()
        .map(|task| {
            let waits_for = match task.queue {
                QueueName::Provisional => "your approval",
                _ if task.show_reply_ui => "your answer",
                QueueName::Claimed => "its planner, at work",
                _ => "a plan",
            };
            [task.task_id.to_string(), waits_for.to_owned(), task.title.to_string()]
        })
        .collect();
    Ok(output::table(["ID", "WAITS FOR", "TITLE"], &rows))
}

/// Takes a plan from a file, standard input or the editor. An invalid one is kept in the file that the error names.
async fn edit(api: &Api, id: TaskId, file: Option<&Path>) -> Result<Plan, CliError> {
    let current = load(api, id).await?;
    let kept = api.place.state_dir.join("edits").join(format!("{id}.yml"));
    let (path, text) = match file {
        Some(file) if file == Path::new("-") => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map_err(|error| unreadable(file, &error))?;
            editor::save(&kept, &text)?;
            (kept.clone(), text)
        }
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
            (file.to_owned(), text)
        }
        None => {
            // Continue an edit that failed before.
            if !kept.exists() {
                let title = current.breakdown.summary.title.as_str();
                editor::save(&kept, &plan::write(id, title, current.plan()))?;
            }
            (kept.clone(), editor::edit(&kept, "name a file with the plan, or - for standard input")?)
        }
    };
    let again = format!("fix it and submit it again: baton breakdown edit {id} {}", path.display());
    let place = path.display();
    let draft = plan::parse(&text).map_err(|bad| {
        CliError::usage(format!("{place}:{}:{}: {}", bad.line, bad.column, bad.message), &again)
    })?;
    // Checked here too, so that errors name the file.
    Plan::check(draft.clone()).map_err(|faults| {
        CliError::usage(format!("{place} is not a valid plan:\n{}", PlanErrors(faults)), &again)
    })?;
    let taken: BreakdownResponse = api.patch(&format!("/api/breakdowns/{id}"), &draft).await?;
    // It is stored now; the file may not exist.
    let _ = std::fs::remove_file(kept);
    taken.plan.map(|record| record.plan).ok_or_else(|| CliError {
        message: format!("the plan of {id} was removed"),
        hint: format!("show it: baton breakdown show {id}"),
        code: crate::error::FAILED,
        reason: None,
    })
}

fn unreadable(file: &Path, error: &std::io::Error) -> CliError {
    let hint = "name a file with a plan, or - for standard input";
    CliError::usage(format!("cannot read {}: {error}", file.display()), hint)
}
