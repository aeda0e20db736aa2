//! Work that landed on a branch and is not there any more, because somebody deleted the branch or moved it back.

use baton_core::base::git_name::{BranchName, CommitId};

use crate::base::error::EngineError;
use crate::git::{Repository, Worktrees, landed_ref};
use crate::landing::lanes::Lane;
use crate::landing::met::task_ids;
use crate::projects::Projects;
use crate::projects::landing_rules::RulesDifference;

/// Tasks that are named.
const NAMED_MAX: usize = 10;

/// The same for the branch of a lane.
pub(crate) async fn find_in_lane(
    projects: &Projects,
    worktrees: &Worktrees,
    lane: &Lane,
) -> Result<Option<RulesDifference>, EngineError> {
    match projects.foresee_trunk(worktrees, lane.project.as_ref()).await? {
        Some((at, _)) => find(worktrees.repository(), &lane.key.branch, &at).await,
        None => Ok(None),
    }
}

/// What people are told about it. `at` is where the branch stands, or is made anew.
pub(crate) async fn find(
    repository: &Repository,
    branch: &BranchName,
    at: &CommitId,
) -> Result<Option<RulesDifference>, EngineError> {
    let Some(lost) = repository.lost_landing(branch, at).await? else { return Ok(None) };
    let ids = task_ids(&repository.lost_messages(&lost, at).await?);
    let named: Vec<String> = ids.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    let more = match ids.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let tasks = if named.is_empty() { String::new() } else { format!(": {}{more}", named.join(", ")) };
    let restore = if repository.tip(branch).await?.is_none() {
        format!("git branch {branch} {lost}")
    } else if repository.is_ancestor(at, &lost).await? {
        format!("git branch -f {branch} {lost}")
    } else {
        format!("git merge {lost} on your own branch")
    };
    Ok(Some(RulesDifference {
        detail: format!("{branch} no longer has all that landed there{tasks}"),
        fix: format!("restore it: {restore}; if that is meant: git update-ref -d {}", landed_ref(branch)),
    }))
}
