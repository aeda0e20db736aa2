//! A project that a person has completed is open again as soon as it gets work.
//!
//! What is known to be complete is opened in the transaction that brings the work. A project that somebody completes between
//! the look and that transaction is opened right after it. Who completes a project looks once more afterwards too, so
//! whichever of the two is written last sees the other.

use std::collections::BTreeMap;

use baton_core::base::id::{ProjectId, TaskId};
use baton_core::base::time::Timestamp;
use baton_core::graph::Standing;
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::records::event::{Event, EventBody};
use baton_store::Store;
use baton_store::model::commit::Commit;

use crate::base::error::Result;

/// The open work that a change brings.
pub(super) struct NewWork {
    tasks: BTreeMap<ProjectId, Vec<TaskId>>,
    /// When, and by whom, if the change says so.
    origin: Option<(Timestamp, Actor)>,
}

impl NewWork {
    pub(super) fn of(change: &Change) -> Self {
        let origin = change.events.first().map(|event| (event.at, event.by.clone()));
        Self { tasks: change.new_work(), origin }
    }

    /// What is written with the change: the completed projects that it gives work to.
    pub(super) async fn reopened_projects(&self, store: &Store) -> Result<Change> {
        let mut reopening = Change::new();
        for project in self.tasks.keys() {
            if let Some(reopened) = self.reopened(store, *project).await? {
                reopening = reopening.and(reopened);
            }
        }
        Ok(reopening)
    }

    /// Once the change is written: the same for projects that were completed meanwhile.
    pub(super) async fn reopen_completed_meanwhile(&self, store: &Store) -> Result<()> {
        for (project, tasks) in &self.tasks {
            while let Some(reopened) = self.reopened(store, *project).await? {
                if !is_any_open(store, tasks).await? {
                    break;
                }
                match store.commit(reopened).await? {
                    Commit::Written { .. } => break,
                    // Somebody else has changed the project.
                    Commit::Conflict(_) => {}
                }
            }
        }
        Ok(())
    }

    /// None when the project is open.
    async fn reopened(&self, store: &Store, project: ProjectId) -> Result<Option<Change>> {
        let Some(stored) = store.project(project).await? else { return Ok(None) };
        let Some(reopened) = stored.value.reopened() else { return Ok(None) };
        let (at, by) = match &self.origin {
            Some(origin) => origin.clone(),
            None => (store.now().await?, Actor::Baton),
        };
        let mut change = Change::new().put(Record::Project(reopened), WriteGuard::Version(stored.version));
        change.events.push(Event { at, by, body: EventBody::ProjectReopened { project } });
        Ok(Some(change))
    }
}

/// Work that has ended meanwhile leaves its project complete.
async fn is_any_open(store: &Store, tasks: &[TaskId]) -> Result<bool> {
    for task in tasks {
        if store.task(*task).await?.is_some_and(|stored| stored.value.standing() == Standing::Open) {
            return Ok(true);
        }
    }
    Ok(false)
}
