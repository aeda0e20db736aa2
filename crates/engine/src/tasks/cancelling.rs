//! Cancelling a task, and with it what only exists for its sake.

use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::records::change::Change;
use baton_core::task::Task;
use baton_core::task::state::{ReplacedBy, TaskState};
use baton_core::transition::command::Command;

use crate::base::error::Result;
use crate::tasks::service::TaskService;

impl TaskService {
    /// A recycled task takes its breakdown with it: nobody needs the plan any more.
    pub(crate) async fn cancel(&self, id: TaskId, reason: Option<NonBlank>, actor: Actor) -> Result<Task> {
        let mut decision = self.decision(id);
        loop {
            let stored = self.task(id).await?;
            let context = self.context(actor.clone()).await?;
            let transition = stored.value.apply(Command::Cancel { reason: reason.clone() }, &context)?;
            let task = transition.task.clone();
            let mut change = Change::transition(stored.version, transition);
            if let TaskState::Recycled { replaced_by: ReplacedBy::Planning(planning) } = stored.value.state()
            {
                let breakdown = self.task(*planning).await?;
                let reason = NonBlank::new(format!("{id}, which it was to break down, was cancelled"))?;
                // One that was cancelled before stays as it is.
                if let Ok(cancelled) =
                    breakdown.value.apply(Command::Cancel { reason: Some(reason) }, &context)
                {
                    change = change.and(Change::transition(breakdown.version, cancelled));
                }
            }
            if decision.commit(change).await? {
                return Ok(task);
            }
        }
    }
}
