//! `baton status`: what runs, what waits for you, what today cost, and whether the services work.

use std::fmt::Write;

use baton_core::base::time::Timestamp;
use baton_core::base::words::pluralize;
use baton_core::task::state::TaskState;
use baton_engine::reports::view::{TaskSummary, TaskView};
use serde::Serialize;
use serde_json::{Value, json};

use crate::commands::cost::{CostReport, dollars, load_costs};
use crate::context::api::{Api, ListRequest, read};
use crate::error::CliError;
use crate::output;

/// Rows per list.
const ROWS_MAX: u32 = 20;

/// Everything that is shown.
#[derive(Serialize)]
struct StatusReport {
    now: Timestamp,
    is_served: bool,
    running: Vec<RunningRow>,
    waiting: WaitingCounts,
    ready: u64,
    /// Accepted work on its way into its branch.
    landing: u64,
    today: CostReport,
    problems: Vec<String>,
    changed_settings: Vec<String>,
    services: Value,
}

#[derive(Serialize)]
struct RunningRow {
    task_id: String,
    title: String,
    agent: String,
    since: Timestamp,
}

/// What waits for a person.
#[derive(Serialize)]
struct WaitingCounts {
    questions: u64,
    to_review: u64,
    standstills: u64,
}

/// What made no progress is counted with the work to review.
fn count_standing(answer: &Value) -> u64 {
    let standing = answer["standstills"].as_array().into_iter().flatten();
    standing.filter(|one| one["reason"] != "no_progress").count() as u64
}

pub(crate) async fn run(api: &Api) -> Result<String, CliError> {
    let mut health: Value = api.get("/api/health").await?;
    let standstills: Value = api.get("/api/standstills").await?;
    let count = |name: &str| health["counts"][name].as_u64().unwrap_or_default();
    let status = StatusReport {
        now: read(health["now"].clone())?,
        is_served: api.is_served(),
        running: running(api).await?,
        waiting: WaitingCounts {
            questions: count("pending_questions"),
            to_review: count("unaccepted"),
            standstills: count_standing(&standstills),
        },
        ready: count("ready"),
        landing: landing(api).await?,
        today: load_costs(api, None).await?,
        problems: read(health["problems"].clone())?,
        changed_settings: read(health["changed_settings"].clone())?,
        services: health["services"].take(),
    };
    if api.is_json { output::json(&json!(status)) } else { Ok(render(&status)) }
}

async fn landing(api: &Api) -> Result<u64, CliError> {
    let landing = ListRequest { path: "/api/tasks", name: "tasks", query: &[("queue", "landing")] };
    let (tasks, _): (Vec<TaskSummary>, _) = api.list(&landing, ROWS_MAX, None).await?;
    Ok(tasks.len() as u64)
}

async fn running(api: &Api) -> Result<Vec<RunningRow>, CliError> {
    let claimed = ListRequest { path: "/api/tasks", name: "tasks", query: &[("queue", "claimed")] };
    let (tasks, _): (Vec<TaskSummary>, _) = api.list(&claimed, ROWS_MAX, None).await?;
    let mut running = Vec::new();
    for task in tasks {
        let view: TaskView = api.task(task.task_id).await?;
        // A task that waits for an answer is in the same queue.
        if let TaskState::Claimed { attempt } = view.state {
            running.push(RunningRow {
                task_id: task.task_id.to_string(),
                title: task.title.to_string(),
                agent: attempt.agent.to_string(),
                since: attempt.started_at,
            });
        }
    }
    Ok(running)
}

fn render(status: &StatusReport) -> String {
    let mut text = String::new();
    if !status.is_served {
        text.push_str("No server is running here. Start it: baton up\n\n");
    }
    if status.running.is_empty() {
        text.push_str("No agent is at work.\n");
    } else {
        let rows: Vec<[String; 4]> = status
            .running
            .iter()
            .map(|task| {
                let since = output::age(task.since, status.now);
                [task.task_id.clone(), task.agent.clone(), since, task.title.clone()]
            })
            .collect();
        text.push_str(&output::table(["RUNNING", "AGENT", "SINCE", "TITLE"], &rows));
    }
    let waiting = &status.waiting;
    let parts = [
        (waiting.questions, "question", "baton questions"),
        (waiting.to_review, "task to review", "baton task list --queue review"),
        (waiting.standstills, "matter to decide", "baton questions"),
    ];
    text.push('\n');
    if parts.iter().all(|(count, ..)| *count == 0) {
        text.push_str("Nothing waits for you.\n");
    } else {
        text.push_str("Waiting for you:\n");
        for (count, noun, command) in parts.into_iter().filter(|(count, ..)| *count > 0) {
            let _ = writeln!(text, "  {}: {command}", counted(count, noun));
        }
    }
    let today = &status.today.total;
    let _ = writeln!(text, "\n{} ready to start.", counted(status.ready, "task"));
    if status.landing > 0 {
        let _ = writeln!(text, "{} on the way into a branch: baton landing", counted(status.landing, "task"));
    }
    let spent = dollars(today.cost_micro_usd);
    let _ = writeln!(text, "Today: {spent}, {}. More: baton cost", pluralize(today.attempts, "attempt"));
    for file in &status.changed_settings {
        let _ = writeln!(
            text,
            "{file} was changed after the server started; to use it, end the server and run baton up again."
        );
    }
    if status.problems.is_empty() {
        text.push_str("No problems.\n");
    } else {
        for problem in &status.problems {
            let _ = writeln!(text, "Problem: {problem}");
        }
    }
    text
}

/// `task to review` becomes `2 tasks to review`.
fn counted(count: u64, noun: &str) -> String {
    match noun.split_once(' ') {
        Some((noun, rest)) => format!("{} {rest}", pluralize(count, noun)),
        None => pluralize(count, noun),
    }
}
