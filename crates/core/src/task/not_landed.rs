//! Why accepted work did not land.

use serde::{Deserialize, Serialize};

use crate::base::git_name::{BranchName, CommitId};
use crate::base::id::TaskId;
use crate::base::text::NonBlank;
use crate::task::attempt::CheckResult;
use crate::task::met_commits::MetCommits;

/// A task whose work met another's on the way into the branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetTask {
    pub task_id: TaskId,
    pub title: NonBlank,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum NotLanded {
    /// The checks pass on the branch and fail on it together with this work.
    ChecksFailed {
        into: BranchName,
        /// What was checked, and what it was built on.
        commit: CommitId,
        base: CommitId,
        /// Those that failed.
        checks: Vec<CheckResult>,
        /// The likeliest cause last.
        met: Vec<MetTask>,
        /// How many others it met as well.
        #[serde(default, skip_serializing_if = "is_zero")]
        met_more: u32,
        /// The person's own commits that it met there.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        met_commits: Vec<MetCommits>,
        /// Its checks failed at the end of its last attempt, too.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed_before: bool,
        /// Digest of the checks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        suite: Option<String>,
        /// The protected files that the work changes. The checks also ran with those of the branch in their place.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        protected: Vec<String>,
    },
    Conflict {
        into: BranchName,
        files: Vec<String>,
        met: Vec<MetTask>,
        #[serde(default, skip_serializing_if = "is_zero")]
        met_more: u32,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        met_commits: Vec<MetCommits>,
    },
    /// The task's branch does not lead to the commit that was verified.
    Moved { verified: CommitId, tip: CommitId },
    /// The commands that verify the task pass without it too, and no person has accepted it.
    ProvesNothing {
        /// What the task started from.
        base: CommitId,
        commands: Vec<NonBlank>,
    },
    /// It was started on the work of a task that has been cancelled since, and contains it.
    RestsOnCancelled { task_id: TaskId },
    /// The checks fail on the branch even without this work.
    BranchFails { into: BranchName, base: CommitId, checks: Vec<CheckResult> },
    /// The checks fail on the branch together with the person's own commits that the work started from, even without it.
    StartFails {
        into: BranchName,
        /// The person's commit.
        base: CommitId,
        checks: Vec<CheckResult>,
        /// The files in which that commit conflicts with the branch; then nothing was checked.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        conflicts: Vec<String>,
    },
    /// It contains commits that another branch had given it and has no longer.
    StartWithdrawn {
        /// Each commit that was withdrawn, with its subject, newest first.
        commits: Vec<String>,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl NotLanded {
    /// Whether the task's agent can do anything about it.
    pub const fn is_fault_of_task(&self) -> bool {
        match self {
            // Whether the files that judge it may change is a person's decision.
            Self::ChecksFailed { protected, .. } => protected.is_empty(),
            Self::Conflict { .. } | Self::Moved { .. } | Self::StartWithdrawn { .. } => true,
            Self::BranchFails { .. }
            | Self::StartFails { .. }
            | Self::ProvesNothing { .. }
            | Self::RestsOnCancelled { .. } => false,
        }
    }

    /// Whether the work keeps its place in the lane because of it: the checks fail without the work.
    pub const fn is_delay(&self) -> bool {
        match self {
            Self::BranchFails { .. } | Self::StartFails { .. } => true,
            Self::ChecksFailed { .. }
            | Self::Conflict { .. }
            | Self::Moved { .. }
            | Self::ProvesNothing { .. }
            | Self::RestsOnCancelled { .. }
            | Self::StartWithdrawn { .. } => false,
        }
    }

    pub fn met(&self) -> &[MetTask] {
        match self {
            Self::ChecksFailed { met, .. } | Self::Conflict { met, .. } => met,
            Self::Moved { .. }
            | Self::BranchFails { .. }
            | Self::StartFails { .. }
            | Self::StartWithdrawn { .. }
            | Self::ProvesNothing { .. }
            | Self::RestsOnCancelled { .. } => &[],
        }
    }

    /// How many other tasks' work it met besides those that are listed.
    pub const fn met_more(&self) -> u32 {
        match self {
            Self::ChecksFailed { met_more, .. } | Self::Conflict { met_more, .. } => *met_more,
            Self::Moved { .. }
            | Self::BranchFails { .. }
            | Self::StartFails { .. }
            | Self::StartWithdrawn { .. }
            | Self::ProvesNothing { .. }
            | Self::RestsOnCancelled { .. } => 0,
        }
    }

    pub fn met_commits(&self) -> &[MetCommits] {
        match self {
            Self::ChecksFailed { met_commits, .. } | Self::Conflict { met_commits, .. } => met_commits,
            Self::Moved { .. }
            | Self::BranchFails { .. }
            | Self::StartFails { .. }
            | Self::StartWithdrawn { .. }
            | Self::ProvesNothing { .. }
            | Self::RestsOnCancelled { .. } => &[],
        }
    }

    /// Whether it is the same reason as far as people are concerned: the output of a check differs from run to run.
    pub fn says_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::BranchFails { base, .. }, Self::BranchFails { base: other_base, .. })
            | (Self::StartFails { base, .. }, Self::StartFails { base: other_base, .. }) => {
                base == other_base && self.headline() == other.headline()
            }
            (one, other) => one == other,
        }
    }
}
