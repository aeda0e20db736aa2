//! `baton breakdown …`

use std::fmt::Write;
use std::io::Read;
use std::path::Path;

use baton_core::breakdown::{Plan, PlanDraft};
use baton_core::command::Command;
use baton_core::state::Queue;
use baton_engine::view::{TaskSummary, TaskView};
use serde_json::json;

use super::task::show;
use crate::cli::BreakdownCommand;
use crate::fault::Fault;
use crate::office::Office;
use crate::output;

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
            let draft = read_plan(&file)?;
            let plan = office.desk.submit_plan(id, draft, office.actor()).await?;
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

fn read_plan(file: &Path) -> Result<PlanDraft, Fault> {
    let hint = "a plan looks like {\"items\": [{\"title\": \"First part\"}]}";
    let mut text = String::new();
    let read = if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).map(|_| ())
    } else {
        std::fs::read_to_string(file).map(|read| text = read)
    };
    read.map_err(|error| Fault::usage(format!("{} cannot be read: {error}", file.display()), hint))?;
    serde_json::from_str(&text)
        .map_err(|error| Fault::usage(format!("{} is no plan: {error}", file.display()), hint))
}
