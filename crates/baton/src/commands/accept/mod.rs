//! `baton accept`: decides, waits until the work has landed, and says what became of each task. `preview` is `--dry-run`,
//! `narrator` says what happens meanwhile, and `report` what came of it.

mod narrator;
mod preview;
mod report;

use std::collections::BTreeSet;

use baton_core::task::state::QueueName;
use baton_engine::reports::view::TaskSummary;
use baton_server::client::ClientError;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::verdicts::AcceptArgs;
pub(crate) use crate::commands::accept::narrator::LandingNarrator;
use crate::commands::accept::report::AcceptReport;
use crate::commands::landing::LandedBranch;
use crate::commands::lanes::{self, LaneEnd};
use crate::context::api::{Api, ListRequest};
use crate::error::CliError;
use crate::output;

/// Most provisional tasks per call.
const TASKS_MAX: u32 = 500;

/// Of all tasks, those are not taken that a person has to look at; one that is named was looked at.
fn is_left_out(task: &TaskSummary, accept: &AcceptArgs) -> bool {
    accept.all && !accept.force && !task.reasons_to_look().is_empty()
}

pub(crate) async fn run(api: &Api, mut accept: AcceptArgs) -> Result<String, CliError> {
    if accept.tasks.is_empty() && !accept.all {
        // A script whose variable is empty has not asked for a list.
        if !output::is_terminal() {
            let hint = "name tasks, or accept all: baton accept --all";
            return Err(CliError::usage("there is no task to accept", hint));
        }
        (accept.all, accept.dry_run) = (true, true);
        output::next(
            "Accept one: baton accept TASK; all: baton accept --all; read one first: baton review TASK\n",
        );
    }
    let tasks = select_tasks(api, &accept).await?;
    if accept.dry_run {
        return preview::show(api, &accept, tasks).await;
    }
    let mut outcome = AcceptReport::default();
    let mut in_lane = Vec::new();
    for task in tasks {
        if is_left_out(&task, &accept) {
            outcome.left_out.push(task);
            continue;
        }
        let path = format!("/api/tasks/{}", task.task_id);
        match choose_action(&task, &accept) {
            AcceptAction::Recycle => {
                let reason = json!({ "reason": "too_large" });
                let _: Value = api.post(&format!("{path}/recycle"), &reason).await?;
                outcome.recycled.push(task);
            }
            AcceptAction::Report => outcome.burned.push(task),
            AcceptAction::Accept => {
                let force = json!({ "force": accept.force });
                match api.try_post::<AcceptResponse>(&format!("{path}/accept"), &force).await {
                    Ok(accepted) if accepted.queue == QueueName::Landing => {
                        in_lane.push((task, accepted.landing()));
                    }
                    Ok(accepted) => outcome.accepted.push((task, accepted.landing())),
                    Err(ClientError::Refused(refusal)) if !refusal.conflicts.is_empty() => {
                        outcome.conflicted.push((task, refusal.conflicts));
                    }
                    // One of another project may still be accepted.
                    Err(error @ ClientError::Refused(_)) if accept.all => {
                        outcome.refused.push((task.task_id, CliError::from(error)));
                    }
                    Err(error) => {
                        // Tasks accepted so far stay accepted; say so.
                        if !outcome.accepted.is_empty() {
                            output::talk(outcome.print(api)?.trim_end());
                        }
                        return Err(error.into());
                    }
                }
            }
        }
    }
    // All are in their lanes before the first is waited for, so that they are checked together.
    let ids = in_lane.iter().map(|(task, _)| task.task_id).collect();
    let mut narrator = LandingNarrator::new(ids, api.is_json || accept.no_wait);
    for (task, landing) in in_lane {
        let id = task.task_id;
        let ended = if accept.no_wait {
            lanes::look(api, id).await?
        } else {
            lanes::wait(api, id, &mut narrator).await?
        };
        match ended {
            LaneEnd::Landed => outcome.accepted.push((task, landing)),
            other => outcome.not_landed.push((task, other)),
        }
    }
    let printed = outcome.print(api)?;
    let failure = outcome.failure();
    if api.is_json && failure.is_none() {
        return Ok(printed);
    }
    if !printed.is_empty() {
        output::line(printed.trim_end());
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    let landings: BTreeSet<&LandedBranch> =
        outcome.accepted.iter().filter_map(|(_, landing)| landing.as_ref()).collect();
    for landing in landings {
        output::next(&landing.sentence());
    }
    if outcome.not_landed.iter().any(|(_, end)| end.is_waiting()) && !accept.no_wait {
        output::next("What waits for you is in baton questions; the lanes are in baton landing.");
    }
    Ok(String::new())
}

/// The API's answer.
#[derive(Deserialize)]
struct AcceptResponse {
    queue: QueueName,
    branch: Option<String>,
    remote: Option<String>,
}

impl AcceptResponse {
    /// None if there was nothing to merge.
    fn landing(self) -> Option<LandedBranch> {
        Some(LandedBranch { branch: self.branch?, remote: self.remote })
    }
}

async fn select_tasks(api: &Api, accept: &AcceptArgs) -> Result<Vec<TaskSummary>, CliError> {
    if accept.all {
        let mut tasks: Vec<TaskSummary> = Vec::new();
        // What was accepted before and has not landed is waited for as well.
        let is_plain = !accept.force && !accept.dry_run;
        let landing = is_plain.then_some(QueueName::Landing);
        for queue in [QueueName::Provisional].into_iter().chain(landing) {
            let query = [("queue", queue.as_str())];
            let list = ListRequest { path: "/api/tasks", name: "tasks", query: &query };
            let (found, _): (Vec<TaskSummary>, _) = api.list(&list, TASKS_MAX, None).await?;
            tasks.extend(found.into_iter().filter(|task| !task.is_breakdown));
        }
        return Ok(tasks);
    }
    let mut tasks = Vec::new();
    for text in &accept.tasks {
        tasks.push(api.task(api.task_id(text).await?).await?.summary);
    }
    Ok(tasks)
}

/// What to do with one task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AcceptAction {
    Accept,
    Recycle,
    /// It burned out, and no flag says what to do.
    Report,
}

fn choose_action(task: &TaskSummary, accept: &AcceptArgs) -> AcceptAction {
    let is_burned = task.too_large.is_some();
    if is_burned && accept.recycle {
        AcceptAction::Recycle
    } else if is_burned && accept.all && !accept.force {
        AcceptAction::Report
    } else {
        AcceptAction::Accept
    }
}
