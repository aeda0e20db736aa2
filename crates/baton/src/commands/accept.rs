//! `baton accept`

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use baton_core::base::git_name::BranchName;
use baton_core::base::id::TaskId;
use baton_core::recycle::RecycleReason;
use baton_core::task::state::QueueName;
use baton_engine::landing::trial::TrialMerge;
use baton_engine::reports::forecast::AcceptOutcome;
use baton_engine::reports::view::TaskSummary;
use baton_server::client::ClientError;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::verdicts::AcceptArgs;
use crate::commands::landing::LandedBranch;
use crate::commands::lanes::{self, LaneEnd};
use crate::context::api::{self, Api, ListRequest};
use crate::error::CliError;
use crate::output;

/// Most provisional tasks per call.
const TASKS_MAX: u32 = 500;

/// What happened to each task.
#[derive(Default)]
struct AcceptReport {
    accepted: Vec<(TaskSummary, Option<LandedBranch>)>,
    conflicted: Vec<(TaskSummary, Vec<String>)>,
    recycled: Vec<TaskSummary>,
    burned: Vec<TaskSummary>,
    /// A person has to look at these first.
    left_out: Vec<TaskSummary>,
    /// Accepted, and not merged: they wait for the checks, or were sent back.
    not_landed: Vec<(TaskSummary, LaneEnd)>,
}

