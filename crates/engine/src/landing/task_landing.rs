//! Where one task stands on its way into its branch, for agents and people who ask about the task.

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use baton_core::landing::evidence::{CheckExit, LandingEvidence};
use baton_core::landing::verdict::VerdictKey;
use baton_core::landing::verified::VerifiedCommand;
use baton_core::records::event::EventBody;
use baton_core::task::Task;
use baton_core::task::attempt::CheckResult;
use baton_core::task::ledger::TaskNote;
use baton_core::task::not_landed::NotLanded;
use baton_core::task::state::TaskState;
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::landing::board::LandingBoard;
use crate::landing::views::LaneView;
use crate::projects::Projects;

/// Events of one task that are looked through for its landing.
const EVENTS_MAX: u32 = 2_000;

/// Where it stands, in words and in fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskLandingView {
    pub message: String,
    #[serde(flatten)]
    pub landing: TaskLanding,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum TaskLanding {
    /// The checks run on the branch together with it.
    Checking {
        branch: BranchName,
        /// Its place in the lane, from 1.
        position: u64,
        /// What the branch becomes if they pass.
        commit: Option<CommitId>,
        since: Option<Timestamp>,
        task_ids: Vec<TaskId>,
    },
    Waiting {
        branch: BranchName,
        position: u64,
        behind: Option<TaskId>,
        /// Why the whole lane does not go on.
        error: Option<String>,
        /// Why this task does not: its branch fails the checks without it.
        delayed: Option<String>,
    },
    SentBack {
        at: Timestamp,
        reason: String,
        /// What was checked.
        commit: Option<CommitId>,
        base: Option<CommitId>,
        /// Digest of the checks.
        suite: Option<String>,
        /// Those that failed.
        checks: Vec<CheckResult>,
        /// Its agent can do nothing about it.
        waits_for_person: bool,
    },
    Landed {
        at: Timestamp,
        commit: CommitId,
        evidence: Option<Box<LandingEvidence>>,
        /// What the commands that verify it said before and with it.
        #[serde(default)]
        verified: Vec<VerifiedCommand>,
    },
    /// A person took it past the checks.
    Forced {
        at: Timestamp,
        commit: Option<CommitId>,
        by: String,
        /// The withdrawn commits that came in with it, each with its subject.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        withdrawn: Vec<String>,
    },
}

impl TaskLandingView {
    /// None for a task that was never accepted, or was merged without checks.
    pub async fn load(
        board: &LandingBoard,
        projects: &Projects,
        task: &Task,
    ) -> Result<Option<Self>, EngineError> {
        let landing = TaskLanding::load(board, projects, task).await?;
        Ok(landing.map(|landing| Self { message: landing.sentence(), landing }))
    }
}

impl TaskLanding {
    async fn load(
        board: &LandingBoard,
        projects: &Projects,
        task: &Task,
    ) -> Result<Option<Self>, EngineError> {
        match task.state() {
            TaskState::Landing(_) => {
                let view = board.view(projects).await?;
                let commit = |run: Option<u64>| {
                    let found = view.runs.iter().find(|one| Some(one.run) == run);
                    found.map(|one| one.commit.clone())
                };
                Ok(view.lanes.iter().find_map(|lane| Self::in_lane(lane, commit(lane.run), task.id())))
            }
            TaskState::Done { .. } => match Self::landed(projects, task.id()).await? {
                Some(mut landed) => {
                    landed.add_output(projects).await?;
                    Ok(Some(landed))
                }
                None => Ok(None),
            },
            TaskState::Cancelled { .. } | TaskState::Recycled { .. } => Ok(None),
            TaskState::Incoming
            | TaskState::Held
            | TaskState::Breakdown { .. }
            | TaskState::Claimed { .. }
            | TaskState::NeedsContinuation { .. }
            | TaskState::AwaitingResponse { .. }
            | TaskState::Blocked { .. }
            | TaskState::Provisional(_)
            | TaskState::Failed { .. } => Ok(Self::sent_back(task)),
        }
    }

    async fn landed(projects: &Projects, task: TaskId) -> Result<Option<Self>, EngineError> {
        let events = projects.tasks.store.task_events(task, 0, EVENTS_MAX).await?;
        Ok(events.iter().rev().find_map(|stored| match &stored.event.body {
            EventBody::TaskLanded { commit, evidence, verified, .. } => Some(Self::Landed {
                at: stored.event.at,
                commit: commit.clone(),
                evidence: evidence.clone(),
                verified: verified.clone(),
            }),
            EventBody::TaskForced { commit, withdrawn, .. } => Some(Self::Forced {
                at: stored.event.at,
                commit: commit.clone(),
                withdrawn: withdrawn.clone(),
                by: stored.event.by.to_string(),
            }),
            _ => None,
        }))
    }

