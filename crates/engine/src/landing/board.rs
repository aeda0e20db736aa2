//! What people see of landing: the lanes, who waits for whom, and what the checks said.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::{ProjectId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::remote_url::RemoteUrl;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::landing::lane::lane_entry;
use baton_core::landing::verdict::Verdict;
use baton_core::task::attempt::CheckResult;
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::landing::lanes::{self, Lane, LaneKey};
use crate::projects::Projects;

/// Verdicts shown.
const VERDICTS_MAX: u32 = 20;

/// What this process does in each lane right now. Cheap to clone; clones share it.
#[derive(Clone, Default)]
pub struct LandingBoard(Arc<Mutex<BTreeMap<LaneKey, LaneActivity>>>);

#[derive(Debug, Clone, Default)]
struct LaneActivity {
    checking: Vec<TaskId>,
    since: Option<Timestamp>,
    error: Option<String>,
}

impl LandingBoard {
    pub(crate) fn note_checking(&self, lane: &LaneKey, checking: Vec<TaskId>, since: Timestamp) {
        let activity = LaneActivity { checking, since: Some(since), error: None };
        self.known().insert(lane.clone(), activity);
    }

    pub(crate) fn note_idle(&self, lane: &LaneKey) {
        self.known().remove(lane);
    }

    /// What keeps the lane from going on; it is retried.
    pub(crate) fn note_error(&self, lane: &LaneKey, error: String) {
        self.known().insert(lane.clone(), LaneActivity { error: Some(error), ..LaneActivity::default() });
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<LaneKey, LaneActivity>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything, for the API and the pages.
    pub async fn view(&self, projects: &Projects) -> Result<LandingView, EngineError> {
        let lanes = lanes::load(projects).await?;
        let verdicts = projects.tasks.store.last_verdicts(VERDICTS_MAX).await?;
        let known = self.known().clone();
        Ok(LandingView {
            lanes: lanes.into_iter().map(|lane| lane_view(lane, &known)).collect(),
            verdicts: verdicts.into_iter().map(|stored| VerdictView::new(stored.value)).collect(),
        })
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LandingView {
    pub lanes: Vec<LaneView>,
    /// Of the runs of the checks that ended last, newest first.
    pub verdicts: Vec<VerdictView>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LaneView {
    pub branch: BranchName,
    pub project_id: Option<ProjectId>,
    pub remote: Option<RemoteUrl>,
    /// The tasks that are being checked together.
    pub checking: Vec<TaskId>,
    pub checking_since: Option<Timestamp>,
    /// Why the lane does not go on; it is retried.
    pub error: Option<String>,
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
    /// The task before it in the lane.
    pub behind: Option<TaskId>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VerdictView {
    pub branch: BranchName,
    pub commit: CommitId,
    pub base: CommitId,
    pub tree: CommitId,
    pub passed: bool,
    /// Failed and then passed on the same files.
    pub flaky: Vec<NonBlank>,
    /// The checks that failed last.
    pub failed: Vec<CheckResult>,
    pub runs: u64,
    pub checked_at: Option<Timestamp>,
    pub duration_ms: u64,
}

impl VerdictView {
    fn new(verdict: Verdict) -> Self {
        Self {
            passed: verdict.is_green(),
            flaky: verdict.flaky().into_iter().cloned().collect(),
            failed: verdict.failed(),
            runs: verdict.runs.len() as u64,
            checked_at: verdict.checked_at(),
            duration_ms: verdict.runs.last().map_or(0, |run| run.duration_ms),
            branch: verdict.into,
            commit: verdict.commit,
            base: verdict.base,
            tree: verdict.key.tree,
        }
    }
}

fn lane_view(lane: Lane, known: &BTreeMap<LaneKey, LaneActivity>) -> LaneView {
    let activity = known.get(&lane.key).cloned().unwrap_or_default();
    let mut behind = None;
    let mut candidates = Vec::new();
    for task in &lane.tasks {
        let Some(entry) = lane_entry(task) else { continue };
        candidates.push(LaneCandidate {
            task_id: task.id(),
            title: task.spec().title.clone(),
            priority: task.spec().priority,
            accepted_by: entry.accepted_by.to_string(),
            since: entry.since,
            is_being_checked: activity.checking.contains(&task.id()),
            behind: behind.replace(task.id()),
        });
    }
    LaneView {
        branch: lane.key.branch,
        project_id: lane.project.map(|project| project.id),
        remote: lane.source.remote().cloned(),
        checking: activity.checking,
        checking_since: activity.since,
        error: activity.error,
        candidates,
    }
}