pub(crate) async fn run(api: &Api, accept: AcceptArgs) -> Result<String, CliError> {
    let tasks = select_tasks(api, &accept).await?;
    if accept.dry_run {
        return preview(api, &accept, tasks).await;
    }
    let mut outcome = AcceptReport::default();
    let mut in_lane = Vec::new();
    for task in tasks {
        if accept.all && !accept.force && !task.needs_review.is_empty() {
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
    for (task, landing) in in_lane {
        let id = task.task_id;
        let ended = if accept.no_wait { lanes::look(api, id).await? } else { lanes::wait(api, id).await? };
        match ended {
            LaneEnd::Landed => outcome.accepted.push((task, landing)),
            other => outcome.not_landed.push((task, other)),
        }
    }
    let printed = outcome.print(api)?;
    let back = outcome.sent_back().map(|(task, _)| task);
    let back = back.chain(outcome.conflicted.iter().map(|(task, _)| task));
    // What cannot go on by itself is not accepted work that merely waits its turn.
    let stuck = outcome.not_landed.iter().filter(|(_, end)| !accept.no_wait && end.is_waiting());
    let back = back.chain(stuck.map(|(task, _)| task));
    let back: Vec<String> = back.map(|task| task.task_id.to_string()).collect();
    if api.is_json && back.is_empty() {
        return Ok(printed);
    }
    output::line(printed.trim_end());
    if let Some(first) = back.first() {
        return Err(CliError::failed(
            format!("not everything has landed: {}", back.join(", ")),
            format!("see why: baton task show {first}"),
        ));
    }
    let landings: BTreeSet<&LandedBranch> =
        outcome.accepted.iter().filter_map(|(_, landing)| landing.as_ref()).collect();
    for landing in landings {
        output::next(&landing.sentence());
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

impl AcceptReport {
    fn sent_back(&self) -> impl Iterator<Item = &(TaskSummary, LaneEnd)> {
        self.not_landed
            .iter()
            .filter(|(_, end)| matches!(end, LaneEnd::SentBack { .. } | LaneEnd::Left { .. }))
    }

    fn print(&self, api: &Api) -> Result<String, CliError> {
        let ids = |tasks: &[TaskSummary]| tasks.iter().map(|task| task.task_id).collect::<Vec<TaskId>>();
        if api.is_json {
            let conflicted: Vec<_> = self
                .conflicted
                .iter()
                .map(|(task, files)| json!({ "task_id": task.task_id, "files": files }))
                .collect();
            let landed: Vec<_> = self
                .accepted
                .iter()
                .filter_map(|(task, landing)| Some((task.task_id, landing.as_ref()?)))
                .map(|(id, landing)| json!({ "task_id": id, "branch": landing.branch, "remote": landing.remote }))
                .collect();
            return output::json(&json!({
                "accepted": self.accepted.iter().map(|(task, _)| task.task_id).collect::<Vec<_>>(),
                "landed": landed,
                "conflicted": conflicted,
                "recycled": ids(&self.recycled),
                "burned_out": ids(&self.burned),
                "left_out": ids(&self.left_out),
                "waiting": self
                    .not_landed
                    .iter()
                    .filter(|(_, end)| end.is_waiting())
                    .map(|(task, end)| end.json(task.task_id))
                    .collect::<Vec<_>>(),
                "sent_back": self.sent_back().map(|(task, end)| end.json(task.task_id)).collect::<Vec<_>>(),
            }));
        }
        let mut text = String::new();
        for (task, _) in &self.accepted {
            let _ = writeln!(text, "{}  accepted  {}", task.task_id, task.title);
        }
        for (task, end) in &self.not_landed {
            let _ = writeln!(text, "{}  {}", task.task_id, end.sentence().unwrap_or_default());
        }
        for (task, files) in &self.conflicted {
            let _ = writeln!(text, "{}  not merged: conflicts in {}", task.task_id, files.join(", "));
        }
        for task in &self.recycled {
            let _ = writeln!(text, "{}  recycled  {}", task.task_id, task.title);
        }
        for task in &self.left_out {
            let (id, why) = (task.task_id, task.needs_review.join("; "));
            let _ = writeln!(text, "{id}  left out: {why}. Look at it: baton task diff {id}");
        }
        if !self.burned.is_empty() {
            let (burned, others): (Vec<_>, Vec<_>) =
                self.burned.iter().partition(|task| task.too_large == Some(RecycleReason::TooLarge));
            let what = [
                (burned, "burned out (0 commits, max turns)"),
                (others, "did not converge (tried too often without being accepted)"),
            ];
            for (tasks, what) in what.into_iter().filter(|(tasks, _)| !tasks.is_empty()) {
                let _ = writeln!(text, "\n⚠ {} task(s) {what}:", tasks.len());
                for task in tasks {
                    let project = task.project_id.map_or_else(|| "none".to_owned(), |id| id.to_string());
                    let _ = writeln!(text, "  {}: {} (project: {project})", task.task_id, task.title);
                }
            }
            text.push_str("\nOptions:\n  baton accept --all --force     accept them anyway\n");
            text.push_str("  baton accept --all --recycle   break them down\n");
        }
        if text.is_empty() {
            text.push_str("Nothing to accept.\n");
        }
        Ok(text)
    }
}

/// Shows what would happen.
async fn preview(api: &Api, accept: &AcceptArgs, tasks: Vec<TaskSummary>) -> Result<String, CliError> {
    let wanted: Vec<TaskId> = tasks
        .iter()
        .filter(|task| choose_action(task, accept) == AcceptAction::Accept)
        .map(|task| task.task_id)
        .collect();
    let body = json!({ "task_ids": wanted, "force": accept.force });
    let mut answer: Value = api.post("/api/tasks/accept-preview", &body).await?;
    let foreseen: Vec<AcceptOutcome> = api::read(answer["preview"].take())?;
    let mut foreseen: BTreeMap<TaskId, AcceptOutcome> =
        foreseen.into_iter().map(|one| (one.task_id, one)).collect();
    let fates: Vec<(TaskId, AcceptForecast)> = tasks
        .iter()
        .map(|task| {
            (task.task_id, AcceptForecast::new(choose_action(task, accept), foreseen.remove(&task.task_id)))
        })
        .collect();
    if api.is_json {
        let preview: Vec<_> = fates
            .iter()
            .map(|(task, fate)| {
                let (starts, conflicts) = match fate {
                    AcceptForecast::Accepted { starts, .. } => (&starts[..], &[][..]),
                    AcceptForecast::Conflict { files, .. } => (&[][..], &files[..]),
                    AcceptForecast::Recycled | AcceptForecast::BurnedOut | AcceptForecast::Refused(_) => (&[][..], &[][..]),
                };
                json!({ "task_id": task, "would_be": fate.word(), "would_start": starts, "conflicts": conflicts })
            })
            .collect();
        return output::json(&json!({ "preview": preview }));
    }
    let mut text = String::new();
    for (task, fate) in fates {
        let _ = write!(text, "{task}  would be {}", fate.word());
        match fate {
            AcceptForecast::Accepted { starts, into, is_checked } => {
                let names: Vec<String> = starts.iter().map(ToString::to_string).collect();
                let what = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
                let _ = write!(text, " and start {what}");
                if let Some(branch) = into {
                    let _ = write!(text, "; it merges into {branch} without conflicts");
                }
                text.push_str(if is_checked { ", and the checks decide whether it lands\n" } else { "\n" });
            }
            AcceptForecast::Conflict { files, is_with_earlier } => {
                let with = if is_with_earlier { "the tasks before it" } else { "its branch" };
                let _ = writeln!(text, ": it conflicts with {with} in {}", files.join(", "));
            }
            AcceptForecast::Refused(why) => {
                let _ = writeln!(text, ": {why}");
            }
            AcceptForecast::Recycled | AcceptForecast::BurnedOut => text.push('\n'),
        }
    }
    if text.is_empty() {
        text.push_str("Nothing to accept.\n");
    }
    Ok(text)
}

/// What would happen to one task.
#[derive(Debug, PartialEq, Eq)]
enum AcceptForecast {
    Accepted {
        starts: Vec<TaskId>,
        /// The branch that its work merges into.
        into: Option<BranchName>,
        is_checked: bool,
    },
    Conflict {
        files: Vec<String>,
        is_with_earlier: bool,
    },
    Recycled,
    BurnedOut,
    Refused(String),
}

impl AcceptForecast {
    fn new(action: AcceptAction, foreseen: Option<AcceptOutcome>) -> Self {
        let foreseen = match (action, foreseen) {
            (AcceptAction::Recycle, _) => return Self::Recycled,
            (AcceptAction::Report, _) => return Self::BurnedOut,
            (AcceptAction::Accept, None) => {
                return Self::Accepted { starts: Vec::new(), into: None, is_checked: false };
            }
            (AcceptAction::Accept, Some(foreseen)) => foreseen,
        };
        let AcceptOutcome { refused, merge, is_checked, would_start: starts, .. } = foreseen;
        match (refused, merge) {
            (Some(why), _) => Self::Refused(why),
            (None, Some(TrialMerge::Moved)) => {
                Self::Refused("its branch has moved since it was verified".to_owned())
            }
            (None, Some(TrialMerge::Conflict { files, is_with_earlier, .. })) => {
                Self::Conflict { files, is_with_earlier }
            }
            (None, Some(TrialMerge::Fits { into })) => {
                Self::Accepted { starts, into: Some(into), is_checked }
            }
            (None, Some(TrialMerge::Nothing) | None) => {
                Self::Accepted { starts, into: None, is_checked: false }
            }
        }
    }

    const fn word(&self) -> &'static str {
        match self {
            Self::Accepted { .. } => "accepted",
            Self::Conflict { .. } => "sent back",
            Self::Recycled => "recycled",
            Self::BurnedOut => "reported as burned out",
            Self::Refused(_) => "refused",
        }
    }
}
