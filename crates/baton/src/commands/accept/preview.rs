//! `baton accept --dry-run`: what would become of each task. The work is really merged, and no branch moves.

use std::collections::BTreeMap;
use std::fmt::Write;

use baton_core::base::git_name::BranchName;
use baton_core::base::id::TaskId;
use baton_engine::landing::trial::TrialMerge;
use baton_engine::reports::forecast::AcceptOutcome;
use baton_engine::reports::view::TaskSummary;
use serde_json::{Value, json};

use crate::cli::verdicts::AcceptArgs;
use crate::commands::accept::{AcceptAction, choose_action, is_left_out};
use crate::context::api::{self, Api};
use crate::error::CliError;
use crate::output;

/// Shows what would happen.
pub(super) async fn show(
    api: &Api,
    accept: &AcceptArgs,
    tasks: Vec<TaskSummary>,
) -> Result<String, CliError> {
    let wanted: Vec<TaskId> = tasks
        .iter()
        .filter(|task| choose_action(task, accept) == AcceptAction::Accept && !is_left_out(task, accept))
        .map(|task| task.task_id)
        .collect();
    let body = json!({ "task_ids": wanted, "force": accept.force });
    let mut answer: Value = api.post("/api/tasks/accept-preview", &body).await?;
    let foreseen: Vec<AcceptOutcome> = api::read(answer["preview"].take())?;
    let mut foreseen: BTreeMap<TaskId, AcceptOutcome> =
        foreseen.into_iter().map(|one| (one.task_id, one)).collect();
    let fates: Vec<(&TaskSummary, AcceptForecast)> = tasks
        .iter()
        .map(|task| {
            let fate = if is_left_out(task, accept) {
                AcceptForecast::LeftOut(task.reasons_to_look().join("; "))
            } else {
                AcceptForecast::new(choose_action(task, accept), foreseen.remove(&task.task_id))
            };
            (task, fate)
        })
        .collect();
    if api.is_json {
        let preview: Vec<Value> = fates.iter().map(|(task, fate)| fate.to_json(task.task_id)).collect();
        return output::json(&json!({ "preview": preview }));
    }
    let mut text = String::new();
    for (task, fate) in fates {
        let (task, title) = (task.task_id, &task.title);
        let _ = write!(text, "{task} “{title}” would be {}", fate.word());
        match fate {
            AcceptForecast::Accepted { starts, into, is_checked, takes_along } => {
                let names: Vec<String> = starts.iter().map(ToString::to_string).collect();
                if !names.is_empty() {
                    let _ = write!(text, " and start {}", names.join(", "));
                }
                if let Some(branch) = into {
                    let _ = write!(text, "; it merges into {branch} without conflicts");
                }
                if !takes_along.is_empty() {
                    let commits = takes_along.join("; ");
                    let _ = write!(
                        text,
                        ", together with commits that were withdrawn or replaced since: {commits}"
                    );
                }
                text.push_str(if is_checked { ", and the checks decide whether it lands\n" } else { "\n" });
            }
            AcceptForecast::Conflict { files, is_with_earlier, with, lands_without } => {
                let with = if is_with_earlier { "the tasks before it".to_owned() } else { with.to_string() };
                let _ = write!(text, ": it conflicts with {with} in {}", files.join(", "));
                if let Some(into) = lands_without {
                    let _ = write!(
                        text,
                        "; without your own commits it merges into {into}, and lands there if those fail the checks"
                    );
                }
                text.push('\n');
            }
            AcceptForecast::OnWithdrawn(commits) => {
                let commits = commits.join("; ");
                let _ =
                    writeln!(text, ": it contains commits that were withdrawn or replaced since: {commits}");
            }
            AcceptForecast::Waiting { on, commits } => {
                let _ = write!(text, ": it was started on the work of {on}, which has to land first");
                if !commits.is_empty() {
                    let commits = commits.join("; ");
                    let _ = write!(
                        text,
                        "; then it goes back to its agent, which leaves commits out that were withdrawn or replaced since: {commits}"
                    );
                }
                text.push('\n');
            }
            AcceptForecast::Refused(why) | AcceptForecast::LeftOut(why) => {
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
        /// Withdrawn commits that come in with it by force.
        takes_along: Vec<String>,
    },
    Conflict {
        files: Vec<String>,
        is_with_earlier: bool,
        /// The branch whose files conflict.
        with: BranchName,
        /// Where it lands if the person's own commits, which it conflicts with, fail the checks.
        lands_without: Option<BranchName>,
    },
    /// Its agent puts it on the person's branch without these commits first.
    OnWithdrawn(Vec<String>),
    /// It stays in its lane until another task has landed.
    Waiting {
        on: TaskId,
        /// What sends it back then: commits that were withdrawn, each with its subject.
        commits: Vec<String>,
    },
    Recycled,
    BurnedOut,
    /// Not taken with all others: a person has to look at it.
    LeftOut(String),
    Refused(String),
}

impl AcceptForecast {
    fn new(action: AcceptAction, foreseen: Option<AcceptOutcome>) -> Self {
        let foreseen = match (action, foreseen) {
            (AcceptAction::Recycle, _) => return Self::Recycled,
            (AcceptAction::Report, _) => return Self::BurnedOut,
            (AcceptAction::Accept, None) => {
                return Self::accepted(Vec::new(), None, false);
            }
            (AcceptAction::Accept, Some(foreseen)) => foreseen,
        };
        let AcceptOutcome { refused, merge, is_checked, would_start: starts, .. } = foreseen;
        match (refused, merge) {
            (Some(why), _) => Self::Refused(why),
            (None, Some(TrialMerge::Moved)) => {
                Self::Refused("its branch has moved since it was verified".to_owned())
            }
            (None, Some(TrialMerge::OnWithdrawn { commits, waits_for: None })) => Self::OnWithdrawn(commits),
            (None, Some(TrialMerge::OnWithdrawn { commits, waits_for: Some(on) })) => {
                Self::Waiting { on, commits }
            }
            (None, Some(TrialMerge::RestsOn { task_id: on })) => Self::Waiting { on, commits: Vec::new() },
            (None, Some(TrialMerge::Conflict { into, with, files, is_with_earlier, fits_without })) => {
                let lands_without = fits_without.then_some(into);
                Self::Conflict { files, is_with_earlier, with, lands_without }
            }
            (None, Some(TrialMerge::Fits { into, commits: takes_along })) => {
                Self::Accepted { starts, into: Some(into), is_checked, takes_along }
            }
            (None, Some(TrialMerge::Nothing) | None) => Self::accepted(starts, None, false),
        }
    }

    fn accepted(starts: Vec<TaskId>, into: Option<BranchName>, is_checked: bool) -> Self {
        Self::Accepted { starts, into, is_checked, takes_along: Vec::new() }
    }

    fn to_json(&self, task: TaskId) -> Value {
        let (starts, conflicts) = match self {
            Self::Accepted { starts, .. } => (&starts[..], &[][..]),
            Self::Conflict { files, .. } => (&[][..], &files[..]),
            Self::OnWithdrawn(_)
            | Self::Waiting { .. }
            | Self::Recycled
            | Self::BurnedOut
            | Self::LeftOut(_)
            | Self::Refused(_) => (&[][..], &[][..]),
        };
        let mut line = json!({ "task_id": task, "would_be": self.word(), "would_start": starts, "conflicts": conflicts });
        if let Self::Conflict { lands_without: Some(into), .. } = self {
            line["lands_without_your_commits_on"] = json!(into);
        }
        if let Self::OnWithdrawn(commits)
        | Self::Waiting { commits, .. }
        | Self::Accepted { takes_along: commits, .. } = self
            && !commits.is_empty()
        {
            line["withdrawn"] = json!(commits);
        }
        if let Self::Waiting { on, .. } = self {
            line["waits_for"] = json!(on);
        }
        if let Self::Refused(why) | Self::LeftOut(why) = self {
            line["reason"] = json!(why);
        }
        line
    }

    const fn word(&self) -> &'static str {
        match self {
            Self::Accepted { .. } => "accepted",
            Self::Conflict { .. } | Self::OnWithdrawn(_) => "sent back",
            Self::Waiting { .. } => "waiting",
            Self::Recycled => "recycled",
            Self::BurnedOut => "reported as burned out",
            Self::LeftOut(_) => "left out",
            Self::Refused(_) => "refused",
        }
    }
}
