//! The recycler: sends tasks that were too large to a breakdown, as soon as they turn up.
//!
//! It decides nothing itself. Core refuses to recycle what shows no sign of being too large, and turns a second
//! breakdown into a question (I14).

use baton_core::actor::Actor;
use baton_core::command::Command;
use baton_core::id::TaskId;
use baton_core::recycle::RecycleReason;
use baton_core::state::{Mark, Queue, TaskState};
use baton_core::task::Task;
use baton_core::text::Role;
use baton_store::model::query::TaskFilter;

use crate::desk::Desk;
use crate::error::EngineError;

/// Provisional tasks looked at in one page.
const PAGE: u32 = 200;

pub struct Recycler {
    desk: Desk,
}

impl Recycler {
    pub fn new(desk: Desk) -> Self {
        Self { desk }
    }

    /// Looks at everything provisional once; returns what was recycled or escalated.
    pub async fn run_once(&self) -> Result<Vec<TaskId>, EngineError> {
        let filter = TaskFilter { queue: Some(Queue::Provisional), ..TaskFilter::default() };
        let mut recycled = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.desk.store.tasks(&filter, cursor, PAGE).await?;
            for stored in &page.items {
                // In a loop the human is asked about each subtask; nothing is decided in their place.
                if Role::of_loop().contains(&stored.value.spec().role) {
                    continue;
                }
                let Some(reason) = reason_to_recycle(&stored.value) else { continue };
                let id = stored.value.id();
                match self.desk.apply(id, Command::Recycle { reason }, Actor::Baton).await {
                    Ok(_) => recycled.push(id),
                    // Somebody accepted, rejected or recycled it first.
                    Err(EngineError::Refused(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(recycled);
            }
        }
    }
}

/// Why this task should be broken down, if it should.
pub fn reason_to_recycle(task: &Task) -> Option<RecycleReason> {
    let TaskState::Provisional(work) = task.state() else { return None };
    match work.mark {
        Mark::BurnedOut => Some(RecycleReason::TooLarge),
        Mark::NotConverging => Some(RecycleReason::CumulativeFailures),
        Mark::Ready | Mark::NoChanges { .. } | Mark::Plan => None,
    }
}
