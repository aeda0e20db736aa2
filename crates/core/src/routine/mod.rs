//! Routines: work that starts by time or by event.
//!
//! A routine says what to do, what starts it, and what happens when the last run is not over. Which of its causes become
//! tasks is decided in [`firing`], when they are due in [`schedule`]. Nothing here reads a clock or a time zone database: both
//! are arguments.

pub mod cause;
pub mod firing;
pub mod schedule;
mod words;

use std::fmt;
use std::str::FromStr;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::base::git_name::{BranchName, CommitId};
use crate::base::id::{ProjectId, RoutineId, TaskId};
use crate::base::priority::Priority;
use crate::base::task_type::TaskType;
use crate::base::text::{NonBlank, RecipeId};
use crate::base::time::Timestamp;
use crate::people::actor::Actor;
use crate::routine::cause::Cause;
use crate::routine::schedule::Schedule;

pub use crate::routine::words::{CatchUp, Overlap, UnknownWord};

/// A routine, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Routine {
    pub id: RoutineId,
    pub task: RoutineTask,
    pub trigger: Trigger,
    #[serde(default)]
    pub overlap: Overlap,
    pub state: RoutineState,
    pub created_at: Timestamp,
    pub created_by: Actor,
    /// The first moment of its schedule that is not decided yet. Only moves forward, so no moment is decided twice, however
    /// the clock jumps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
    /// Causes that wait for the run before them to end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Cause>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<RoutineRun>,
    /// How often it ran, and how often it should have and did not.
    #[serde(default)]
    pub run_count: u64,
    #[serde(default)]
    pub skipped_count: u64,
}

/// The task of each run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutineTask {
    pub title: NonBlank,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    pub task_type: TaskType,
    #[serde(default)]
    pub priority: Priority,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<RecipeId>,
}

/// What starts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "on", rename_all = "snake_case")]
pub enum Trigger {
    Time {
        schedule: Schedule,
        /// A name of the time zone database: `Europe/Berlin`, `UTC`.
        time_zone: NonBlank,
        #[serde(default)]
        catch_up: CatchUp,
    },
    /// A branch of its repository moved.
    Ref {
        branch: BranchName,
        /// Where the branch was when it was looked at last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<CommitId>,
    },
    /// A program or a person calls.
    Webhook,
    /// A task of its project is done that no routine created.
    TaskDone {
        /// The number of the last event that was looked at.
        seen: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RoutineState {
    Active,
    Paused { at: Timestamp, by: Actor },
    Removed { at: Timestamp, by: Actor },
}

/// The last run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutineRun {
    pub cause: Cause,
    pub task_id: TaskId,
    pub at: Timestamp,
}

impl Routine {
    pub const fn is_active(&self) -> bool {
        matches!(self.state, RoutineState::Active)
    }

    pub const fn is_removed(&self) -> bool {
        matches!(self.state, RoutineState::Removed { .. })
    }

    /// The same, stopped until somebody resumes it. What waits was promised to somebody, and goes on then.
    #[must_use]
    pub fn pause(self, now: Timestamp, by: Actor) -> Self {
        Self { state: RoutineState::Paused { at: now, by }, next_at: None, ..self }
    }

    #[must_use]
    pub fn remove(self, now: Timestamp, by: Actor) -> Self {
        Self { state: RoutineState::Removed { at: now, by }, waiting: Vec::new(), next_at: None, ..self }
    }

    /// The same at work from now on: what was due while it was paused is not made up for.
    #[must_use]
    pub fn resume(self, now: Timestamp, zone: &TimeZone) -> Self {
        let next_at = match &self.trigger {
            Trigger::Time { schedule, .. } => schedule.next_after(now, zone),
            Trigger::Ref { .. } | Trigger::Webhook | Trigger::TaskDone { .. } => None,
        };
        Self { state: RoutineState::Active, next_at, ..self }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time { .. } => f.write_str("time"),
            Self::Ref { branch, .. } => write!(f, "{REF}{branch}"),
            Self::Webhook => f.write_str(WEBHOOK),
            Self::TaskDone { .. } => f.write_str(TASK_DONE),
        }
    }
}

/// The words for events.
const REF: &str = "ref:";
const WEBHOOK: &str = "webhook";
const TASK_DONE: &str = "task:done";

/// A text that names no event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not an event; such as ref:main, webhook or task:done")]
pub struct UnknownEvent(String);

impl FromStr for Trigger {
    type Err = UnknownEvent;

    /// An event that nothing was seen of yet.
    fn from_str(text: &str) -> Result<Self, UnknownEvent> {
        let unknown = || UnknownEvent(text.to_owned());
        match text {
            WEBHOOK => Ok(Self::Webhook),
            TASK_DONE => Ok(Self::TaskDone { seen: 0 }),
            _ => {
                let branch = text.strip_prefix(REF).ok_or_else(unknown)?;
                Ok(Self::Ref { branch: branch.parse().map_err(|_| unknown())?, seen: None })
            }
        }
    }
}
