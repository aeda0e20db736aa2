//! A project in numbers: its progress, its effort and its attempts. Does not count what agents only reported.

use std::collections::BTreeMap;

use baton_core::base::id::{AttemptId, ProjectId, TaskId};
use baton_core::base::text::{AgentName, NonBlank};
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::records::project::{Project, is_complete};
use baton_core::task::Task;
use baton_core::task::attempt::Evidence;
use baton_core::task::attempt_record::{AttemptClosing, AttemptRecord};
use baton_core::task::state::{AcceptedBy, QueueName, ReplacedBy, TaskState, TaskStatus};
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::tasks::service::TaskService;

/// Tasks whose attempts are read with one query.
const TASKS_PER_READ: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectReport {
    pub project: Project,
    pub progress: ProjectProgress,
    pub effort: Effort,
    /// Oldest first.
    pub tasks: Vec<TaskLine>,
}

/// The number of tasks in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectProgress {
    pub total: u64,
    pub done: u64,
    pub cancelled: u64,
    /// Too large; smaller ones replace them, or are still to be planned.
    pub recycled: u64,
    /// The recycled ones whose smaller tasks are there. Those count instead of them.
    #[serde(default)]
    pub replaced: u64,
    pub failed: u64,
    /// Finished and not accepted yet.
    pub to_accept: u64,
    /// Waiting for an answer.
    pub asking: u64,
    pub running: u64,
    pub queued: u64,
    pub is_complete: bool,
}

