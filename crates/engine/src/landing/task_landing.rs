//! Where one task stands on its way into its branch, for agents and people who ask about the task.

use baton_core::base::git_name::BranchName;
use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use baton_core::landing::lane::lane_entry;
use baton_core::task::Task;
use baton_core::task::ledger::TaskNote;
use baton_core::task::state::TaskState;
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::landing::board::{LandingBoard, LaneView};
use crate::projects::Projects;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum TaskLanding {
    /// The checks run on the branch together with it.
    Checking {
        branch: BranchName,
        since: Option<Timestamp>,
        task_ids: Vec<TaskId>,
    },
    Waiting {
        branch: BranchName,
        behind: Option<TaskId>,
        error: Option<String>,
    },
    SentBack {
        at: Timestamp,
        reason: String,
    },
}

impl TaskLanding {
    /// None for a task that was not accepted, or has landed.
    pub async fn load(
        board: &LandingBoard,
        projects: &Projects,
        task: &Task,
    ) -> Result<Option<Self>, EngineError> {
        if lane_entry(task).is_none() {
            return Ok(Self::sent_back(task));
        }
        let lanes = board.view(projects).await?.lanes;
        Ok(lanes.into_iter().find_map(|lane| Self::in_lane(lane, task.id())))
    }

    fn sent_back(task: &Task) -> Option<Self> {
        match task.ledger().notes.last() {
            Some(TaskNote::NotLanded { at, reason }) if !is_over(task) => {
                Some(Self::SentBack { at: *at, reason: reason.headline() })
            }
            _ => None,
        }
    }

    fn in_lane(lane: LaneView, task: TaskId) -> Option<Self> {
        let LaneView { branch, checking, checking_since, error, candidates, .. } = lane;
        let candidate = candidates.into_iter().find(|candidate| candidate.task_id == task)?;
        Some(if candidate.is_being_checked {
            Self::Checking { branch, since: checking_since, task_ids: checking }
        } else {
            Self::Waiting { branch, behind: candidate.behind, error }
        })
    }

    pub fn sentence(&self) -> String {
        match self {
            Self::Checking { branch, since, .. } => {
                let since = since.map(|since| format!(", since {since}")).unwrap_or_default();
                format!("the checks run on {branch} together with it{since}")
            }
            Self::Waiting { branch, error: Some(error), .. } => {
                format!("waits to land on {branch}, which cannot go on: {error}")
            }
            Self::Waiting { branch, behind: Some(behind), .. } => {
                format!("behind {behind} to land on {branch}")
            }
            Self::Waiting { branch, .. } => format!("next to land on {branch}"),
            Self::SentBack { reason, .. } => format!("sent back because {reason}"),
        }
    }
}

const fn is_over(task: &Task) -> bool {
    matches!(task.state(), TaskState::Done { .. } | TaskState::Cancelled { .. } | TaskState::Recycled { .. })
}
