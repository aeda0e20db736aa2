//! Approving a plan: its subtasks are created and replace the original task, in one change, once.

use crate::base::explanation::Explanation;
use crate::base::id::TaskId;
use crate::base::text::Role;
use crate::base::time::Timestamp;
use crate::explained;
use crate::records::change::{Change, EdgeChange, Versioned};
use crate::records::event::{Event, EventBody};
use crate::recycle::Depth;
use crate::recycle::plan::Plan;
use crate::recycle::plan::verification::commands_in;
use crate::task::state::{ReplacedBy, TaskState};
use crate::task::{Purpose, Task, TaskSpec};
use crate::transition::command::{Command, CommandContext};
use crate::transition::refusal::CommandRefusal;

/// Why a plan could not be approved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApprovalRefusal {
    #[error(transparent)]
    Refused(#[from] CommandRefusal),
    #[error("{breakdown} replaces {expected:?}, but {given:?} was loaded for it")]
    OtherTask { breakdown: TaskId, expected: Option<TaskId>, given: Option<TaskId> },
    #[error("the plan has {items} items, but {ids} ids were given for its subtasks")]
    IdCount { items: usize, ids: usize },
    #[error("{task} is broken down anew by {by}, so the plan of {breakdown} can no longer replace it")]
    PlannedAnew { breakdown: TaskId, task: TaskId, by: TaskId },
}

explained! { ApprovalRefusal {
    Self::OtherTask { .. } => Explanation {
        code: "other_task",
        means: "The plan was approved for a different task than the one it replaces.",
        cause: "The breakdown changed while it was being approved.",
        next: "Read it again and retry.",
    },
    Self::IdCount { .. } => Explanation {
        code: "id_count",
        means: "The number of items in the plan has changed.",
        cause: "The plan was edited while it was being approved.",
        next: "Read it again and retry.",
    },
    Self::PlannedAnew { .. } => Explanation {
        code: "planned_anew",
        means: "The task that this plan was made for has a newer breakdown, which is to replace it.",
        cause: "The task was cancelled, brought back and became too large again, and the old breakdown was brought back too.",
        next: "Approve the plan of the newer breakdown, and cancel this one: `baton task cancel TASK`.",
    },
} else {
    Self::Refused(refusal) => refusal.explained(),
} }

/// The rows needed to approve a plan, as read.
pub struct Approval<'a> {
    pub breakdown: &'a Versioned<Task>,
    pub plan: &'a Plan,
    /// The recycled task, if the breakdown replaces one.
    pub replaced: Option<&'a Versioned<Task>>,
    /// One unused id per plan item.
    pub subtask_ids: &'a [TaskId],
}

impl Approval<'_> {
    /// The change that carries out the plan. Everything that waited on the replaced task now waits on the plan's
    /// leaves; a second approval fails on the version.
    pub fn approve(&self, context: &CommandContext) -> Result<Change, ApprovalRefusal> {
        let breakdown = &self.breakdown.value;
        self.check()?;
        let approved = breakdown.apply(Command::ApprovePlan, context)?;
        let mut change = Change::transition(self.breakdown.version, approved);
        for (number, id) in (1..).zip(self.subtask_ids) {
            change = change.and(self.subtask(number, *id, context));
        }
        if let Some(replaced) = self.replaced {
            let by = self.subtask_ids.to_vec();
            let transition = replaced.value.apply(Command::Replace { by }, context)?;
            let from = replaced.value.id();
            let to: Vec<TaskId> =
                self.plan.leaves().into_iter().filter_map(|number| self.id_of(number)).collect();
            change = change.and(Change::transition(replaced.version, transition));
            change.events.push(event(context, EventBody::DependentsRewired { from, to: to.clone() }));
            change.edges.push(EdgeChange::Rewire { from, to });
        }
        let body = EventBody::PlanApproved { task: breakdown.id(), subtasks: self.subtask_ids.to_vec() };
        change.events.push(event(context, body));
        Ok(change)
    }

    fn check(&self) -> Result<(), ApprovalRefusal> {
        let breakdown = self.breakdown.value.id();
        if !self.breakdown.value.is_breakdown() {
            return Err(CommandRefusal::NotBreakdown { task: breakdown }.into());
        }
        let expected = self.breakdown.value.replaces();
        let given = self.replaced.map(|stored| stored.value.id());
        if expected != given {
            return Err(ApprovalRefusal::OtherTask { breakdown, expected, given });
        }
        if let Some(TaskState::Recycled { replaced_by: ReplacedBy::Planning(by) }) =
            self.replaced.map(|replaced| replaced.value.state())
            && *by != breakdown
        {
            return Err(ApprovalRefusal::PlannedAnew {
                breakdown,
                task: expected.unwrap_or(breakdown),
                by: *by,
            });
        }
        let (items, ids) = (self.plan.items().len(), self.subtask_ids.len());
        if items == ids { Ok(()) } else { Err(ApprovalRefusal::IdCount { items, ids }) }
    }

    fn id_of(&self, number: usize) -> Option<TaskId> {
        self.subtask_ids.get(number.checked_sub(1)?).copied()
    }

    fn subtask(&self, number: usize, id: TaskId, context: &CommandContext) -> Change {
        let Some(item) = self.plan.item(number) else { return Change::new() };
        let parent = self.breakdown.value.spec();
        let spec = TaskSpec {
            id,
            title: item.title.clone(),
            description: self.plan.subtask_text(number).unwrap_or_default(),
            priority: item.priority.unwrap_or(parent.priority),
            role: Role::implement(),
            purpose: Purpose::Work,
            // I14: tasks that replace a task are not broken down again; subtasks of a first plan may be, once.
            depth: if self.replaced.is_some() { Depth::BrokenDown } else { parent.depth },
            planned_in: Some(parent.id),
            verify: commands_in(&item.verification),
            created_at: in_plan_order(context.now, number),
            ..parent.clone()
        };
        let depends_on: Vec<TaskId> =
            item.depends_on.iter().filter_map(|number| self.id_of(*number)).collect();
        let body = EventBody::TaskCreated { spec: Box::new(spec.clone()), depends_on: depends_on.clone() };
        let asker = self.breakdown.value.asker().cloned();
        Change::create(Task::create(spec).with_requester(asker), &depends_on, event(context, body))
    }
}

/// A millisecond apart, so that lists and the queue have the parts in the order of the plan.
fn in_plan_order(now: Timestamp, number: usize) -> Timestamp {
    Timestamp::from_ms(now.ms().saturating_add(i64::try_from(number).unwrap_or(i64::MAX)))
}

fn event(context: &CommandContext, body: EventBody) -> Event {
    Event { at: context.now, by: context.actor.clone(), body }
}
