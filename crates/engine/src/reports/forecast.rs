//! What accepting tasks would do, without accepting them.

use std::collections::BTreeMap;

use baton_core::base::id::TaskId;
use baton_core::people::actor::Actor;
use baton_core::transition::command::Command;
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::reports::graph_view;
use crate::tasks::service::TaskService;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptOutcome {
    pub task_id: TaskId,
    /// Why it would not be accepted, if so.
    pub refused: Option<String>,
    /// The tasks that could then start.
    pub would_start: Vec<TaskId>,
}

/// Previews accepting these tasks in this order. Does not check whether their work merges.
pub async fn preview(
    tasks: &TaskService,
    ids: &[TaskId],
    force: bool,
    actor: Actor,
) -> Result<Vec<AcceptOutcome>, EngineError> {
    let context = tasks.context(actor).await?;
    let (mut forecasts, mut accepted) = (Vec::new(), Vec::new());
    for id in ids {
        let refused = tasks.task(*id).await?.value.apply(Command::Accept { force }, &context).err();
        if refused.is_none() {
            accepted.push(*id);
        }
        let refused = refused.map(|refusal| refusal.to_string());
        forecasts.push(AcceptOutcome { task_id: *id, refused, would_start: Vec::new() });
    }
    let mut starts: BTreeMap<TaskId, Vec<TaskId>> =
        graph_view::would_start(tasks, &accepted).await?.into_iter().collect();
    for one in &mut forecasts {
        one.would_start = starts.remove(&one.task_id).unwrap_or_default();
    }
    Ok(forecasts)
}
