//! Commits that work was given by the branch it was started from, and that the branch has no longer: a person has withdrawn or
//! replaced them. They would land with the work, in every kind of lane.

use std::collections::BTreeMap;

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::TaskId;
use baton_core::records::project::Project;
use baton_core::task::Task;

use crate::base::error::EngineError;
use crate::git::{WorkRange, Worktrees};
use crate::landing::acceptor::verified_head;
use crate::landing::foundations;
use crate::projects::Projects;

/// What a task contains that nobody wants any more.
pub(crate) struct WithdrawnCommits {
    /// What the agent did comes after this commit.
    pub after: CommitId,
    /// Each commit that was withdrawn, with its subject, newest first.
    pub commits: Vec<String>,
}

/// For each of these tasks of one lane that has some. What the branch of the lane has already does not count.
pub(crate) async fn find(
    projects: &Projects,
    worktrees: &Worktrees,
    project: Option<&Project>,
    tasks: &[Task],
) -> Result<BTreeMap<TaskId, WithdrawnCommits>, EngineError> {
    let repository = worktrees.repository();
    // First: it may take the branch of the lane back.
    let person = projects.person_tip(worktrees, project).await?;
    let into = project.map_or_else(BranchName::integration, Project::branch);
    let Some(tip) = repository.tip(&into).await? else { return Ok(BTreeMap::new()) };
    let kept: Vec<CommitId> = [tip].into_iter().chain(person).collect();
    let mut works = Vec::new();
    for task in tasks {
        works.extend(range(worktrees, task).await?);
    }
    let mut found = worktrees.withdrawn(&works, &kept).await?;
    let mut withdrawn = BTreeMap::new();
    for task in tasks {
        let Some(commits) = found.remove(&BranchName::for_task(task.id())) else { continue };
        let Some(after) = last_foreign(projects, worktrees, task, &commits).await? else { continue };
        let commits = repository.subjects(&commits).await?;
        withdrawn.insert(task.id(), WithdrawnCommits { after, commits });
    }
    Ok(withdrawn)
}

/// The same for one task.
pub(crate) async fn find_in(
    projects: &Projects,
    worktrees: &Worktrees,
    task: &Task,
) -> Result<Option<WithdrawnCommits>, EngineError> {
    let project = projects.project(task).await?;
    let mut found = find(projects, worktrees, project.as_ref(), std::slice::from_ref(task)).await?;
    Ok(found.remove(&task.id()))
}

/// None for a task without work here.
async fn range(worktrees: &Worktrees, task: &Task) -> Result<Option<WorkRange>, EngineError> {
    let branch = BranchName::for_task(task.id());
    let repository = worktrees.repository();
    let Some(tip) = repository.tip(&branch).await? else { return Ok(None) };
    let head = match verified_head(task) {
        Some(head) => repository.commit_at(head.as_str()).await?.unwrap_or(tip),
        None => tip,
    };
    let base = match task.ledger().last_end.as_ref().and_then(|end| end.verified.base.as_ref()) {
        Some(base) => repository.commit_at(base.as_str()).await?,
        None => None,
    };
    Ok(Some(WorkRange { branch, head, base }))
}

/// The newest commit in the work that is not to be kept: of those that were withdrawn or, where the work of other tasks that it was
/// started on has landed anew, of that.
async fn last_foreign(
    projects: &Projects,
    worktrees: &Worktrees,
    task: &Task,
    withdrawn: &[CommitId],
) -> Result<Option<CommitId>, EngineError> {
    let Some(newest) = withdrawn.first() else { return Ok(None) };
    let repository = worktrees.repository();
    let ground = worktrees.ground_of(&BranchName::for_task(task.id())).await?;
    if let (Some(ground), Some(head)) = (ground, verified_head(task))
        && !task.ledger().rests_on.is_empty()
        && foundations::unmet(projects, task).await?.is_empty()
        && repository.is_ancestor(newest, &ground).await?
        && repository.is_part_of(&ground, head).await?
    {
        return Ok(Some(ground));
    }
    Ok(Some(newest.clone()))
}