/// The effort of all attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    pub attempts: u64,
    pub commits: u64,
    pub turns: u64,
    pub insertions: u64,
    pub deletions: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Millionths of a dollar.
    pub cost_micro_usd: u64,
    /// Time that agents ran; added up if several ran at once.
    pub worked_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskLine {
    pub task_id: TaskId,
    pub title: NonBlank,
    pub queue: QueueName,
    pub status: TaskStatus,
    /// Who accepted it.
    pub accepted_by: Option<Actor>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub attempts: Vec<AttemptLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptLine {
    pub attempt_id: AttemptId,
    pub agent: AgentName,
    pub started_at: Timestamp,
    /// None while it runs.
    pub ended_at: Option<Timestamp>,
    /// `ended`, `lost`, `stopped`, or `running`.
    pub end: String,
    pub effort: Effort,
    /// The name and exit code of each check.
    pub checks: Vec<(String, i32)>,
}

impl ProjectReport {
    pub async fn load(tasks: &TaskService, id: ProjectId) -> Result<Self, EngineError> {
        let project = tasks.project(id).await?.value;
        let all = tasks.project_tasks(id).await?;
        let mut attempts: BTreeMap<TaskId, Vec<AttemptRecord>> = BTreeMap::new();
        for some in all.chunks(TASKS_PER_READ) {
            let ids: Vec<TaskId> = some.iter().map(Task::id).collect();
            for record in tasks.store.attempts_of_many(&ids).await? {
                attempts.entry(record.task_id).or_default().push(record);
            }
        }
        let of = |task: &Task| attempts.get(&task.id()).map_or(&[][..], Vec::as_slice);
        let lines: Vec<TaskLine> = all.iter().map(|task| TaskLine::new(task, of(task))).collect();
        let effort = lines.iter().flat_map(|line| &line.attempts).map(|line| line.effort).collect();
        Ok(Self { project, progress: ProjectProgress::new(&all), effort, tasks: lines })
    }
}

impl ProjectProgress {
    /// Not done, cancelled or replaced.
    pub const fn open(&self) -> u64 {
        self.total - self.done - self.cancelled - self.replaced
    }

    /// How many tasks are settled, and of how many. A task that smaller ones replace counts as those.
    pub const fn settled(&self) -> (u64, u64) {
        (self.done + self.cancelled, self.total - self.replaced)
    }

    fn new(tasks: &[Task]) -> Self {
        let standings: Vec<_> = tasks.iter().map(|task| (task.id(), task.standing())).collect();
        let is_complete = is_complete(standings.iter().map(|(id, standing)| (*id, standing)));
        let mut progress = Self { total: tasks.len() as u64, is_complete, ..Self::default() };
        for task in tasks {
            if matches!(task.state(), TaskState::Recycled { replaced_by: ReplacedBy::Tasks(_) }) {
                progress.replaced += 1;
            }
            let count = match task.state() {
                TaskState::Done { .. } => &mut progress.done,
                TaskState::Cancelled { .. } => &mut progress.cancelled,
                TaskState::Recycled { .. } => &mut progress.recycled,
                TaskState::Failed { .. } => &mut progress.failed,
                TaskState::Provisional(_) => &mut progress.to_accept,
                TaskState::AwaitingResponse { .. } | TaskState::Blocked { .. } => &mut progress.asking,
                TaskState::Claimed { .. } | TaskState::Landing(_) => &mut progress.running,
                TaskState::Incoming
                | TaskState::Held
                | TaskState::Breakdown { .. }
                | TaskState::NeedsContinuation { .. } => &mut progress.queued,
            };
            *count += 1;
        }
        progress
    }
}

impl FromIterator<Effort> for Effort {
    fn from_iter<I: IntoIterator<Item = Effort>>(efforts: I) -> Self {
        efforts.into_iter().fold(Self::default(), |sum, one| Self {
            attempts: sum.attempts + one.attempts,
            commits: sum.commits + one.commits,
            turns: sum.turns + one.turns,
            insertions: sum.insertions + one.insertions,
            deletions: sum.deletions + one.deletions,
            input_tokens: sum.input_tokens + one.input_tokens,
            output_tokens: sum.output_tokens + one.output_tokens,
            cost_micro_usd: sum.cost_micro_usd + one.cost_micro_usd,
            worked_ms: sum.worked_ms + one.worked_ms,
        })
    }
}

impl TaskLine {
    fn new(task: &Task, attempts: &[AttemptRecord]) -> Self {
        let (spec, state) = (task.spec(), task.state());
        let accepted_by = match state {
            TaskState::Done {
                accepted_by: AcceptedBy::Actor { actor } | AcceptedBy::PlanApproved { actor },
            } => Some(actor.clone()),
            _ => None,
        };
        Self {
            task_id: spec.id,
            title: spec.title.clone(),
            queue: state.queue(),
            status: state.status(),
            accepted_by,
            created_at: spec.created_at,
            updated_at: task.updated_at(),
            attempts: attempts.iter().map(AttemptLine::new).collect(),
        }
    }
}

impl AttemptLine {
    fn new(record: &AttemptRecord) -> Self {
        let (end, ended_at, evidence) = match &record.closing {
            None => ("running", None, None),
            Some(AttemptClosing::Lost { at }) => ("lost", Some(*at), None),
            Some(AttemptClosing::Stopped { at }) => ("stopped", Some(*at), None),
            Some(AttemptClosing::Ended { at, end }) => ("ended", Some(*at), Some(&end.verified)),
        };
        let used = record.ended_with().map(|(_, used)| used).unwrap_or_default();
        let changed = |count: fn(&Evidence) -> u32| evidence.map_or(0, |seen| count(seen).into());
        let effort = Effort {
            attempts: 1,
            commits: changed(|seen| seen.commits),
            turns: used.turns.into(),
            insertions: changed(|seen| seen.insertions),
            deletions: changed(|seen| seen.deletions),
            input_tokens: used.input_tokens,
            output_tokens: used.output_tokens,
            cost_micro_usd: used.cost_micro_usd,
            worked_ms: used.duration_ms,
        };
        let checks = evidence.into_iter().flat_map(|seen| &seen.checks);
        Self {
            attempt_id: record.attempt.id,
            agent: record.attempt.agent.clone(),
            started_at: record.attempt.started_at,
            ended_at,
            end: end.to_owned(),
            effort,
            checks: checks.map(|check| (check.name.to_string(), check.exit_code)).collect(),
        }
    }
}
