//! What people see of landing: lanes, candidates and verdicts, as the API and the pages have them.

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::{ProjectId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::remote_url::RemoteUrl;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::landing::evidence::CheckExit;
use baton_core::landing::lane::landing_delay;
use baton_core::landing::verdict::Verdict;
use baton_core::task::Task;
use baton_core::task::attempt::CheckResult;
use baton_core::task::not_landed::NotLanded;
use baton_core::task::state::LaneEntry;
use serde::{Deserialize, Serialize};

use crate::landing::history::LandingEntry;
use crate::landing::live_runs::CheckRunView;

/// Of the output of each check in a list of verdicts. The whole of what is kept is with the task.
const OUTPUT_BYTES_MAX: usize = 2_000;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LandingView {
    pub lanes: Vec<LaneView>,
    /// The newest runs of the checks in this process, oldest first.
    pub runs: Vec<CheckRunView>,
    /// What landed or was sent back lately, newest first.
    pub recent: Vec<LandingEntry>,
    /// Of the runs of the checks that ended last, newest first.
    pub verdicts: Vec<VerdictView>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LaneView {
    pub branch: BranchName,
    pub project_id: Option<ProjectId>,
    pub project_title: Option<NonBlank>,
    pub remote: Option<RemoteUrl>,
    /// Where the branch is, if it exists in this machine's repository.
    pub tip: Option<CommitId>,
    /// The run of the checks that decides what the branch becomes next. Those of later batches may be at work beside it.
    pub run: Option<u64>,
    /// The tasks that it checks together.
    pub checking: Vec<TaskId>,
    pub checking_since: Option<Timestamp>,
    /// Why the lane does not go on; it is retried.
    pub error: Option<String>,
    /// That the branch has other checks than the checkout, and what to do about it.
    pub note: Option<String>,
    /// In the order in which they land.
    pub candidates: Vec<LaneCandidate>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LaneCandidate {
    pub task_id: TaskId,
    pub title: NonBlank,
    pub priority: Priority,
    pub accepted_by: String,
    pub since: Timestamp,
    pub is_being_checked: bool,
    /// The task before it in the lane, or one that it was started on and that is not in the lane.
    pub behind: Option<TaskId>,
    /// Why it waits although its turn has come: its branch fails the checks without it.
    pub delayed: Option<String>,
}

impl LaneCandidate {
    pub(super) fn new(
        task: &Task,
        entry: &LaneEntry,
        is_being_checked: bool,
        behind: Option<TaskId>,
    ) -> Self {
        Self {
            task_id: task.id(),
            title: task.spec().title.clone(),
            priority: task.spec().priority,
            accepted_by: entry.accepted_by.to_string(),
            since: entry.since,
            is_being_checked,
            behind,
            delayed: landing_delay(task).map(NotLanded::headline),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VerdictView {
    pub branch: BranchName,
    pub commit: CommitId,
    pub base: CommitId,
    pub tree: CommitId,
    /// Digest of the checks and of what they are defined by.
    pub suite: String,
    /// The commit of the branch that the checks came from; none if the branch had none of its own.
    pub suite_from: Option<CommitId>,
    /// Where they ran.
    pub environment: String,
    pub passed: bool,
    /// Failed and then passed on the same files.
    pub flaky: Vec<NonBlank>,
    /// The checks that failed last.
    pub failed: Vec<CheckResult>,
    /// Every check of the last run, with the end of its output.
    pub checks: Vec<CheckExit>,
    pub runs: u64,
    pub checked_at: Option<Timestamp>,
    pub duration_ms: u64,
}

impl VerdictView {
    pub(super) fn new(verdict: Verdict) -> Self {
        let with_output = |check: &CheckResult| CheckExit::with_output(check, OUTPUT_BYTES_MAX);
        Self {
            passed: verdict.is_green(),
            flaky: verdict.flaky().into_iter().cloned().collect(),
            failed: verdict.failed(),
            checks: verdict
                .runs
                .last()
                .map(|run| run.results.iter().map(with_output).collect())
                .unwrap_or_default(),
            runs: verdict.runs.len() as u64,
            checked_at: verdict.checked_at(),
            duration_ms: verdict.runs.last().map_or(0, |run| run.duration_ms),
            branch: verdict.into,
            commit: verdict.commit,
            base: verdict.base,
            tree: verdict.key.tree,
            suite: verdict.key.suite,
            suite_from: verdict.suite_from,
            environment: verdict.key.environment,
        }
    }
}
