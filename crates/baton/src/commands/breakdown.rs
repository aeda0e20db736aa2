//! `baton breakdown …`

use std::fmt::Write;
use std::io::Read;
use std::path::Path;

use baton_core::breakdown::Plan;
use baton_core::command::Command;
use baton_core::id::TaskId;
use baton_core::refusal::Refusal;
use baton_core::state::Queue;
use baton_engine::error::EngineError;
use baton_engine::view::{TaskSummary, TaskView};
use serde_json::json;

use super::task::show;
use crate::cli::BreakdownCommand;
use crate::editor;
use crate::fault::{Fault, UNREACHABLE};
use crate::office::Office;
use crate::output;
use crate::plan_text;

pub async fn run(office: &Office, command: BreakdownCommand) -> Result<String, Fault> {
    match command {
        BreakdownCommand::List => list(office).await,
        BreakdownCommand::Show { task } => {
            let id = office.task(&task).await?;
            let view = TaskView::load(&office.desk, id).await?;
            let plan = office.desk.plan(id).await?;
            if office.is_json {
                return output::json(&json!({ "breakdown": view, "plan": plan }));
            }
            let mut text = format!("{}  {}\n{}\n", id, view.summary.title, view.summary.queue.as_str());
            match plan {
                Some(plan) => text.push_str(&plan_text(&plan)),
                None => text.push_str("\nThere is no plan yet.\n"),
            }
            Ok(text)
        }
        BreakdownCommand::Run { task } => {
            let id = office.task(&task).await?;
            office.desk.apply(id, Command::Release, office.actor()).await?;
            show(office, id, &format!("{id} may be planned by an agent now.\n")).await
        }
        BreakdownCommand::Edit { task, file } => {
            let id = office.task(&task).await?;
            let plan = edit(office, id, file.as_deref()).await?;
            let next = format!("Approve it: baton breakdown approve {id}\n");
            if office.is_json { output::json(&plan) } else { Ok(plan_text(&plan) + "\n" + &next) }
        }
        BreakdownCommand::Approve { task } => {
            let id = office.task(&task).await?;
            let parts = office.desk.approve(id, office.actor()).await?;
            if office.is_json {
                return output::json(&json!({ "breakdown": id, "subtasks": parts }));
            }
            let names: Vec<String> = parts.iter().map(ToString::to_string).collect();
            Ok(format!("The plan is real now: {}\n", names.join(", ")))
        }
        BreakdownCommand::Reject { task, reason } => super::verdict::reject(office, &task, &reason).await,
    }
}

async fn list(office: &Office) -> Result<String, Fault> {
    let mut breakdowns = office.desk.list(Some(Queue::Breakdown), None, 200).await?.items;
    let planned = office.desk.list(Some(Queue::Provisional), None, 200).await?.items;
    breakdowns.extend(planned.into_iter().filter(|stored| stored.value.is_breakdown()));
    let breakdowns: Vec<TaskSummary> = breakdowns.iter().map(TaskSummary::of).collect();
    if office.is_json {
        return output::json(&json!({ "breakdowns": breakdowns }));
    }
    if breakdowns.is_empty() {
        return Ok("Nothing is being broken down.\n".to_owned());
    }
    let rows: Vec<[String; 3]> = breakdowns
        .iter()
        .map(|task| {
            let waits_for = if task.queue == Queue::Provisional { "your approval" } else { "a plan" };
            [task.task_id.to_string(), waits_for.to_owned(), task.title.to_string()]
        })
        .collect();
    Ok(output::table(["ID", "WAITS FOR", "TITLE"], &rows))
}

fn plan_text(plan: &Plan) -> String {
    let mut text = String::new();
    for (number, item) in (1..).zip(plan.items()) {
        let after: Vec<String> = item.depends_on.iter().map(ToString::to_string).collect();
        let after = if after.is_empty() { String::new() } else { format!("  (after {})", after.join(", ")) };
        let _ = write!(text, "\n{number}. {}{after}", item.title);
    }
    text + "\n"
}

/// Takes a plan from wherever it comes. A text that cannot be used is not lost: it is in the file that is named.
async fn edit(office: &Office, id: TaskId, file: Option<&Path>) -> Result<Plan, Fault> {
    let breakdown = office.desk.task(id).await?.value;
    if !breakdown.is_breakdown() {
        return Err(EngineError::from(Refusal::NotBreakdown { task: id }).into());
    }
    let kept = office.place.state_dir.join("edits").join(format!("{id}.yml"));
    let (path, text) = match file {
        Some(file) if file == Path::new("-") => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map_err(|error| unreadable(file, &error))?;
            keep(&kept, &text)?;
            (kept.clone(), text)
        }
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
            (file.to_owned(), text)
        }
        None => {
            // An edit that failed before is gone on with.
            if !kept.exists() {
                let plan = office.desk.plan(id).await?;
                keep(&kept, &plan_text::write(id, breakdown.spec().title.as_str(), plan.as_ref()))?;
            }
            (kept.clone(), editor::edit(&kept)?)
        }
    };
    let again = format!("mend it and hand it in again: baton breakdown edit {id} {}", path.display());
    let place = path.display();
    let draft = plan_text::read(&text).map_err(|bad| {
        Fault::usage(format!("{place}:{}:{}: {}", bad.line, bad.column, bad.message), &again)
    })?;
    let plan = office.desk.submit_plan(id, draft, office.actor()).await.map_err(|error| match error {
        EngineError::Plan(faults) => Fault::usage(format!("{place} cannot be used:\n{faults}"), &again),
        error => error.into(),
    })?;
    // It is in the store now. That it was never kept here is as good.
    let _ = std::fs::remove_file(kept);
    Ok(plan)
}

fn keep(path: &Path, text: &str) -> Result<(), Fault> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text)).map_err(|error| Fault {
        message: format!("{} cannot be written: {error}", path.display()),
        hint: "check that you may write there".to_owned(),
        code: UNREACHABLE,
    })
}

fn unreadable(file: &Path, error: &std::io::Error) -> Fault {
    let hint = "name a file that holds a plan, or - for standard input";
    Fault::usage(format!("{} cannot be read: {error}", file.display()), hint)
}
