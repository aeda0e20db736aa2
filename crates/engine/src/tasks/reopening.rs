//! A project that a person has completed is open again as soon as it gets work, in the same transaction.

use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::records::event::{Event, EventBody};
use baton_store::Store;

use crate::base::error::Result;

/// What is written with a change: the completed projects that it gives work to.
pub(super) async fn reopened_projects(store: &Store, change: &Change) -> Result<Change> {
    let mut reopening = Change::new();
    for project in change.projects_with_new_work() {
        let Some(stored) = store.project(project).await? else { continue };
        let Some(reopened) = stored.value.reopened() else { continue };
        let (at, by) = match change.events.first() {
            Some(event) => (event.at, event.by.clone()),
            None => (store.now().await?, Actor::Baton),
        };
        reopening = reopening.put(Record::Project(reopened), WriteGuard::Version(stored.version));
        reopening.events.push(Event { at, by, body: EventBody::ProjectReopened { project } });
    }
    Ok(reopening)
}
