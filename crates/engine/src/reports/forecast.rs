//! What accepting tasks would do, without accepting them.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::TaskId;
use baton_core::people::actor::Actor;
use baton_core::transition::command::Command;
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::landing::acceptor::Acceptor;
use crate::landing::trial::{self, TrialMerge};
use crate::projects::Projects;
use crate::reports::graph_view;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptOutcome {
    pub task_id: TaskId,
    /// Why it would not be accepted, if so.
    pub refused: Option<String>,
    /// How its work merges with its branch and with the tasks before it; None if it would be refused.
    pub merge: Option<TrialMerge>,
    /// Whether checks decide about it then.
    pub is_checked: bool,
    /// The tasks that could then start.
    pub would_start: Vec<TaskId>,
}

/// Previews accepting these tasks in this order. Their work is really merged, as objects; no branch moves.
pub async fn preview(
    projects: &Projects,
    acceptor: &Acceptor,
    ids: &[TaskId],
    force: bool,
    actor: Actor,
) -> Result<Vec<AcceptOutcome>, EngineError> {
    let tasks = &projects.tasks;
    let context = tasks.context(actor).await?;
    let (mut outcomes, mut accepted, mut forced) = (Vec::new(), Vec::new(), BTreeSet::new());
    for id in ids {
        let task = tasks.task(*id).await?.value;
        let mut refused =
            task.apply(Command::Accept { force }, &context).err().map(|refusal| refusal.to_string());
        // What the real run meets before it merges anything.
        if refused.is_none()
            && let Err(obstacle) = acceptor.check_can_accept(&task, force).await
        {
            refused = Some(format!("{obstacle}; {}", obstacle.hint()));
        }
        let is_past_checks = refused.is_none() && force && acceptor.is_forced_past_checks(&task).await?;
        if is_past_checks {
            forced.insert(*id);
        }
        let is_checked =
            refused.is_none() && !is_past_checks && { projects.settings_and_checks(&task).await?.1 };
        outcomes.push(AcceptOutcome {
            task_id: *id,
            refused,
            merge: None,
            is_checked,
            would_start: Vec::new(),
        });
        if outcomes.last().is_some_and(|outcome| outcome.refused.is_none()) {
            accepted.push(task);
        }
    }
    let mut merges = trial::merge(projects, accepted, &forced).await?;
    let does_merge =
        |merge: Option<&TrialMerge>| matches!(merge, Some(TrialMerge::Nothing | TrialMerge::Fits { .. }));
    let fitting: Vec<TaskId> = ids.iter().copied().filter(|id| does_merge(merges.get(id))).collect();
    let mut starts: BTreeMap<TaskId, Vec<TaskId>> =
        graph_view::would_start(tasks, &fitting).await?.into_iter().collect();
    for one in &mut outcomes {
        one.merge = merges.remove(&one.task_id);
        one.would_start = starts.remove(&one.task_id).unwrap_or_default();
    }
    Ok(outcomes)
}
