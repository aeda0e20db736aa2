//! A task's ledger: its history, as far as the rules need it.

use serde::{Deserialize, Serialize};

use crate::ask::cycle::AskCycle;
use crate::ask::question::Question;
use crate::base::git_name::CommitId;
use crate::base::id::{AttemptId, TaskId};
use crate::base::text::NonBlank;
use crate::base::time::Timestamp;
use crate::people::actor::Actor;
use crate::schedule::AgentPlace;
use crate::task::attempt::AttemptEnd;
use crate::task::guard::RequeueReason;
use crate::task::messages::TaskMessages;
use crate::task::not_landed::NotLanded;

/// The history of a task. Its stored form is in [`crate::task::stored`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Attempts ever started.
    pub started: u32,
    /// Attempts that ended, count against the task and were not accepted. Reset by a human's retry.
    pub tries: u32,
    pub continuations: u32,
    /// How often its accepted work could not be merged since a human last decided about that.
    pub conflicts: u32,
    /// A reply or a rejection puts the task ahead of other work.
    pub is_ahead: bool,
    /// The attempt the next one continues.
    pub resumes: Option<AttemptId>,
    /// Where its last agent session is, if there was a choice. It goes on there while it can.
    pub session_place: Option<AgentPlace>,
    /// Why nobody may claim it, while it is held.
    pub held_because: Option<NonBlank>,
    /// The tasks on whose accepted work it was started before that had landed. It lands after them.
    pub rests_on: Vec<TaskId>,
    pub output: Option<String>,
    pub last_end: Option<AttemptEnd>,
    pub notes: Vec<TaskNote>,
    /// What people said to its agent.
    pub messages: Option<TaskMessages>,
    /// The person who works on it, while it is held for them.
    pub taken: Option<TakenOver>,
    /// The person who says that it is done: no agent starts in the next attempt, which judges the work as it is.
    pub submitted_by: Option<Actor>,
    /// The commit at which a person last asked for changes.
    pub rejected_head: Option<CommitId>,
    pub asking: Asking,
}

/// A person works on the task in the place of its agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenOver {
    pub by: Actor,
    pub since: Timestamp,
}

/// Who may ask about the task (I6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asking {
    /// No agent has started, so no agent can have asked.
    NotStarted {
        /// Consecutive answers to Baton's own questions that no human gave. At the limit, automation stops.
        automatic_in_a_row: u32,
    },
    /// The cycle of the task's execution. Each attempt takes it over; the end of the task closes it.
    Cycle {
        cycle: Box<AskCycle>,
        /// When the agent asked its last question.
        asked_at: Option<Timestamp>,
    },
}

impl Default for Asking {
    fn default() -> Self {
        Self::NotStarted { automatic_in_a_row: 0 }
    }
}

impl Asking {
    pub fn cycle(&self) -> Option<&AskCycle> {
        match self {
            Self::Cycle { cycle, .. } => Some(cycle),
            Self::NotStarted { .. } => None,
        }
    }

    /// The agent's pending question.
    pub fn pending(&self) -> Option<&Question> {
        self.cycle().and_then(AskCycle::pending)
    }

    pub const fn asked_at(&self) -> Option<Timestamp> {
        match self {
            Self::Cycle { asked_at, .. } => *asked_at,
            Self::NotStarted { .. } => None,
        }
    }

    /// Consecutive answers no human gave.
    pub fn automatic_in_a_row(&self) -> u32 {
        match self {
            Self::Cycle { cycle, .. } => cycle.automatic_in_a_row(),
            Self::NotStarted { automatic_in_a_row } => *automatic_in_a_row,
        }
    }

    pub(crate) fn change(&mut self, step: impl FnOnce(&AskCycle) -> AskCycle) {
        if let Self::Cycle { cycle, .. } = self {
            **cycle = step(cycle);
        }
    }
}

/// Something the next attempt has to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum TaskNote {
    Rejected {
        at: Timestamp,
        reason: NonBlank,
    },
    Requeued {
        at: Timestamp,
        reason: RequeueReason,
    },
    Conflict {
        at: Timestamp,
        detail: NonBlank,
    },
    /// It was accepted and could not land.
    NotLanded {
        at: Timestamp,
        reason: Box<NotLanded>,
    },
}

/// Notes kept on a task. Older ones are in the event log.
const NOTES_MAX: usize = 20;

impl Ledger {
    /// When there are too many, those go first that say nothing about the work: a night of restarts must not make the next
    /// agent forget why its work came back.
    pub(crate) fn note(&mut self, note: TaskNote) {
        if self.notes.len() == NOTES_MAX {
            let idle = self.notes.iter().position(|note| !note.is_about_work());
            self.notes.remove(idle.unwrap_or(0));
        }
        self.notes.push(note);
    }
}

impl TaskNote {
    /// Whether the next attempt has to do something differently because of it.
    pub const fn is_about_work(&self) -> bool {
        match self {
            Self::Requeued { reason, .. } => reason.is_blamed(),
            Self::Rejected { .. } | Self::Conflict { .. } | Self::NotLanded { .. } => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarts_push_no_reason_out() {
        let at = Timestamp::from_ms(1);
        let rejected = TaskNote::Rejected { at, reason: NonBlank::fixed("the tests are missing") };
        let mut ledger = Ledger::default();
        ledger.note(rejected.clone());
        for _ in 0..100 {
            ledger.note(TaskNote::Requeued { at, reason: RequeueReason::LeaseExpired });
        }
        assert_eq!(ledger.notes.len(), NOTES_MAX);
        assert_eq!(ledger.notes[0], rejected);
        for _ in 0..NOTES_MAX {
            ledger.note(TaskNote::Requeued { at, reason: RequeueReason::NoCommits });
        }
        assert_eq!(ledger.notes.len(), NOTES_MAX, "bounded all the same");
        assert!(!ledger.notes.contains(&rejected));
    }
}
