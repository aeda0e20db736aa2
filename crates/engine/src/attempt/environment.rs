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
use crate::projects::leased_values::{ValueOwner, Values};
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
        // How much of the machine there is to share is for whoever runs Baton to say.
        let jobs = if self.context.settings.room.share_build_jobs {
            build_jobs(self.context.running.count(), |name| std::env::var(name).ok())
        } else {
            Values::new()
        };
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

/// What tells build tools how many jobs are this attempt's share of the processors.
fn build_jobs(running: usize, own: impl Fn(&str) -> Option<String>) -> Values {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = (processors / running.max(1)).max(1);
    let unset =
        ["CARGO_BUILD_JOBS", "CMAKE_BUILD_PARALLEL_LEVEL"].into_iter().filter(|name| own(name).is_none());
    let mut values: Values = unset.map(|name| (name.to_owned(), jobs.to_string())).collect();
    // Make runs one job unless it is told otherwise, and not every Makefile can do with more.
    if own("MAKEFLAGS").is_some_and(|flags| flags.contains("-j")) {
        values.insert("MAKEFLAGS".to_owned(), format!("-j{jobs}"));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_shared_by_those_who_run() {
        let unset = |_: &str| None;
        let alone: usize = build_jobs(1, unset)["CARGO_BUILD_JOBS"].parse().unwrap();
        assert_eq!(alone, std::thread::available_parallelism().map_or(1, usize::from));
        assert_eq!(build_jobs(10_000, unset)["CMAKE_BUILD_PARALLEL_LEVEL"], "1");
        let set = |name: &str| match name {
            "CARGO_BUILD_JOBS" => Some("7".to_owned()),
            "MAKEFLAGS" => Some("-j".to_owned()),
            _ => None,
        };
        let values = build_jobs(10_000, set);
        assert_eq!((values.get("CARGO_BUILD_JOBS"), values["MAKEFLAGS"].as_str()), (None, "-j1"));
    }
}
