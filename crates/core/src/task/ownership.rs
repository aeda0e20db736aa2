//! Which tasks an open run keeps for itself. Here, because `schedule` knows no tasks.

use crate::base::task_type::TaskType;
use crate::base::text::Role;
use crate::schedule::{OwnedQueue, OwnedQueues};
use crate::task::state::TaskState;
use crate::task::{Purpose, Task};

impl OwnedQueue {
    /// Whether the run takes this task, if it is ready: work of the usual role, with no other recipe of its own.
    pub fn takes(&self, task: &Task) -> bool {
        let spec = task.spec();
        spec.purpose == Purpose::Work
            && spec.role == Role::implement()
            && self.projects.contains(spec.project_id)
            && spec.recipe.as_ref().is_none_or(|named| *named == self.recipe)
    }

    /// Whether only its owner may start it. What was begun is finished by the run that began it; a question or a report has no
    /// change to plan or to review, and the person who asked waits for it.
    fn keeps(&self, task: &Task) -> bool {
        let is_change = !matches!(task.spec().task_type, TaskType::ReadInfo | TaskType::Report);
        let is_new = *task.state() == TaskState::Incoming && task.ledger().started == 0;
        is_change && is_new && self.takes(task)
    }
}

impl OwnedQueues {
    /// The queue that keeps this task from being started by anybody but its run.
    pub fn owner_of(&self, task: &Task) -> Option<&OwnedQueue> {
        if self.bound.contains(&task.id()) {
            return None;
        }
        self.queues.iter().find(|queue| queue.keeps(task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{ProjectId, TaskId};
    use crate::base::text::NonBlank;
    use crate::base::time::Timestamp;
    use crate::schedule::ProjectScope;
    use crate::task::TaskSpec;

    fn task(change: impl FnOnce(&mut TaskSpec)) -> Task {
        let (session, title) = ("cli".parse().unwrap(), NonBlank::new("Do it").unwrap());
        let kind = TaskType::Implementation;
        let mut spec = TaskSpec::new(TaskId::from_bits(1), session, kind, title, Timestamp::from_ms(0));
        change(&mut spec);
        Task::create(spec)
    }

    #[test]
    fn a_run_keeps_the_new_work_of_its_project_and_nothing_else() {
        let (own, other) = (ProjectId::from_bits(1), ProjectId::from_bits(2));
        let queue = OwnedQueue {
            session: "mine".parse().unwrap(),
            recipe: "implement-and-review-all".parse().unwrap(),
            projects: ProjectScope::Only(own),
        };
        let owned = OwnedQueues { queues: vec![queue], ..OwnedQueues::default() };
        let of_own = |change: fn(&mut TaskSpec)| {
            task(move |spec| {
                spec.project_id = Some(own);
                change(spec);
            })
        };
        for (what, task, is_kept) in [
            ("new work", of_own(|_| {}), true),
            ("named", of_own(|spec| spec.recipe = "implement-and-review-all".parse().ok()), true),
            ("another recipe", of_own(|spec| spec.recipe = "work".parse().ok()), false),
            ("another role", of_own(|spec| spec.role = "docs".parse().unwrap()), false),
            ("a question", of_own(|spec| spec.task_type = TaskType::ReadInfo), false),
            ("a report", of_own(|spec| spec.task_type = TaskType::Report), false),
            ("made for a run", of_own(|spec| spec.purpose = Purpose::Run), false),
            ("another project", task(|spec| spec.project_id = Some(other)), false),
            ("no project", task(|_| {}), false),
        ] {
            assert_eq!(owned.owner_of(&task).is_some(), is_kept, "{what}");
        }
        let bound = OwnedQueues { bound: [TaskId::from_bits(1)].into(), ..owned };
        assert_eq!(bound.owner_of(&of_own(|_| {})), None, "its run works on it");
    }
}
