//! `baton landing`, and waiting until accepted work has landed.

use std::fmt::Write;
use std::time::Duration;

use baton_core::base::git_name::CommitId;
use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::task::ledger::TaskNote;
use baton_core::task::not_landed::NotLanded;
use baton_core::task::state::QueueName;
use baton_engine::landing::history::LandingEnd;
use baton_engine::landing::views::{LandingView, LaneView, VerdictView};
use baton_engine::reports::view::TaskView;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::commands::accept::LandingNarrator;
use crate::context::api::Api;
use crate::error::CliError;
use crate::output;

/// Between two looks at the server.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Digits of a commit that are shown.
const COMMIT_DIGITS: usize = 12;

/// What became of accepted work.
pub(crate) enum LaneEnd {
    Landed,
    Waiting {
        why: String,
    },
    SentBack {
        reason: Box<NotLanded>,
    },
    /// Somebody decided otherwise meanwhile.
    Left {
        queue: QueueName,
    },
}

impl LaneEnd {
    pub(crate) const fn is_waiting(&self) -> bool {
        matches!(self, Self::Waiting { .. })
    }

    /// The files that kept it from being merged, if that is why it came back.
    pub(crate) fn conflicts(&self) -> Option<&Vec<String>> {
        match self {
            Self::SentBack { reason } => match &**reason {
                NotLanded::Conflict { files, .. } => Some(files),
                _ => None,
            },
            Self::Landed | Self::Waiting { .. } | Self::Left { .. } => None,
        }
    }

    /// None for a task that has landed.
    pub(crate) fn sentence(&self) -> Option<String> {
        match self {
            Self::Landed => None,
            Self::Waiting { why } => Some(format!("waiting: {why}")),
            Self::SentBack { reason } if !reason.is_fault_of_task() => {
                Some(format!("not landed, and left to you: {}", reason.headline()))
            }
            Self::SentBack { reason } => Some(format!("sent back: {}", reason.headline())),
            Self::Left { queue } => Some(match queue {
                QueueName::Rejected => "not landed: somebody has cancelled it".to_owned(),
                _ => "not landed: somebody has taken it back".to_owned(),
            }),
        }
    }

    pub(crate) fn json(&self, task: TaskId) -> Value {
        match self {
            Self::Landed => json!({ "task_id": task }),
            Self::Waiting { why } => json!({ "task_id": task, "why": why }),
            Self::SentBack { reason } => {
                json!({ "task_id": task, "why": reason.headline(), "reason": reason })
            }
            Self::Left { queue } => json!({ "task_id": task, "why": queue.as_str() }),
        }
    }
}

/// Waits until the task has left its lane, or the lane cannot go on.
pub(crate) async fn wait(
    api: &Api,
    task: TaskId,
    narrator: &mut LandingNarrator,
) -> Result<LaneEnd, CliError> {
    if !api.is_served() {
        let worked = api.land(task, |landing| narrator.look(landing)).await;
        return match (look(api, task).await?, worked) {
            (LaneEnd::Waiting { .. }, Err(error)) => {
                let hint = error.hint.lines().next().unwrap_or_default();
                Ok(LaneEnd::Waiting { why: format!("{}; {hint}", error.message) })
            }
            (ended, _) => Ok(ended),
        };
    }
    loop {
        let landing: LandingView = api.get("/api/landing").await?;
        narrator.look(&landing);
        match look(api, task).await? {
            LaneEnd::Waiting { .. } => {
                if let Some(why) = standstill(landing, task) {
                    return Ok(LaneEnd::Waiting { why });
                }
                sleep(LOOK_EVERY).await;
            }
            ended => {
                narrator.look(&api.get("/api/landing").await?);
                return Ok(ended);
            }
        }
    }
}

/// Where the task is now.
pub(crate) async fn look(api: &Api, task: TaskId) -> Result<LaneEnd, CliError> {
    let view = api.task(task).await?;
    match view.summary.queue {
        QueueName::Done => Ok(LaneEnd::Landed),
        QueueName::Landing => Ok(LaneEnd::Waiting { why: why_waiting(api, task).await? }),
        queue @ QueueName::Rejected => Ok(LaneEnd::Left { queue }),
        queue => Ok(match last_reason(view) {
            Some(reason) => LaneEnd::SentBack { reason },
            None => LaneEnd::Left { queue },
        }),
    }
}

/// Why it was sent back, if it was a lane that did so last.
fn last_reason(view: TaskView) -> Option<Box<NotLanded>> {
    let last = view.notes.into_iter().rev().find(|note| !matches!(note, TaskNote::Requeued { .. }));
    match last {
        Some(TaskNote::NotLanded { reason, .. }) => Some(reason),
        _ => None,
    }
}

