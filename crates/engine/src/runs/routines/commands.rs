//! Commands of people on routines.

use baton_core::base::id::RoutineId;
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};
use baton_core::records::event::{Event, EventBody, RoutineChange};
use baton_core::routine::{Overlap, Routine, RoutineState, RoutineTask, Trigger};

use crate::base::error::Result;
use crate::runs::routines::error::RoutineError;
use crate::runs::routines::{Routines, zone};

/// Each is looked at whenever something happens.
const ROUTINES_MAX: usize = 1_000;

/// What a person wants to be done again and again.
#[derive(Debug, Clone)]
pub struct NewRoutine {
    pub task: RoutineTask,
    pub trigger: Trigger,
    pub overlap: Overlap,
}

impl Routines {
    pub async fn add(&self, new: NewRoutine, actor: Actor) -> Result<Routine> {
        if self.list().await?.len() >= ROUTINES_MAX {
            return Err(RoutineError::TooMany { max: ROUTINES_MAX }.into());
        }
        if let Some(recipe) = &new.task.recipe {
            self.tasks.recipes.find(recipe)?;
        }
        let trigger = self.begin(&new).await?;
        let mut decision = self.tasks.decision("a new routine");
        loop {
            let now = self.tasks.store.now().await?;
            let routine = Routine {
                id: self.tasks.ids.routine(),
                task: new.task.clone(),
                trigger: trigger.clone(),
                overlap: new.overlap,
                state: RoutineState::Active,
                created_at: now,
                created_by: actor.clone(),
                next_at: None,
                waiting: Vec::new(),
                last: None,
                run_count: 0,
                skipped_count: 0,
            };
            let zone = zone::zone_of(&routine)?;
            let routine = routine.resume(now, &zone);
            let change = changed(&routine, WriteGuard::New, RoutineChange::Added, now, &actor);
            if decision.commit(change).await? {
                return Ok(routine);
            }
        }
    }

    /// Nothing starts it until it is resumed.
    pub async fn pause(&self, id: RoutineId, actor: Actor) -> Result<Routine> {
        self.revise(id, RoutineChange::Paused, actor).await
    }

    pub async fn resume(&self, id: RoutineId, actor: Actor) -> Result<Routine> {
        self.revise(id, RoutineChange::Resumed, actor).await
    }

    /// Its tasks stay.
    pub async fn remove(&self, id: RoutineId, actor: Actor) -> Result<Routine> {
        self.revise(id, RoutineChange::Removed, actor).await
    }

    /// Doing so again changes nothing.
    async fn revise(&self, id: RoutineId, what: RoutineChange, actor: Actor) -> Result<Routine> {
        let mut decision = self.tasks.decision(id);
        loop {
            let Versioned { version, value: routine } = self.read(id).await?;
            let now = self.tasks.store.now().await?;
            let revised = match what {
                RoutineChange::Paused if routine.is_active() => routine.pause(now, actor.clone()),
                RoutineChange::Resumed if !routine.is_active() => {
                    let zone = zone::zone_of(&routine)?;
                    let begun = NewRoutine {
                        task: routine.task.clone(),
                        trigger: routine.trigger.clone(),
                        overlap: routine.overlap,
                    };
                    let trigger = self.begin(&begun).await?;
                    Routine { trigger, ..routine }.resume(now, &zone)
                }
                RoutineChange::Removed => routine.remove(now, actor.clone()),
                RoutineChange::Added | RoutineChange::Paused | RoutineChange::Resumed => return Ok(routine),
            };
            let change = changed(&revised, WriteGuard::Version(version), what, now, &actor);
            if decision.commit(change).await? {
                return Ok(revised);
            }
        }
    }

    /// The trigger as it is when nothing has happened yet: what happened before does not count.
    async fn begin(&self, new: &NewRoutine) -> Result<Trigger> {
        Ok(match &new.trigger {
            Trigger::Time { .. } | Trigger::Webhook => new.trigger.clone(),
            Trigger::Ref { branch, .. } => {
                let seen = self.tip_of(new.task.project_id, branch).await?;
                Trigger::Ref { branch: branch.clone(), seen }
            }
            Trigger::TaskDone { .. } => Trigger::TaskDone { seen: *self.tasks.store.subscribe().borrow() },
        })
    }
}

fn changed(
    routine: &Routine,
    guard: WriteGuard,
    change: RoutineChange,
    now: baton_core::base::time::Timestamp,
    actor: &Actor,
) -> Change {
    let body = EventBody::RoutineChanged { routine: routine.id, title: routine.task.title.clone(), change };
    let mut written = Change::new().put(Record::Routine(Box::new(routine.clone())), guard);
    written.events.push(Event { at: now, by: actor.clone(), body });
    written
}
