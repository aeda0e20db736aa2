//! Work that landed on a branch and is not there any more, because somebody deleted the branch or moved it back.

use baton_core::base::git_name::BranchName;

use crate::base::error::EngineError;
use crate::git::{Repository, landed_ref};
use crate::landing::met::task_ids;
use crate::projects::landing_rules::RulesDifference;

/// Tasks that are named.
const NAMED_MAX: usize = 10;

/// What people are told about it.
pub(crate) async fn find(
    repository: &Repository,
    branch: &BranchName,
) -> Result<Option<RulesDifference>, EngineError> {
    // Read before the branch: both move in one step, so the branch is never behind it.
    let Some(landed) = repository.landed(branch).await? else { return Ok(None) };
    let tip = repository.tip(branch).await?;
    if !repository.is_lost(&landed, tip.as_ref()).await? {
        return Ok(None);
    }
    let ids = task_ids(&repository.lost_messages(&landed, tip.as_ref()).await?);
    let named: Vec<String> = ids.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    let more = match ids.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let tasks = if named.is_empty() { String::new() } else { format!(": {}{more}", named.join(", ")) };
    // Never by moving the branch: something else may land before a person does it, and would be lost.
    let restore = match tip {
        None => format!("git branch {branch} {landed}"),
        Some(_) => format!("git merge {landed}, then git merge {branch}, on your own branch"),
    };
    Ok(Some(RulesDifference {
        detail: format!("{branch} no longer has all that landed there{tasks}"),
        fix: format!("restore it: {restore}; if that is meant: git update-ref -d {}", landed_ref(branch)),
    }))
}