/// Why waiting would take longer than anybody wants: its lane cannot go on, or it rests on a task that is not in it.
fn standstill(landing: LandingView, task: TaskId) -> Option<String> {
    let lane = landing.lanes.into_iter().find(|lane| place(lane, task).is_some())?;
    if lane.error.is_some() {
        return lane.error;
    }
    let behind = place(&lane, task).and_then(|at| lane.candidates[at].behind);
    behind.filter(|on| place(&lane, *on).is_none()).map(|on| {
        format!("it was started on the work of {on}, which has to land first; see baton task show {on}")
    })
}

async fn why_waiting(api: &Api, task: TaskId) -> Result<String, CliError> {
    let landing: LandingView = api.get("/api/landing").await?;
    let Some(lane) = landing.lanes.iter().find(|lane| place(lane, task).is_some()) else {
        return Ok("its lane".to_owned());
    };
    let at = place(lane, task).unwrap_or_default();
    let candidate = &lane.candidates[at];
    if let Some(delayed) = candidate.delayed.as_ref().filter(|_| !candidate.is_being_checked) {
        return Ok(delayed.clone());
    }
    Ok(match (candidate.is_being_checked, candidate.behind, api.is_served()) {
        (true, _, _) => format!("the checks run on {} with it", lane.branch),
        (false, Some(behind), _) => format!("behind {behind} to land on {}", lane.branch),
        (false, None, true) => format!("next to land on {}", lane.branch),
        (false, None, false) => format!("next to land on {}; start baton up to go on", lane.branch),
    })
}

fn place(lane: &LaneView, task: TaskId) -> Option<usize> {
    lane.candidates.iter().position(|candidate| candidate.task_id == task)
}

pub(crate) async fn list(api: &Api) -> Result<String, CliError> {
    let landing: LandingView = api.get("/api/landing").await?;
    if api.is_json { output::json(&landing) } else { Ok(render(&landing)) }
}

fn render(landing: &LandingView) -> String {
    let mut text = String::new();
    for lane in &landing.lanes {
        let _ = writeln!(text, "{}", lane.branch);
        if let Some(error) = &lane.error {
            let _ = writeln!(text, "  cannot go on, tries again: {error}");
        }
        if let Some(note) = &lane.note {
            let _ = writeln!(text, "  note: {note}");
        }
        for candidate in &lane.candidates {
            let why = match (candidate.is_being_checked, &candidate.delayed, candidate.behind) {
                (true, ..) => "being checked".to_owned(),
                (false, Some(delayed), _) => format!("waiting: {delayed}"),
                (false, None, Some(behind)) => format!("behind {behind}"),
                (false, None, None) => "next".to_owned(),
            };
            let _ = writeln!(text, "  {}  {why}  {}", candidate.task_id, candidate.title);
        }
    }
    if landing.lanes.is_empty() {
        text.push_str("Nothing waits to land.\n");
    }
    if !landing.verdicts.is_empty() {
        text.push_str("\nLast checks:\n");
        for verdict in &landing.verdicts {
            let _ = writeln!(text, "  {}", sentence(verdict));
        }
    }
    if !landing.recent.is_empty() {
        text.push_str("\nLately:\n");
        for entry in &landing.recent {
            let _ = writeln!(text, "  {}  {}  {}", entry.task_id, end_sentence(&entry.end), entry.title);
        }
    }
    text
}

pub(crate) fn end_sentence(end: &LandingEnd) -> String {
    match end {
        LandingEnd::Landed { commit, flaky } => {
            let flaky: Vec<&str> = flaky.iter().map(NonBlank::as_str).collect();
            let flaky =
                if flaky.is_empty() { String::new() } else { format!(", flaky: {}", flaky.join(", ")) };
            format!("landed at {}{flaky}", short_commit(commit))
        }
        LandingEnd::SentBack { headline, .. } => format!("sent back: {headline}"),
        LandingEnd::Forced { by, .. } => format!("landed by force of {by}, without its checks"),
    }
}

pub(crate) fn short_commit(commit: &CommitId) -> &str {
    commit.as_str().get(..COMMIT_DIGITS).unwrap_or(commit.as_str())
}

fn sentence(verdict: &VerdictView) -> String {
    let commit = short_commit(&verdict.commit);
    let names = |names: Vec<&str>| names.join(", ");
    let outcome = if !verdict.passed {
        format!("failed: {}", names(verdict.failed.iter().map(|check| check.name.as_str()).collect()))
    } else if verdict.flaky.is_empty() {
        "passed".to_owned()
    } else {
        format!("passed, flaky: {}", names(verdict.flaky.iter().map(NonBlank::as_str).collect()))
    };
    let suite = verdict.suite.get(..COMMIT_DIGITS).unwrap_or(&verdict.suite);
    let from =
        verdict.suite_from.as_ref().map(|from| format!(" of {}", short_commit(from))).unwrap_or_default();
    format!("{commit} for {}  {outcome}  ({} ms, suite {suite}{from})", verdict.branch, verdict.duration_ms)
}
