//! A routine as clients see it.

use baton_core::base::id::{ProjectId, RoutineId, SessionId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::{NonBlank, RecipeId};
use baton_core::base::time::Timestamp;
use baton_core::routine::{CatchUp, Overlap, Routine, RoutineState, Trigger};
use schemars::JsonSchema;
use serde::Serialize;

use crate::schema::words;

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Routine")]
pub(crate) struct RoutineView {
    #[schemars(with = "words::RoutineId")]
    pub routine_id: RoutineId,
    #[schemars(with = "words::NonBlank")]
    pub title: NonBlank,
    pub description: String,
    #[schemars(with = "Option<words::ProjectId>")]
    pub project_id: Option<ProjectId>,
    /// The session of its tasks.
    #[schemars(with = "words::SessionId")]
    pub session_id: SessionId,
    #[schemars(with = "words::TaskType")]
    pub task_type: TaskType,
    #[schemars(with = "words::Priority")]
    pub priority: Priority,
    #[schemars(with = "Option<words::Name>")]
    pub recipe: Option<RecipeId>,
    /// What starts it: `time`, `ref:BRANCH`, `webhook` or `task:done`.
    pub on: String,
    /// Minute, hour, day of the month, month, day of the week, as in crontab.
    pub schedule: Option<String>,
    pub time_zone: Option<String>,
    #[schemars(with = "words::Overlap")]
    pub overlap: Overlap,
    #[schemars(with = "Option<words::CatchUp>")]
    pub catch_up: Option<CatchUp>,
    #[schemars(with = "words::RoutineState")]
    pub state: &'static str,
    /// When it is due next; null where no time starts it, and while it is paused.
    #[schemars(with = "Option<words::Timestamp>")]
    pub next_at: Option<Timestamp>,
    /// How many runs wait for the last one to end.
    pub waiting: u64,
    pub last: Option<LastRunView>,
    pub run_count: u64,
    /// How often it should have run and did not.
    pub skipped_count: u64,
    #[schemars(with = "words::Timestamp")]
    pub created_at: Timestamp,
}

/// The last run of a routine.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "RoutineRun")]
pub(crate) struct LastRunView {
    #[schemars(with = "words::TaskId")]
    pub task_id: TaskId,
    /// The moment, commit, task or call that started it.
    pub cause: String,
    #[schemars(with = "words::Timestamp")]
    pub at: Timestamp,
}

impl From<&Routine> for RoutineView {
    fn from(routine: &Routine) -> Self {
        let (schedule, time_zone, catch_up) = match &routine.trigger {
            Trigger::Time { schedule, time_zone, catch_up } => {
                (Some(schedule.to_string()), Some(time_zone.to_string()), Some(*catch_up))
            }
            Trigger::Ref { .. } | Trigger::Webhook | Trigger::TaskDone { .. } => (None, None, None),
        };
        Self {
            routine_id: routine.id,
            title: routine.task.title.clone(),
            description: routine.task.description.clone(),
            project_id: routine.task.project_id,
            session_id: SessionId::for_routine(routine.id),
            task_type: routine.task.task_type,
            priority: routine.task.priority,
            recipe: routine.task.recipe.clone(),
            on: routine.trigger.to_string(),
            schedule,
            time_zone,
            overlap: routine.overlap,
            catch_up,
            state: match routine.state {
                RoutineState::Active => "active",
                RoutineState::Paused { .. } => "paused",
                RoutineState::Removed { .. } => "removed",
            },
            next_at: routine.next_at,
            waiting: routine.waiting.len() as u64,
            last: routine.last.as_ref().map(|last| LastRunView {
                task_id: last.task_id,
                cause: last.cause.to_string(),
                at: last.at,
            }),
            run_count: routine.run_count,
            skipped_count: routine.skipped_count,
            created_at: routine.created_at,
        }
    }
}
