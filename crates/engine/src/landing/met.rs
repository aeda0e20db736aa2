//! Which tasks and which of the person's commits a candidate met on its way: those that are in the branch and not in its own
//! history, and those before it.

use baton_core::base::git_name::CommitId;
use baton_core::base::id::TaskId;
use baton_core::task::met_commits::MetCommits;
use baton_core::task::not_landed::MetTask;

use crate::base::error::EngineError;
use crate::git::Worktrees;
use crate::landing::batch::{Batch, LandingCandidate};
use crate::projects::trunk::BranchTip;
use crate::tasks::service::TaskService;

/// More would not fit into a prompt. The newest are kept.
const MET_MAX: usize = 10;

pub(crate) async fn find(
    tasks: &TaskService,
    worktrees: &Worktrees,
    candidate: &LandingCandidate,
    tip: &CommitId,
) -> Result<Vec<MetTask>, EngineError> {
    let Some(head) = &candidate.spec.head else { return Ok(Vec::new()) };
    let messages = worktrees.messages_since(head, tip).await?;
    let mut ids = task_ids(&messages);
    ids.retain(|id| *id != candidate.task.id());
    let ids = ids.split_off(ids.len().saturating_sub(MET_MAX));
    let found = tasks.store.tasks_by_ids(&ids).await?;
    let title = |id: &TaskId| found.iter().find(|stored| stored.value.id() == *id);
    let met = |id: &TaskId| Some(MetTask { task_id: *id, title: title(id)?.value.spec().title.clone() });
    Ok(ids.iter().filter_map(met).collect())
}

/// Of these, the ones that changed one of the files.
pub(crate) async fn touching(
    tasks: &TaskService,
    worktrees: &Worktrees,
    met: Vec<MetTask>,
    files: &[String],
) -> Result<Vec<MetTask>, EngineError> {
    let ids: Vec<TaskId> = met.iter().map(|met| met.task_id).collect();
    let mut touching = Vec::new();
    for stored in tasks.store.tasks_by_ids(&ids).await? {
        let Some(end) = &stored.value.ledger().last_end else { continue };
        let (Some(base), Some(head)) = (&end.verified.base, &end.verified.head) else { continue };
        if worktrees.repository().changes_any(base, head, files).await? {
            touching.push(stored.value.id());
        }
    }
    Ok(met.into_iter().filter(|met| touching.contains(&met.task_id)).collect())
}

/// The person's own commits that it met: those that came into the branch with other work, and those that are to come in with it.
pub(crate) async fn find_commits(
    worktrees: &Worktrees,
    candidate: &LandingCandidate,
    batch: &Batch,
) -> Result<Vec<MetCommits>, EngineError> {
    let Some(head) = &candidate.spec.head else { return Ok(Vec::new()) };
    let mut met = worktrees.brought_in_since(head, &batch.tip).await?;
    if batch.brings_in() {
        let BranchTip { branch, commit } = batch.ground.clone();
        met.extend(worktrees.commits_met(head, branch, batch.tip.clone(), commit).await?);
    }
    Ok(met.split_off(met.len().saturating_sub(MET_MAX)))
}

/// Of these, the ones that changed one of the files.
pub(crate) async fn commits_touching(
    worktrees: &Worktrees,
    candidate: &LandingCandidate,
    met: Vec<MetCommits>,
    files: &[String],
) -> Result<Vec<MetCommits>, EngineError> {
    let Some(head) = &candidate.spec.head else { return Ok(Vec::new()) };
    let mut touching = Vec::new();
    for one in met {
        let changed = worktrees.files_met(head, &one).await?;
        if files.iter().any(|file| changed.contains(file)) {
            touching.push(one);
        }
    }
    Ok(touching)
}

/// The tasks that merge commits name, in order, each once.
pub(crate) fn task_ids(messages: &str) -> Vec<TaskId> {
    let mut ids: Vec<TaskId> = Vec::new();
    for line in messages.lines() {
        let word = line.strip_prefix("Merge ").and_then(|rest| rest.split(':').next());
        if let Some(id) = word.and_then(|word| word.parse().ok())
            && !ids.contains(&id)
        {
            ids.push(id);
        }
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merge_commits_name_their_tasks() {
        let messages = "Merge TASK-00000001: One\n\nMerge 2 tasks\n\nMerge TASK-00000002: Two\n\
                        Merge TASK-00000001: One\nMerge branch x\nFix TASK-00000009\n";
        assert_eq!(task_ids(messages), [1, 2].map(TaskId::from_bits));
    }
}
