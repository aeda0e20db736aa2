//! The lineage of a task: the first one that was asked for, what it was broken down into, and so on to the last part.

use std::collections::BTreeMap;

use baton_core::base::id::TaskId;
use baton_core::records::event::EventBody;
use baton_core::task::Task;
use baton_core::task::state::{ReplacedBy, TaskState};

use crate::base::error::EngineError;
use crate::tasks::service::TaskService;

/// Tasks of one lineage that are looked at.
const KIN_MAX: usize = 500;
/// Steps up to the first one. Rules allow for very few; a person who splits by hand may make more.
const STEPS_MAX: usize = 50;
/// Events of a breakdown among which its approval is looked for: far more than it has.
const EVENTS_MAX: u32 = 2_000;

/// Each before those that came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Lineage {
    pub kin: Vec<Kin>,
    /// There are more than were looked at.
    pub is_cut: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Kin {
    pub task: Task,
    /// Steps from the first one.
    pub level: usize,
}

impl Lineage {
    pub async fn load(tasks: &TaskService, of: TaskId) -> Result<Lineage, EngineError> {
        let mut known = KnownTasks { tasks, loaded: BTreeMap::new() };
        let mut kin: Vec<Kin> = Vec::new();
        let mut ahead = vec![(known.first_of(of).await?, 0)];
        while let Some((id, level)) = ahead.pop() {
            if kin.len() == KIN_MAX {
                return Ok(Lineage { kin, is_cut: true });
            }
            let task = known.task(id).await?;
            let children = known.came_from(&task).await?;
            known.load(&children).await?;
            ahead.extend(children.into_iter().rev().map(|child| (child, level + 1)));
            kin.push(Kin { task, level });
        }
        Ok(Lineage { kin, is_cut: false })
    }
}

/// The tasks of a lineage that have been read. The children of a task are read together, so a plan of fifty parts costs
/// as many queries as one of two.
struct KnownTasks<'a> {
    tasks: &'a TaskService,
    loaded: BTreeMap<TaskId, Task>,
}

impl KnownTasks<'_> {
    async fn task(&mut self, id: TaskId) -> Result<Task, EngineError> {
        if let Some(task) = self.loaded.get(&id) {
            return Ok(task.clone());
        }
        let task = self.tasks.task(id).await?.value;
        self.loaded.insert(id, task.clone());
        Ok(task)
    }

    async fn load(&mut self, ids: &[TaskId]) -> Result<(), EngineError> {
        let missing: Vec<TaskId> = ids.iter().copied().filter(|id| !self.loaded.contains_key(id)).collect();
        if !missing.is_empty() {
            let found = self.tasks.store.tasks_by_ids(&missing).await?;
            self.loaded.extend(found.into_iter().map(|stored| (stored.value.id(), stored.value)));
        }
        Ok(())
    }

    async fn first_of(&mut self, mut id: TaskId) -> Result<TaskId, EngineError> {
        for _ in 0..STEPS_MAX {
            let Some(before) = self.task(id).await?.derived_from() else { break };
            id = before;
        }
        Ok(id)
    }

    /// What came of a task, in the order of the plan.
    async fn came_from(&mut self, task: &Task) -> Result<Vec<TaskId>, EngineError> {
        match task.state() {
            TaskState::Recycled { replaced_by: ReplacedBy::Planning(breakdown) } => Ok(vec![*breakdown]),
            TaskState::Recycled { replaced_by: ReplacedBy::Tasks(parts) } => {
                let breakdown = self.breakdown_of(task, parts).await?;
                Ok(breakdown.map_or_else(|| parts.clone(), |breakdown| vec![breakdown]))
            }
            _ if task.is_breakdown() => self.parts_of(task).await,
            _ => Ok(Vec::new()),
        }
    }

    /// The breakdown that found these parts of a task. What a loop planned had none.
    async fn breakdown_of(&mut self, task: &Task, parts: &[TaskId]) -> Result<Option<TaskId>, EngineError> {
        let Some(part) = parts.first() else { return Ok(None) };
        let Some(planned_in) = self.task(*part).await?.spec().planned_in else { return Ok(None) };
        let planner = self.task(planned_in).await?;
        Ok((planner.replaces() == Some(task.id())).then_some(planned_in))
    }

    /// The tasks a breakdown's plan became. Of a first plan only its history tells, which does not last for ever.
    async fn parts_of(&mut self, breakdown: &Task) -> Result<Vec<TaskId>, EngineError> {
        if let Some(replaced) = breakdown.replaces()
            && let TaskState::Recycled { replaced_by: ReplacedBy::Tasks(parts) } =
                self.task(replaced).await?.state()
        {
            return Ok(parts.clone());
        }
        let events = self.tasks.store.task_events(breakdown.id(), 0, EVENTS_MAX).await?;
        let approved = events.into_iter().rev().find_map(|recorded| match recorded.event.body {
            EventBody::PlanApproved { subtasks, .. } => Some(subtasks),
            _ => None,
        });
        Ok(approved.unwrap_or_default())
    }
}
