//! What accepting some tasks would come to, without accepting any.

use std::collections::BTreeMap;

use baton_core::base::id::TaskId;
use baton_core::people::actor::Actor;
use baton_core::transition::command::Command;
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::reports::graph_view;
use crate::tasks::service::TaskService;

/// What would become of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foreseen {
    pub task_id: TaskId,
    /// Why it would not be accepted; none where it would.
    pub refused: Option<String>,
    /// What could start then that cannot now.
    pub would_start: Vec<TaskId>,
}

/// For these tasks, accepted in this order. That their work merges is not looked at.
pub async fn foresee(
    tasks: &TaskService,
    ids: &[TaskId],
    force: bool,
    actor: Actor,
) -> Result<Vec<Foreseen>, EngineError> {
    let context = tasks.context(actor).await?;
    let (mut foreseen, mut accepted) = (Vec::new(), Vec::new());
    for id in ids {
        let refused = tasks.task(*id).await?.value.apply(Command::Accept { force }, &context).err();
        if refused.is_none() {
            accepted.push(*id);
        }
        let refused = refused.map(|refusal| refusal.to_string());
        foreseen.push(Foreseen { task_id: *id, refused, would_start: Vec::new() });
    }
    let mut starts: BTreeMap<TaskId, Vec<TaskId>> =
        graph_view::would_start(tasks, &accepted).await?.into_iter().collect();
    for one in &mut foreseen {
        one.would_start = starts.remove(&one.task_id).unwrap_or_default();
    }
    Ok(foreseen)
}
