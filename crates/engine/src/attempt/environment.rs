//! What an attempt works with beside its code, and the events that tell of it.

use std::sync::Arc;

use baton_core::base::id::{AttemptId, TaskId};
use baton_core::people::actor::Actor;
use baton_core::records::change::Change;
use baton_core::records::event::{Event, EventBody};
use baton_core::task::Task;
use baton_core::task::environment::{AttemptEnvironment, EnvironmentChange};
use baton_store::model::event::StoredEvent;

use crate::attempt::runner::Runner;
use crate::base::error::EngineError;
use crate::git::{Checkout, Worktrees};
use crate::projects::leased_values::ValueOwner;
use crate::settings::Settings;
use crate::tasks::service::TaskService;

/// Events of one task that are read: far more than a task has.
const EVENTS_MAX: u32 = 2_000;

impl Runner {
    /// The same for a project with these settings and a task with the values that they promise it.
    pub(super) async fn with_environment(
        &self,
        settings: Arc<Settings>,
        task: &Task,
        attempt: AttemptId,
    ) -> Result<Self, EngineError> {
        let (projects, tasks) = (&self.context.projects, &self.context.tasks);
        let wishes = &settings.worktree.values;
        let jobs = projects.build_jobs(0);
        if wishes.is_empty() {
            return Ok(Self { context: self.context.with_settings(settings).with_values(jobs) });
        }
        projects.release_finished().await?;
        let leased = projects.values.lease(&ValueOwner::Task(task.id()), wishes)?;
        let known = environment_of(&tasks.store.task_events(task.id(), 0, EVENTS_MAX).await?, None).values;
        if known != leased {
            let change = EnvironmentChange::ValuesLeased { values: leased.clone() };
            tell(tasks, task.id(), attempt, change).await?;
        }
        let values = jobs.into_iter().chain(leased).collect();
        Ok(Self { context: self.context.with_settings(settings).with_values(values) })
    }

    pub(super) async fn tell_reused(
        &self,
        task: &Task,
        worktrees: &Worktrees,
        checkout: &Checkout,
    ) -> Result<(), EngineError> {
        let folders = worktrees.take_reused(checkout)?;
        if folders.is_empty() {
            return Ok(());
        }
        let change = EnvironmentChange::FoldersReused { folders };
        tell(&self.context.tasks, task.id(), checkout.attempt, change).await
    }
}

/// What a task's events say of its environment.
pub(crate) fn environment_of(events: &[StoredEvent], live: Option<AttemptId>) -> AttemptEnvironment {
    let changes = events.iter().filter_map(|stored| match &stored.event.body {
        EventBody::EnvironmentChanged { attempt, change, .. } => Some((*attempt, change)),
        _ => None,
    });
    AttemptEnvironment::of(changes, live)
}

/// Records a change of an attempt's environment.
pub(crate) async fn tell(
    tasks: &TaskService,
    task: TaskId,
    attempt: AttemptId,
    change: EnvironmentChange,
) -> Result<(), EngineError> {
    let body = EventBody::EnvironmentChanged { task, attempt, change };
    let mut written = Change::new();
    written.events.push(Event { at: tasks.store.now().await?, by: Actor::Baton, body });
    tasks.store.commit(written).await?;
    Ok(())
}
