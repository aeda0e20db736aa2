//! Commands on projects: limit how many tasks run at once, and mark as complete.

use baton_core::base::id::ProjectId;
use baton_core::graph::Standing;
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};
use baton_core::records::event::{Event, EventBody};
use baton_core::records::project::{Project, is_complete};

use crate::base::error::Result;
use crate::projects::error::ProjectError;
use crate::tasks::service::TaskService;

/// Sets how many of a project's tasks may run at once on all machines together; none uses the settings.
pub async fn limit(
    tasks: &TaskService,
    id: ProjectId,
    at_once_max: Option<u32>,
    actor: Actor,
) -> Result<Project> {
    let mut decision = tasks.decision(id);
    loop {
        let stored = tasks.project(id).await?;
        if stored.value.at_once_max == at_once_max {
            return Ok(stored.value);
        }
        let project = Project { at_once_max, ..stored.value.clone() };
        let event = Event {
            at: tasks.store.now().await?,
            by: actor.clone(),
            body: EventBody::ProjectLimited { project: id, at_once_max },
        };
        if decision.commit(change(&stored, &project, event)).await? {
            return Ok(project);
        }
    }
}

/// Marks a project as complete, if it is. Doing so again changes nothing.
pub async fn complete(tasks: &TaskService, id: ProjectId, actor: Actor) -> Result<Project> {
    let mut decision = tasks.decision(id);
    loop {
        let stored = tasks.project(id).await?;
        if stored.value.completed_at.is_some() {
            return Ok(stored.value);
        }
        refuse_incomplete(tasks, id).await?;
        let now = tasks.store.now().await?;
        let project = Project { completed_at: Some(now), ..stored.value.clone() };
        let event = Event { at: now, by: actor.clone(), body: EventBody::ProjectCompleted { project: id } };
        if decision.commit(change(&stored, &project, event)).await? {
            return match refuse_incomplete(tasks, id).await {
                Ok(()) => Ok(project),
                Err(error) => {
                    // It got work while the others were looked at.
                    reopen(tasks, id, actor).await?;
                    Err(error)
                }
            };
        }
    }
}

async fn reopen(tasks: &TaskService, id: ProjectId, actor: Actor) -> Result<()> {
    let mut decision = tasks.decision(id);
    loop {
        let stored = tasks.project(id).await?;
        let Some(project) = stored.value.reopened() else { return Ok(()) };
        let body = EventBody::ProjectReopened { project: id };
        let event = Event { at: tasks.store.now().await?, by: actor.clone(), body };
        if decision.commit(change(&stored, &project, event)).await? {
            return Ok(());
        }
    }
}

async fn refuse_incomplete(tasks: &TaskService, id: ProjectId) -> Result<()> {
    let standings: Vec<_> =
        tasks.project_tasks(id).await?.iter().map(|task| (task.id(), task.standing())).collect();
    if is_complete(standings.iter().map(|(id, standing)| (*id, standing))) {
        return Ok(());
    }
    let is_open = |standing: &Standing| matches!(standing, Standing::Open | Standing::Failed);
    let open = standings.iter().filter(|(_, standing)| is_open(standing)).count();
    Err(ProjectError::Incomplete { project: id, open: open as u64, total: standings.len() as u64 }.into())
}

fn change(stored: &Versioned<Project>, project: &Project, event: Event) -> Change {
    let mut change = Change::new().put(Record::Project(project.clone()), WriteGuard::Version(stored.version));
    change.events.push(event);
    change
}
