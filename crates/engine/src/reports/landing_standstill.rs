//! What of accepted or finished work stands still until a person acts.

use std::collections::BTreeMap;

use baton_core::base::git_name::BranchName;
use baton_core::base::id::ProjectId;
use baton_core::base::text::NonBlank;
use baton_core::landing::lane::{LanePlace, landing_delay};
use baton_core::landing::policy::{PolicyStep, policy_step};
use baton_core::task::Task;
use baton_core::task::not_landed::NotLanded;

use crate::base::error::EngineError;
use crate::landing::board::LandingBoard;
use crate::landing::error::LandingError;
use crate::landing::lanes::LaneKey;
use crate::landing::reviewer;
use crate::projects::Projects;
use crate::reports::standstill::{Standstill, StandstillReason, about};

/// One for each branch, about the task that has waited longest.
pub(super) fn red_branches(landing: &[Task]) -> Vec<Standstill> {
    let mut branches: BTreeMap<(Option<ProjectId>, &BranchName), Vec<&Task>> = BTreeMap::new();
    for task in landing {
        if let Some(NotLanded::BranchFails { into, .. } | NotLanded::StartFails { into, .. }) =
            landing_delay(task)
        {
            branches.entry((task.spec().project_id, into)).or_default().push(task);
        }
    }
    let stand = |mut waiting: Vec<&Task>| {
        waiting.sort_by_key(|task| LanePlace::of_task(task));
        let first = waiting.first().copied()?;
        let reason = landing_delay(first)?;
        let (id, others) = (first.id(), waiting.len() - 1);
        let more = if others == 0 { String::new() } else { format!(" and {others} more wait for it") };
        let message = format!(
            "{id}: {}{more}. Repair the branch, and what waits lands; a person may also take a task past the checks",
            reason.headline()
        );
        let commands = vec![
            "baton landing".to_owned(),
            format!("baton accept {id}"),
            format!("baton accept {id} --force"),
        ];
        Some(about(first, StandstillReason::BranchFails, message, commands))
    };
    branches.into_values().filter_map(stand).collect()
}

pub(super) fn stopped_lane(lane: &LaneKey, error: &str) -> Option<Standstill> {
    Some(Standstill {
        reason: StandstillReason::LandingStopped,
        task_id: None,
        project_id: None,
        on: None,
        title: NonBlank::new(lane.branch.as_str()).ok()?,
        message: format!("nothing lands on {}: {error}", lane.branch),
        commands: vec!["baton landing".to_owned()],
    })
}

/// Finished work that a policy would accept, and about which a person has to decide after all: it contains work that was
/// refused, something keeps it from being accepted, or its review cannot come to a result.
pub(super) async fn unaccepted(
    projects: &Projects,
    board: &LandingBoard,
    provisional: &[Task],
) -> Result<Vec<Standstill>, EngineError> {
    let mut waiting = Vec::new();
    for task in provisional {
        // Settings that cannot be read are reported on the project.
        let Ok((settings, is_checked)) = projects.settings_and_checks(task).await else { continue };
        let step = policy_step(settings.accept_policy(task), is_checked, task);
        if step == PolicyStep::Wait {
            continue;
        }
        let id = task.id();
        if let Some(on) = projects.refused_below(task).await? {
            let why = LandingError::OnRefused { task: id, on };
            let message =
                format!("{why}. Look at all that it would merge, then take it whole or send it back");
            let commands = vec![
                format!("baton task diff {id}"),
                format!("baton accept {id} --force"),
                format!("baton reject {id} --reason TEXT"),
            ];
            waiting.push(about(task, StandstillReason::ContainsRefused, message, commands));
            continue;
        }
        if let Some(error) = board.why_not_accepted(id) {
            let message = format!("{id} is finished and cannot be accepted yet; it is tried again: {error}");
            let commands = vec![format!("baton accept {id}"), format!("baton reject {id} --reason TEXT")];
            waiting.push(about(task, StandstillReason::NotAccepted, message, commands));
            continue;
        }
        if step != PolicyStep::Review {
            continue;
        }
        let Some(why) = reviewer::obstacle(projects, &settings, task).await? else { continue };
        let commands = vec![
            format!("baton task diff {id}"),
            format!("baton accept {id}"),
            format!("baton reject {id} --reason TEXT"),
        ];
        waiting.push(about(task, StandstillReason::ReviewStuck, why.to_string(), commands));
    }
    Ok(waiting)
}
