//! Tells the person at the terminal what happens while `baton up` runs.

use std::time::Duration;

use baton_engine::base::error::EngineError;
use baton_engine::tasks::service::TaskService;
use tokio::time::sleep;

use crate::commands::narration::Narration;
use crate::output;

/// After the store could not be read. Why not is told by the services that need it more.
const PAUSE: Duration = Duration::from_secs(5);

/// Until it is dropped.
pub(super) async fn narrate(tasks: TaskService) {
    let mut changes = tasks.changes();
    let mut seen = None;
    let mut narration = Narration::with_ids();
    loop {
        if tell_new(&tasks, &mut seen, &mut narration).await.is_err() {
            sleep(PAUSE).await;
        } else if changes.changed().await.is_err() {
            return;
        }
    }
}

/// Tells the events after `seen`; what was before the start is known.
async fn tell_new(
    tasks: &TaskService,
    seen: &mut Option<u64>,
    narration: &mut Narration,
) -> Result<(), EngineError> {
    let mut after = match *seen {
        Some(seen) => seen,
        None => tasks.last_event().await?,
    };
    *seen = Some(after);
    loop {
        let events = tasks.events_after(after).await?;
        let Some(last) = events.last() else { return Ok(()) };
        let mut unknown: Vec<_> = events.iter().filter_map(|stored| stored.event.body.task()).collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown.retain(|task| !narration.knows(*task));
        for stored in tasks.store.tasks_by_ids(&unknown).await? {
            narration.note_title(stored.value.id(), stored.value.spec().title.to_string());
        }
        for stored in &events {
            if let Some(line) = narration.line(&stored.event.body) {
                output::talk(&line);
            }
        }
        after = last.seq;
        *seen = Some(after);
    }
}
