//! In whose name a task is asked for, and who may add one: limits for people count what was asked for in their name, by themselves or by
//! agents that work for them.

use baton_core::base::id::SessionId;
use baton_core::base::text::{NonBlank, Role};
use baton_core::people::actor::Actor;
use baton_store::model::query::TaskFilter;

use crate::base::error::Result;
use crate::tasks::error::TaskError;
use crate::tasks::service::TaskService;

impl TaskService {
    /// The person behind an actor: themselves, or the one who asked for the task that an agent works on.
    pub(crate) async fn asker(&self, actor: &Actor) -> Result<Option<NonBlank>> {
        let Actor::Agent { attempt } = actor else { return Ok(actor.person()) };
        let Some(record) = self.store.attempt(*attempt).await? else { return Ok(None) };
        let task = self.store.task(record.task_id).await?;
        Ok(task.and_then(|stored| stored.value.asker().cloned()))
    }

    /// I9: in a loop, tasks are created only after the person's YES. Its agents propose them.
    pub(crate) async fn check_may_add(&self, actor: &Actor) -> Result<()> {
        let Some(attempt) = actor.attempt() else { return Ok(()) };
        let Some(record) = self.store.attempt(attempt).await? else { return Ok(()) };
        let task = self.task(record.task_id).await?.value;
        if Role::loop_phases().contains(&task.spec().role) {
            return Err(TaskError::OnlyAfterYes.into());
        }
        Ok(())
    }

    /// Who began a session. What a loop or a run makes by itself is theirs.
    pub(crate) async fn asker_of(&self, session: &SessionId) -> Result<Option<NonBlank>> {
        let filter = TaskFilter { session: Some(session.clone()), ..TaskFilter::default() };
        let oldest = self.store.tasks(&filter, None, 1).await?.items;
        Ok(oldest.into_iter().next().and_then(|stored| stored.value.asker().cloned()))
    }
}
