//! Merges work as objects to see whether it fits, and moves nothing.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::git_name::BranchName;
use baton_core::base::id::TaskId;
use baton_core::task::Task;
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::git::Worktrees;
use crate::landing::batch::Batch;
use crate::landing::foundations;
use crate::landing::ground::{started_before, waits_for};
use crate::landing::lanes::{self, LaneKey};
use crate::landing::withdrawn::{self, WithdrawnCommits};
use crate::projects::Projects;
use crate::projects::trunk::BranchTip;

/// What merging the work of one task came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "merge", rename_all = "snake_case")]
pub enum TrialMerge {
    /// There is no work, or all of it is in the branch.
    Nothing,
    Fits {
        into: BranchName,
        /// Commits that were withdrawn or replaced since and that it takes along by force, each with its subject.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        commits: Vec<String>,
    },
    Conflict {
        into: BranchName,
        /// The branch whose files conflict: the one that it is for, or the person's own, which is ahead of that.
        with: BranchName,
        files: Vec<String>,
        /// Only with the work of a task that would be merged before it.
        is_with_earlier: bool,
        /// It merges without the person's own commits, and lands without them if those fail the checks.
        fits_without: bool,
    },
    /// Its branch does not lead to what was verified.
    Moved,
    /// It contains commits that were withdrawn or replaced since, each with its subject.
    OnWithdrawn {
        commits: Vec<String>,
        /// The task whose work it was started on and that has to land first. Until then it waits; then it goes back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waits_for: Option<TaskId>,
    },
    /// It was started on the work of a task that is not in the lane, and waits until that has landed.
    RestsOn { task_id: TaskId },
}

/// Merges these tasks in this order, each on the branch of its lane and those before it there. What is forced past the checks is
/// merged with everything it contains.
pub async fn merge(
    projects: &Projects,
    tasks: Vec<Task>,
    forced: &BTreeSet<TaskId>,
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
            worktrees = Some(projects.repository_as_it_is(task).await?.0);
        }
        let Some(worktrees) = worktrees else { continue };
        let project = match tasks.first() {
            Some(task) => projects.project(task).await?,
            None => None,
        };
        let mut on_withdrawn = withdrawn::find(projects, &worktrees, project.as_ref(), &tasks).await?;
        let Some((tip, ground)) = projects.foresee_trunk(&worktrees, project.as_ref()).await? else {
            continue;
        };
        let waiting = lanes::waiting(projects, &key).await?;
        let landing: BTreeSet<TaskId> = tasks.iter().chain(&waiting).map(Task::id).collect();
        let (mut fresh, mut taken_along) = (Vec::new(), BTreeMap::new());
        for task in tasks {
            match on_withdrawn.remove(&task.id()) {
                Some(found) if forced.contains(&task.id()) => {
                    taken_along.insert(task.id(), found.commits);
                    fresh.push(task);
                }
                Some(WithdrawnCommits { commits, waits_for }) => {
                    merged.insert(task.id(), TrialMerge::OnWithdrawn { commits, waits_for });
                }
                None => match absent_foundation(projects, &task, &landing).await? {
                    Some(task_id) => {
                        merged.insert(task.id(), TrialMerge::RestsOn { task_id });
                    }
                    None => fresh.push(task),
                },
            }
        }
        let batch = Batch::build(&worktrees, &key.branch, tip, ground, fresh).await?;
        let without = fitting_without(&worktrees, &key, &batch).await?;
        let is_red = waiting.iter().any(|task| waits_for(task, &batch.ground.commit));
        let conflict = |task: TaskId, files: Vec<String>, is_with_earlier| match without.contains(&task) {
            true if is_red => fits(&key, Vec::new()),
            fits_without => TrialMerge::Conflict {
                into: key.branch.clone(),
                with: batch.ground.branch.clone(),
                files,
                is_with_earlier,
                fits_without,
            },
        };
        merged.extend(batch.merged.iter().map(|task| (task.id(), TrialMerge::Nothing)));
        merged.extend(batch.moved.iter().map(|(task, ..)| (task.id(), TrialMerge::Moved)));
        for (among, is_with_earlier) in [(&batch.conflicts, false), (&batch.later, true)] {
            merged.extend(among.iter().map(|(one, files)| {
                (one.task.id(), conflict(one.task.id(), files.clone(), is_with_earlier))
            }));
        }
        merged.extend(batch.tasks().map(|task| {
            let along = taken_along.remove(&task.id()).unwrap_or_default();
            (task.id(), fits(&key, along))
        }));
    }
    Ok(merged)
}

/// What keeps this task in the lane because it is neither there nor comes in with it.
async fn absent_foundation(
    projects: &Projects,
    task: &Task,
    landing: &BTreeSet<TaskId>,
) -> Result<Option<TaskId>, EngineError> {
    let unmet = foundations::unmet(projects, task).await?;
    Ok(unmet.into_iter().map(|found| found.task).find(|on| !landing.contains(on)))
}

fn fits(key: &LaneKey, commits: Vec<String>) -> TrialMerge {
    TrialMerge::Fits { into: key.branch.clone(), commits }
}

/// Of those that conflict with the person's own commits, the ones that merge without them.
async fn fitting_without(
    worktrees: &Worktrees,
    key: &LaneKey,
    batch: &Batch,
) -> Result<Vec<TaskId>, EngineError> {
    if !batch.brings_in() {
        return Ok(Vec::new());
    }
    let conflicting = batch.conflicts.iter().map(|(one, _)| one.task.clone()).collect();
    let before = started_before(worktrees, &batch.tip, &batch.ground.commit, conflicting).await?;
    let at_tip = BranchTip { branch: key.branch.clone(), commit: batch.tip.clone() };
    let alone = Batch::build(worktrees, &key.branch, batch.tip.clone(), at_tip, before).await?;
    Ok(alone.ids(alone.members.len()))
}
