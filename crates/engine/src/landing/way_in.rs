//! How work is accepted: by the lane of its branch, or by merging it at once.

use baton_core::landing::lane::lane_entry;
use baton_core::task::Task;
use baton_core::task::ledger::TaskNote;
use baton_core::task::not_landed::NotLanded;
use baton_core::task::state::TaskState;
use baton_core::transition::command::Command;

use crate::base::error::EngineError;
use crate::landing::acceptor::Acceptor;
use crate::landing::withdrawn;

impl Acceptor {
    /// How the work is accepted: through the lane of its branch, which checks it and sends back what contains withdrawn commits,
    /// or by merging it at once.
    pub(super) async fn way_in(
        &self,
        task: &Task,
        is_checked: bool,
        is_on_refused: bool,
        force: bool,
    ) -> Result<Command, EngineError> {
        let withdrawn = self.withdrawn_in(task).await?;
        let is_on_withdrawn = !withdrawn.is_empty();
        if !is_checked && !is_on_withdrawn {
            return Ok(Command::Accept { force });
        }
        // That a person has looked at it closely says nothing about the checks, nor about what was withdrawn since: those are forced
        // by a second decision.
        let is_in_lane = lane_entry(task).is_some();
        let looks_closely = (needs_force(task) || is_on_refused && !is_in_lane)
            && !has_failed_by_force(task, is_on_withdrawn);
        Ok(if !force || looks_closely {
            Command::EnterLane { force }
        } else {
            Command::ForceLand { commit: None, withdrawn }
        })
    }

    /// Whether force would merge this work at once, with everything it contains.
    pub async fn is_forced_past_checks(&self, task: &Task) -> Result<bool, EngineError> {
        let is_checked = self.projects.settings_and_checks(task).await?.1 && self.has_branch(task).await?;
        let is_on_refused = self.projects.refused_below(task).await?.is_some();
        let way_in = self.way_in(task, is_checked, is_on_refused, true).await?;
        Ok(!matches!(way_in, Command::EnterLane { .. }))
    }

    /// The commits in it that were withdrawn, each with its subject.
    async fn withdrawn_in(&self, task: &Task) -> Result<Vec<String>, EngineError> {
        let project = self.projects.project(task).await?;
        let worktrees = self.projects.open_source(&self.projects.source(project.as_ref())).await?;
        let found = withdrawn::find_in(&self.projects, &worktrees, task).await?;
        Ok(found.map(|found| found.commits).unwrap_or_default())
    }
}

/// Whether a person has taken this work into the lane by force, and it came back from there: the checks of the branch refused it,
/// or it contains commits that were withdrawn, and still does.
fn has_failed_by_force(task: &Task, is_on_withdrawn: bool) -> bool {
    let last = task.ledger().notes.iter().rev().find(|note| note.is_about_work());
    matches!(last, Some(TaskNote::NotLanded { reason, .. }) if match &**reason {
        NotLanded::ChecksFailed { protected, .. } => !protected.is_empty() && !is_on_withdrawn,
        NotLanded::StartWithdrawn { .. } => is_on_withdrawn,
        _ => false,
    })
}

fn needs_force(task: &Task) -> bool {
    matches!(task.state(), TaskState::Provisional(work) if work.mark.needs_force())
}
