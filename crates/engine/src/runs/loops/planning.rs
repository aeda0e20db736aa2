//! The subtasks of a plan that was approved.

use baton_core::base::id::{SessionId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::Role;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::phase::handoff::{NamedTask, PhaseResults};
use baton_core::phase::phase_loop::PhaseLoop;
use baton_core::phase::work::{ExecuteWork, PlanWork};
use baton_core::records::change::{Change, EdgeChange, Versioned};
use baton_core::records::event::{Event, EventBody};
use baton_core::recycle::plan::Plan;
use baton_core::task::state::TaskState;
use baton_core::task::{Task, TaskSpec};
use baton_core::transition::command::Command;

use crate::base::error::Result;
use crate::runs::loops::Loops;

/// What the execute phase begins with, and the change that makes it so.
pub(crate) struct Planned {
    pub results: PhaseResults,
    pub change: Change,
    pub work: ExecuteWork,
}

impl Loops {
    /// The tasks of a plan, in case it is approved: they stand in for the one that was planned, and wait on one
    /// another as the plan says.
    pub(crate) async fn planned(
        &self,
        current: &PhaseLoop,
        work: &PlanWork,
        actor: &Actor,
        now: Timestamp,
    ) -> Result<Planned> {
        let subject = match work.subject() {
            Some(subject) => self.tasks.store.task(subject.id).await?,
            None => None,
        };
        let project = subject.as_ref().and_then(|stored| stored.value.spec().project_id);
        let asker = subject.as_ref().map_or_else(|| actor.person(), |stored| stored.value.asker().cloned());
        let replaced =
            subject.filter(|stored| matches!(stored.value.state(), TaskState::Incoming | TaskState::Held));
        let planned_in = replaced.as_ref().map(|stored| stored.value.id());
        let ids: Vec<TaskId> =
            work.plan().into_iter().flat_map(Plan::items).map(|_| self.tasks.ids.task()).collect();
        let mut change = Change::new();
        let mut subtasks = Vec::new();
        for (number, id) in (1..).zip(&ids) {
            let Some(plan) = work.plan() else { break };
            // Each a moment after the one before, so that the plan's order is theirs wherever tasks are listed or claimed.
            let created = now.plus_ms(i64::try_from(number).unwrap_or(0));
            let Some(spec) = subtask(plan, number, *id, current.session(), created) else { break };
            let task = Task::create_held(TaskSpec { project_id: project, planned_in, ..spec })
                .with_requester(asker.clone());
            let named = NamedTask { id: *id, title: task.spec().title.clone() };
            subtasks.push((named, task.spec().description.clone()));
            let depends_on = of_numbers(&ids, plan.item(number).map_or(&[], |item| &item.depends_on));
            let spec = Box::new(task.spec().clone());
            let body = EventBody::TaskCreated { spec, depends_on: depends_on.clone() };
            let event = Event { at: now, by: actor.clone(), body };
            change = change.and(Change::create(task, &depends_on, event));
        }
        if let Some(stored) = replaced {
            let leaves = work.plan().map(|plan| of_numbers(&ids, &plan.leaves())).unwrap_or_default();
            change = change.and(self.replaced(&stored, ids, leaves).await?);
        }
        let named = subtasks.iter().map(|(task, _)| task.clone()).collect();
        let work = ExecuteWork::new(subtasks);
        Ok(Planned { results: PhaseResults::Planned { subtasks: named }, change, work })
    }

    /// Whatever waited on the planned task waits on the plan's leaves.
    async fn replaced(
        &self,
        subject: &Versioned<Task>,
        by: Vec<TaskId>,
        leaves: Vec<TaskId>,
    ) -> Result<Change> {
        let context = self.tasks.context(Actor::policy("the loop")).await?;
        let replaced = subject.value.apply(Command::Replace { by }, &context)?;
        let mut change = Change::transition(subject.version, replaced);
        change.edges.push(EdgeChange::Rewire { from: subject.value.id(), to: leaves });
        Ok(change)
    }
}

fn subtask(plan: &Plan, number: usize, id: TaskId, session: &SessionId, now: Timestamp) -> Option<TaskSpec> {
    let item = plan.item(number)?;
    let [_, execute, _] = Role::loop_phases();
    Some(TaskSpec {
        description: plan.subtask_text(number).unwrap_or_default(),
        priority: item.priority.unwrap_or_default(),
        role: execute,
        ..TaskSpec::new(id, session.clone(), TaskType::Implementation, item.title.clone(), now)
    })
}

/// The ids of a plan's items by their numbers, which begin with one.
fn of_numbers(ids: &[TaskId], numbers: &[usize]) -> Vec<TaskId> {
    numbers.iter().filter_map(|number| ids.get(number.checked_sub(1)?).copied()).collect()
}
