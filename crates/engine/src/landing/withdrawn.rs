//! Commits that work was given by another branch, and that this has no longer: a person has withdrawn or replaced them, or the task
//! whose work they were was done anew or has landed without them. They would land with the work, in every kind of lane.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::TaskId;
use baton_core::landing::lane::lane_entry;
use baton_core::records::project::Project;
use baton_core::task::Task;
use baton_core::task::attempt_record::AttemptClosing;
use baton_core::task::ledger::TaskNote;
use baton_core::task::not_landed::NotLanded;
use baton_core::task::state::TaskState;

use crate::base::error::EngineError;
use crate::git::{Checkout, GivenTip, WorkRange, Worktrees};
use crate::landing::acceptor::verified_head;
use crate::projects::Projects;
use crate::projects::trunk::BranchTip;

/// How work gets rid of what nobody wants any more: its own commits come after one commit, and belong on another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MoveOrder {
    pub onto: BranchTip,
    pub after: CommitId,
    /// Each commit that was withdrawn, with its subject, newest first.
    pub commits: Vec<String>,
}

/// Such commits in the work of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WithdrawnCommits {
    /// Each with its subject, newest first.
    pub commits: Vec<String>,
    /// A task whose work this one was started on and that is still to land: this one goes back once that has. Before, its agent
    /// would make a second copy of the other's work.
    pub waits_for: Option<TaskId>,
}

