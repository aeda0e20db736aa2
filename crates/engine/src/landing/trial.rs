//! Merges work as objects to see whether it fits, and moves nothing.

use std::collections::BTreeMap;

use baton_core::base::git_name::BranchName;
use baton_core::base::id::TaskId;
use baton_core::task::Task;
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::git::Worktrees;
use crate::landing::batch::Batch;
use crate::landing::lanes::{self, LaneKey};
use crate::projects::Projects;

/// What merging the work of one task came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "merge", rename_all = "snake_case")]
pub enum TrialMerge {
    /// There is no work, or all of it is in the branch.
    Nothing,
    Fits {
        into: BranchName,
    },
    Conflict {
        into: BranchName,
        files: Vec<String>,
        /// Only with the work of a task that would be merged before it.
        is_with_earlier: bool,
    },
    /// Its branch does not lead to what was verified.
    Moved,
}

/// Merges these tasks in this order, each on the branch of its lane and those before it there.
pub async fn merge(
    projects: &Projects,
    tasks: Vec<Task>,
) -> Result<BTreeMap<TaskId, TrialMerge>, EngineError> {
    let mut lanes: BTreeMap<LaneKey, Vec<Task>> = BTreeMap::new();
    for task in tasks {
        lanes.entry(lanes::key_of(projects, &task).await?).or_default().push(task);
    }
    let mut merged = BTreeMap::new();
    for (key, tasks) in lanes {
        let mut worktrees: Option<Worktrees> = None;
        // Work that other machines did has to be here first.
        for task in &tasks {
            worktrees = Some(projects.repository_as_shared(task).await?.0);
        }
        let Some(worktrees) = worktrees else { continue };
        let project = match tasks.first() {
            Some(task) => projects.project(task).await?,
            None => None,
        };
        let tip = worktrees.repository().tip(&key.branch).await?;
        let ground = projects.trunk(&worktrees, project.as_ref()).await?;
        let (Some(tip), Some(ground)) = (tip, ground) else {
            // The first work that is accepted makes the branch.
            merged
                .extend(tasks.iter().map(|task| (task.id(), TrialMerge::Fits { into: key.branch.clone() })));
            continue;
        };
        let batch = Batch::build(&worktrees, &key.branch, tip, ground, tasks).await?;
        let conflict = |files: Vec<String>, is_with_earlier| TrialMerge::Conflict {
            into: key.branch.clone(),
            files,
            is_with_earlier,
        };
        merged.extend(batch.merged.iter().map(|task| (task.id(), TrialMerge::Nothing)));
        merged.extend(batch.moved.iter().map(|(task, ..)| (task.id(), TrialMerge::Moved)));
        merged
            .extend(batch.conflicts.into_iter().map(|(one, files)| (one.task.id(), conflict(files, false))));
        merged.extend(batch.later.into_iter().map(|(one, files)| (one.task.id(), conflict(files, true))));
        let fits = |task: &Task| (task.id(), TrialMerge::Fits { into: key.branch.clone() });
        merged.extend(batch.members.iter().map(|(one, _)| fits(&one.task)));
    }
    Ok(merged)
}
