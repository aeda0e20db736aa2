//! What a task's work starts from: the project's branch, and unaccepted work that the task continues.

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::TaskId;
use baton_core::task::{Purpose, Task};

use crate::base::error::EngineError;
use crate::git::{Repository, Worktrees};
use crate::projects::Projects;
use crate::tasks::conversation::PastMessage;

impl Projects {
    /// Creates the branch of a task that continues unaccepted work. Any other task's branch is created with its first
    /// attempt.
    pub(crate) async fn start_branch(
        &self,
        task: &Task,
        worktrees: &Worktrees,
        into: &BranchName,
    ) -> Result<(), EngineError> {
        let branch = BranchName::for_task(task.id());
        let project = self.project(task).await?;
        let trunk = self.trunk(worktrees, project.as_ref()).await?;
        let trunk = &trunk.map_or_else(|| into.clone(), |trunk| trunk.branch);
        let rests_on = &task.ledger().rests_on;
        if rests_on.is_empty()
            && let Some(recycled) = self.recycled_task(task).await?
        {
            self.fetch_branch(worktrees, recycled).await?;
            return match task.spec().purpose {
                // A breakdown only reads.
                Purpose::Breakdown { .. } => Ok(()),
                Purpose::Work | Purpose::Run => {
                    let work = BranchName::for_task(recycled);
                    Ok(worktrees.start_branch_on(&branch, trunk, &[work]).await?)
                }
            };
        }
        for on in rests_on {
            self.fetch_branch(worktrees, *on).await?;
        }
        let mut works = rests_on.clone();
        if works.is_empty() {
            works.extend(self.conversation_work(task, worktrees, trunk).await?);
        }
        if works.is_empty() {
            return Ok(());
        }
        let works: Vec<BranchName> = works.into_iter().map(BranchName::for_task).collect();
        Ok(worktrees.start_branch_on(&branch, trunk, &works).await?)
    }

    /// The task whose partial work this one continues: the recycled task, for its breakdown and for the subtasks of the plan.
    pub(crate) async fn recycled_task(&self, task: &Task) -> Result<Option<TaskId>, EngineError> {
        if let Some(replaced) = task.replaces() {
            return Ok(Some(replaced));
        }
        match task.spec().planned_in {
            Some(breakdown) => Ok(self.tasks.task(breakdown).await?.value.replaces()),
            None => Ok(None),
        }
    }

    /// The task whose unaccepted work a later message of its conversation builds on: the newest that has some and does not
    /// contain work that a person refused.
    async fn conversation_work(
        &self,
        task: &Task,
        worktrees: &Worktrees,
        trunk: &BranchName,
    ) -> Result<Option<TaskId>, EngineError> {
        let repository = worktrees.repository();
        if repository.tip(&BranchName::for_task(task.id())).await?.is_some() {
            return Ok(None);
        }
        let past = self.tasks.past_conversation(task).await?.messages;
        let earlier: Vec<&Task> = past.iter().flat_map(PastMessage::tasks).collect();
        let Some(base) = repository.tip(trunk).await? else { return Ok(None) };
        // Oldest first, so that a task without commits of its own is not taken for the one it started from.
        let (mut open, mut refused): (Vec<(TaskId, CommitId)>, Vec<&CommitId>) = (Vec::new(), Vec::new());
        for task in earlier {
            if task.is_open_work() {
                self.fetch_branch(worktrees, task.id()).await?;
                let tip = repository.tip(&BranchName::for_task(task.id())).await?;
                open.extend(tip.map(|tip| (task.id(), tip)));
            } else if let Some(head) = head_of(task).filter(|_| task.is_refused_work()) {
                let known = open.iter().map(|(_, tip)| tip).chain([&base]);
                if !is_part_of_any(repository, head, known).await? {
                    refused.push(head);
                }
            }
        }
        for (candidate, tip) in open.into_iter().rev() {
            let has_refused = contains_any(repository, &tip, &refused).await?;
            if !has_refused && !repository.is_ancestor(&tip, &base).await? {
                return Ok(Some(candidate));
            }
        }
        Ok(None)
    }

    /// An earlier message's work that a person refused and that this task's work contains, where its branch does not have it.
    pub(crate) async fn refused_below(&self, task: &Task) -> Result<Option<TaskId>, EngineError> {
        let Some(head) = head_of(task) else { return Ok(None) };
        let earlier = self.tasks.past_conversation(task).await?.messages;
        let refused: Vec<&Task> = earlier
            .iter()
            .flat_map(PastMessage::tasks)
            .filter(|earlier| earlier.is_refused_work() && earlier.shows_work() && earlier.id() != task.id())
            .collect();
        if refused.is_empty() {
            return Ok(None);
        }
        let (worktrees, into) = self.repository_as_it_is(task).await?;
        let repository = worktrees.repository();
        let project = self.project(task).await?;
        let tip = match self.trunk(&worktrees, project.as_ref()).await? {
            Some(trunk) => Some(trunk.commit),
            None => repository.tip(&into).await?,
        };
        let Some(tip) = tip else { return Ok(None) };
        for earlier in refused {
            let Some(theirs) = head_of(earlier) else { continue };
            if repository.is_part_of(theirs, head).await? && !repository.is_part_of(theirs, &tip).await? {
                return Ok(Some(earlier.id()));
            }
        }
        Ok(None)
    }

    /// Another machine may have done that work.
    async fn fetch_branch(&self, worktrees: &Worktrees, task: TaskId) -> Result<(), EngineError> {
        if worktrees.repository().is_clone() {
            let is_ahead = self.unpushed().has_work_of(task);
            worktrees.pull(&[], Some(&BranchName::for_task(task)), is_ahead).await?;
        }
        Ok(())
    }
}

/// The commit its last attempt came to.
fn head_of(task: &Task) -> Option<&CommitId> {
    task.ledger().last_end.as_ref()?.verified.head.as_ref()
}

async fn is_part_of_any(
    repository: &Repository,
    head: &CommitId,
    tips: impl Iterator<Item = &CommitId>,
) -> Result<bool, EngineError> {
    for tip in tips {
        if repository.is_part_of(head, tip).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn contains_any(
    repository: &Repository,
    tip: &CommitId,
    heads: &[&CommitId],
) -> Result<bool, EngineError> {
    for head in heads {
        if repository.is_part_of(head, tip).await? {
            return Ok(true);
        }
    }
    Ok(false)
}
