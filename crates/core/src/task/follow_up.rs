//! Whether a later message of a conversation builds on a task's commits before they are accepted.

use crate::task::Task;
use crate::task::ledger::TaskNote;
use crate::task::state::{ReviewMark, TaskState};

impl Task {
    /// Unaccepted work that its conversation continues from. Work that a person rejected is not, until it was done again.
    pub fn is_open_work(&self) -> bool {
        match &self.state {
            TaskState::Provisional(provisional) => provisional.mark != ReviewMark::Plan,
            TaskState::Landing(_) => true,
            TaskState::NeedsContinuation { .. }
            | TaskState::AwaitingResponse { .. }
            | TaskState::Blocked { .. } => !self.was_rejected(),
            // Stopped by a person, who keeps what is there.
            TaskState::Held => self.ledger.started > 0 && !self.was_rejected(),
            TaskState::Incoming
            | TaskState::Breakdown { .. }
            | TaskState::Claimed { .. }
            | TaskState::Recycled { .. }
            | TaskState::Done { .. }
            | TaskState::Failed { .. }
            | TaskState::Cancelled { .. } => false,
        }
    }

    /// Its work may still land by itself.
    pub fn is_unsettled(&self) -> bool {
        match &self.state {
            TaskState::Incoming
            | TaskState::Held
            | TaskState::Claimed { .. }
            | TaskState::NeedsContinuation { .. }
            | TaskState::AwaitingResponse { .. }
            | TaskState::Blocked { .. }
            | TaskState::Provisional(_)
            | TaskState::Landing(_) => true,
            TaskState::Breakdown { .. }
            | TaskState::Recycled { .. }
            | TaskState::Done { .. }
            | TaskState::Failed { .. }
            | TaskState::Cancelled { .. } => false,
        }
    }

    /// A person does not want the commits it has now: they cancelled it, or rejected it and it was not done again yet.
    pub fn is_refused_work(&self) -> bool {
        match &self.state {
            TaskState::Cancelled { .. } => true,
            TaskState::Provisional(_) | TaskState::Landing(_) | TaskState::Done { .. } => false,
            TaskState::Incoming
            | TaskState::Held
            | TaskState::Breakdown { .. }
            | TaskState::Claimed { .. }
            | TaskState::NeedsContinuation { .. }
            | TaskState::AwaitingResponse { .. }
            | TaskState::Blocked { .. }
            | TaskState::Recycled { .. }
            | TaskState::Failed { .. } => self.was_rejected(),
        }
    }

    fn was_rejected(&self) -> bool {
        self.ledger.notes.iter().any(|note| matches!(note, TaskNote::Rejected { .. }))
    }
}
