//! Tasks that start later: they are held, and a timer releases them.

use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::records::change::Change;
use baton_core::records::effect::{Effect, Timer};
use baton_core::task::state::TaskState;
use baton_core::task::{Task, TaskSpec};
use baton_core::transition::command::Command;

use crate::base::error::Result;
use crate::tasks::service::TaskService;

/// The new task and, if it starts later, its timer.
pub(super) fn start_later(spec: TaskSpec, now: Timestamp) -> (Task, Option<Effect>) {
    let Some(at) = spec.start_at.filter(|at| *at > now) else { return (Task::create(spec), None) };
    let timer = Effect::ScheduleTimer { timer: Timer::TaskStarts(spec.id), at };
    let reason = reason(&spec, at);
    (Task::create_held_for(spec, reason), Some(timer))
}

fn reason(spec: &TaskSpec, at: Timestamp) -> NonBlank {
    NonBlank::or(&format!("it starts at {at}"), spec.title.clone())
}

/// When a task starts that is held for nothing but its time.
pub fn waits_until(task: &Task) -> Option<Timestamp> {
    let is_held = *task.state() == TaskState::Held;
    let is_reason = |at: &Timestamp| task.ledger().held_because.as_ref() == Some(&reason(task.spec(), *at));
    task.spec().start_at.filter(|at| is_held && is_reason(at))
}

impl TaskService {
    /// The time of a task has come. One that a person has released, cancelled or held since is left alone (I22).
    pub(crate) async fn start_in_time(&self, id: TaskId) -> Result<()> {
        let mut decision = self.decision(id);
        loop {
            let Some(stored) = self.store.task(id).await? else { return Ok(()) };
            let task = &stored.value;
            if waits_until(task).is_none() {
                return Ok(());
            }
            let context = self.context(Actor::policy("start_at")).await?;
            let transition = task.apply(Command::Release, &context)?;
            if decision.commit(Change::transition(stored.version, transition)).await? {
                return Ok(());
            }
        }
    }
}