/// What these tasks of one lane contain of them, for those that do. What the branch of the lane has already does not count. Moves
/// nothing.
pub(crate) async fn find(
    projects: &Projects,
    worktrees: &Worktrees,
    project: Option<&Project>,
    tasks: &[Task],
) -> Result<BTreeMap<TaskId, WithdrawnCommits>, EngineError> {
    let kept = projects.lane_tips(worktrees, project).await?;
    let mut withdrawn = BTreeMap::new();
    for (task, work) in load_doubtful(projects, worktrees, tasks, &kept).await? {
        let commits = worktrees.withdrawn(&work, &kept).await?;
        if !commits.is_empty() {
            let commits = worktrees.repository().subjects(&commits).await?;
            let waits_for = open_giver(projects, worktrees, &work.branch).await?;
            withdrawn.insert(task, WithdrawnCommits { commits, waits_for });
        }
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

/// What the agent of this task is to do about such commits as things are now: branches move between the moment in which work goes back
/// and that in which its agent starts. None if the work is not back because of some, or contains none now.
pub(crate) async fn order(
    projects: &Projects,
    worktrees: &Worktrees,
    checkout: &Checkout,
    task: &Task,
) -> Result<Option<MoveOrder>, EngineError> {
    let last = task.ledger().notes.iter().rev().find(|note| note.is_about_work());
    let Some(TaskNote::NotLanded { reason, .. }) = last else { return Ok(None) };
    if !matches!(**reason, NotLanded::StartWithdrawn { .. }) {
        return Ok(None);
    }
    let project = projects.project(task).await?;
    let Some(onto) = projects.trunk(worktrees, project.as_ref()).await? else { return Ok(None) };
    let kept = projects.lane_tips(worktrees, project.as_ref()).await?;
    let doubtful = load_doubtful(projects, worktrees, std::slice::from_ref(task), &kept).await?;
    let Some((_, mut work)) = doubtful.into_iter().next() else { return Ok(None) };
    // An attempt that was interrupted may have moved it before.
    work.head = worktrees.head(checkout).await?;
    let commits = worktrees.withdrawn(&work, &kept).await?;
    if commits.is_empty() {
        return Ok(None);
    }
    let commits = worktrees.repository().subjects(&commits).await?;
    let after = worktrees.start_of_own(&work, &onto.commit).await?;
    worktrees.note_given(&work.branch, &(onto.branch.clone(), onto.commit.clone())).await?;
    Ok(Some(MoveOrder { onto, after, commits }))
}

/// The work of these tasks, where something that it was given is gone.
async fn load_doubtful(
    projects: &Projects,
    worktrees: &Worktrees,
    tasks: &[Task],
    kept: &BTreeMap<BranchName, CommitId>,
) -> Result<Vec<(TaskId, WorkRange)>, EngineError> {
    let repository = worktrees.repository();
    let branches: Vec<BranchName> = tasks.iter().map(|task| BranchName::for_task(task.id())).collect();
    let mut given = worktrees.given_to(&branches.iter().collect::<Vec<_>>()).await?;
    let mut works = Vec::new();
    for (task, branch) in tasks.iter().zip(branches) {
        let Some(tip) = repository.tip(&branch).await? else { continue };
        let head = match verified_head(task) {
            Some(head) => repository.commit_at(head.as_str()).await?.unwrap_or(tip),
            None => tip,
        };
        let given = given_for_good(projects, worktrees, given.remove(&branch).unwrap_or_default()).await?;
        works.push((task.id(), WorkRange { branch, head, given, own: Vec::new() }));
    }
    let ranges: Vec<&WorkRange> = works.iter().map(|(_, work)| work).collect();
    if !worktrees.may_be_withdrawn(&ranges, kept).await? {
        return Ok(Vec::new());
    }
    for (task, work) in &mut works {
        work.own = own_heads(projects, worktrees, *task).await?;
    }
    Ok(works)
}

/// Without the work that other tasks have and that has not landed by itself: it comes along with this one's.
async fn given_for_good(
    projects: &Projects,
    worktrees: &Worktrees,
    given: BTreeSet<GivenTip>,
) -> Result<BTreeSet<GivenTip>, EngineError> {
    let mut for_good = BTreeSet::new();
    for (branch, commit) in given {
        if !comes_along(projects, worktrees, &branch, &commit).await? {
            for_good.insert((branch, commit));
        }
    }
    Ok(for_good)
}

/// Whether this is work of another task that has not landed by itself. What that task has done anew since, because it was rejected
/// or sent back, is not: it lands as it is now, or not at all.
async fn comes_along(
    projects: &Projects,
    worktrees: &Worktrees,
    branch: &BranchName,
    commit: &CommitId,
) -> Result<bool, EngineError> {
    let Some(giver) = branch.task() else { return Ok(false) };
    if matches!(projects.tasks.task(giver).await?.value.state(), TaskState::Done { .. }) {
        return Ok(false);
    }
    let repository = worktrees.repository();
    match repository.tip(branch).await? {
        Some(tip) => Ok(repository.is_part_of(commit, &tip).await?),
        // Only another machine knows.
        None => Ok(true),
    }
}

/// What the attempts at this task came to, as far as they did anything and that is still here.
async fn own_heads(
    projects: &Projects,
    worktrees: &Worktrees,
    task: TaskId,
) -> Result<Vec<CommitId>, EngineError> {
    let mut heads = Vec::new();
    for record in projects.tasks.store.attempts(task).await? {
        let Some(AttemptClosing::Ended { end, .. }) = record.closing else { continue };
        if let Some(head) = end.verified.head.as_ref().filter(|_| end.verified.shows_work()) {
            heads.extend(worktrees.repository().commit_at(head.as_str()).await?);
        }
    }
    Ok(heads)
}

/// A task whose work this one was started on and that is still to land. What this one contains of it lands with that.
async fn open_giver(
    projects: &Projects,
    worktrees: &Worktrees,
    branch: &BranchName,
) -> Result<Option<TaskId>, EngineError> {
    let given = worktrees.given_to(&[branch]).await?.remove(branch).unwrap_or_default();
    let givers: BTreeSet<TaskId> = given.iter().filter_map(|(from, _)| from.task()).collect();
    for id in givers {
        let other = projects.tasks.task(id).await?.value;
        if other.is_unsettled() && !other.is_refused_work() {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// For each of these tasks in a lane that contains the work of another one which a person has refused since they accepted this: that
/// other one. Accepting it now would be refused, too.
pub(crate) async fn on_refused_since(
    projects: &Projects,
    worktrees: &Worktrees,
    tasks: &[Task],
) -> Result<BTreeMap<TaskId, TaskId>, EngineError> {
    let branches: Vec<BranchName> = tasks.iter().map(|task| BranchName::for_task(task.id())).collect();
    let given = worktrees.given_to(&branches.iter().collect::<Vec<_>>()).await?;
    let mut on_refused = BTreeMap::new();
    for (task, branch) in tasks.iter().zip(&branches) {
        let has_giver =
            given.get(branch).is_some_and(|given| given.iter().any(|(from, _)| from.is_of_task()));
        let Some(entry) = lane_entry(task).filter(|_| has_giver) else { continue };
        let Some(on) = projects.refused_below(task).await? else { continue };
        let other = projects.tasks.task(on).await?.value;
        let rejected = other.ledger().notes.iter().filter_map(|note| match note {
            TaskNote::Rejected { at, .. } => Some(*at),
            _ => None,
        });
        let is_cancelled = matches!(other.state(), TaskState::Cancelled { .. });
        let refused = rejected.chain(is_cancelled.then(|| other.updated_at())).max();
        if refused.is_some_and(|refused| refused > entry.since) {
            on_refused.insert(task.id(), on);
        }
    }
    Ok(on_refused)
}