    /// What the checks printed that it landed by.
    async fn add_output(&mut self, projects: &Projects) -> Result<(), EngineError> {
        let Self::Landed { evidence: Some(evidence), .. } = self else { return Ok(()) };
        let (tree, suite) = (evidence.tree.clone(), evidence.suite.clone());
        let key = VerdictKey { tree, suite, environment: evidence.environment.clone() };
        let Some(verdict) = projects.tasks.store.verdict(&key).await? else { return Ok(()) };
        if let Some(run) = verdict.value.runs.iter().find(|run| run.passed()) {
            evidence.checks =
                run.results.iter().map(|check| CheckExit::with_output(check, usize::MAX)).collect();
        }
        Ok(())
    }

    fn sent_back(task: &Task) -> Option<Self> {
        let Some(TaskNote::NotLanded { at, reason }) = task.ledger().notes.last() else { return None };
        let (at, headline) = (*at, reason.headline());
        Some(match &**reason {
            NotLanded::ChecksFailed { commit, base, checks, suite, .. } => Self::SentBack {
                at,
                reason: headline,
                commit: Some(commit.clone()),
                base: Some(base.clone()),
                suite: suite.clone(),
                checks: checks.clone(),
                waits_for_person: !reason.is_fault_of_task(),
            },
            NotLanded::Conflict { .. }
            | NotLanded::Moved { .. }
            | NotLanded::ProvesNothing { .. }
            | NotLanded::RestsOnCancelled { .. }
            | NotLanded::BranchFails { .. }
            | NotLanded::StartFails { .. }
            | NotLanded::StartWithdrawn { .. } => Self::SentBack {
                at,
                reason: headline,
                commit: None,
                base: None,
                suite: None,
                checks: Vec::new(),
                waits_for_person: !reason.is_fault_of_task(),
            },
        })
    }

    fn in_lane(lane: &LaneView, commit: Option<CommitId>, task: TaskId) -> Option<Self> {
        let place = lane.candidates.iter().position(|candidate| candidate.task_id == task)?;
        let (candidate, branch) = (&lane.candidates[place], lane.branch.clone());
        let position = place as u64 + 1;
        Some(if candidate.is_being_checked {
            Self::Checking {
                branch,
                position,
                commit: commit.filter(|_| lane.checking.contains(&task)),
                since: lane.checking_since,
                task_ids: lane.checking.clone(),
            }
        } else {
            Self::Waiting {
                branch,
                position,
                behind: candidate.behind,
                error: lane.error.clone(),
                delayed: candidate.delayed.clone(),
            }
        })
    }

    fn sentence(&self) -> String {
        match self {
            Self::Checking { branch, since, .. } => {
                let since = since.map(|since| format!(", since {since}")).unwrap_or_default();
                format!("the checks run on {branch} together with it{since}")
            }
            Self::Waiting { delayed: Some(delayed), .. } => format!("waits: {delayed}"),
            Self::Waiting { branch, error: Some(error), .. } => {
                format!("waits to land on {branch}, which cannot go on: {error}")
            }
            Self::Waiting { branch, behind: Some(behind), .. } => {
                format!("behind {behind} to land on {branch}")
            }
            Self::Waiting { branch, .. } => format!("next to land on {branch}"),
            Self::SentBack { reason, waits_for_person: true, .. } => format!("waits for a person: {reason}"),
            Self::SentBack { reason, .. } => format!("sent back because {reason}"),
            Self::Landed { commit, evidence: Some(evidence), verified, .. } => {
                let verified: Vec<String> = verified.iter().map(|one| format!("; {one}")).collect();
                format!("landed with {commit}: {}{}", evidence.sentence(), verified.concat())
            }
            Self::Landed { commit, .. } => format!("landed with {commit}, without a run of the checks"),
            Self::Forced { by, withdrawn, .. } => {
                format!("landed by force of {by}, without its checks{}", along(withdrawn))
            }
        }
    }
}

/// Which withdrawn commits came in, if any.
fn along(withdrawn: &[String]) -> String {
    if withdrawn.is_empty() {
        return String::new();
    }
    format!(", together with commits that were withdrawn or replaced: {}", withdrawn.join("; "))
}
