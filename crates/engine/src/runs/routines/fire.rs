//! Finds what is due of a routine and writes what core decides about it: the routine, the task and the receipt of the cause
//! are one transaction, so a cause starts one task, however many machines look and whenever one of them is killed.

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::{ProjectId, RoutineId, SessionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::graph::Standing;
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};
use baton_core::records::event::{Event, EventBody};
use baton_core::records::receipt::{Receipt, ReceiptKey, RequestedWork};
use baton_core::routine::cause::Cause;
use baton_core::routine::firing::Firing;
use baton_core::routine::{Routine, RoutineRun, Trigger};
use baton_core::task::{Task, TaskSpec};
use baton_core::transition::command::Command;
use baton_core::transition::refusal::CommandRefusal;

use crate::base::error::Result;
use crate::base::ids::random_bits;
use crate::base::once::without_receipt;
use crate::projects::source::CodeSource;
use crate::runs::routines::error::RoutineError;
use crate::runs::routines::{Routines, zone};

/// Events looked at in one firing.
const EVENTS_MAX: u32 = 500;

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Called {
    Started(TaskId),
    /// The task of the last run is open; it starts after that.
    Waits,
    /// The task of the last run is open.
    Skipped,
    /// It is only ever called, and a person has paused it.
    Paused,
}

impl Routines {
    /// Does what is due of a routine.
    pub async fn fire(&self, id: RoutineId) -> Result<()> {
        self.decide(id, None).await.map(drop)
    }

    /// Somebody wants it to run now. The same key runs it once.
    pub async fn call(&self, id: RoutineId, key: Option<&str>, content: &str) -> Result<(Routine, Called)> {
        let key = key.map_or_else(|| format!("{:016x}", random_bits()), str::to_owned);
        let cause = Cause::Call { key, content: content.to_owned() };
        let routine = self.decide(id, Some(&cause)).await?;
        let called = self.outcome(&routine, &cause).await?;
        Ok((routine, called))
    }

    /// What came of a call that was made before.
    pub async fn called(&self, id: RoutineId, key: &str, content: &str) -> Result<(Routine, Called)> {
        let routine = self.read(id).await?.value;
        let cause = Cause::Call { key: key.to_owned(), content: content.to_owned() };
        let called = self.outcome(&routine, &cause).await?;
        Ok((routine, called))
    }

    async fn outcome(&self, routine: &Routine, cause: &Cause) -> Result<Called> {
        let receipt = self.tasks.store.receipt(&ReceiptKey::for_routine(routine.id, cause)).await?;
        Ok(match receipt.and_then(|receipt| receipt.task_id) {
            Some(task) => Called::Started(task),
            None if routine.waiting.contains(cause) => Called::Waits,
            None if is_shut(routine) => Called::Paused,
            None => Called::Skipped,
        })
    }

    async fn decide(&self, id: RoutineId, call: Option<&Cause>) -> Result<Routine> {
        let mut decision = self.tasks.decision(id);
        loop {
            let Versioned { version, value: before } = self.read(id).await?;
            if !before.is_active() && (call.is_none() || is_shut(&before)) {
                return Ok(before);
            }
            let zone = zone::zone_of(&before)?;
            let (mut came_in, trigger) = if before.is_active() {
                self.look(&before).await?
            } else {
                (Vec::new(), before.trigger.clone())
            };
            came_in.extend(call.cloned());
            came_in = self.without_done(&before, came_in).await?;
            let now = self.tasks.store.now().await?;
            let is_busy = self.is_busy(&before).await?;
            let looked = Routine { trigger, ..before.clone() };
            let firing = looked.fire(came_in, is_busy, now, &zone);
            if firing.replaces {
                // Should Baton end here, the call is repeated. On the heap: it holds the state of a whole command.
                without_receipt(Box::pin(self.cancel_last(&before))).await?;
                decision.again().await?;
                continue;
            }
            if !firing.is_needed(&before) {
                return Ok(before);
            }
            let (routine, change) = self.written(version, firing, now);
            if decision.commit(change).await? {
                return Ok(routine);
            }
        }
    }

    /// What happened since the last look, and the trigger that remembers it.
    async fn look(&self, routine: &Routine) -> Result<(Vec<Cause>, Trigger)> {
        match &routine.trigger {
            Trigger::Time { .. } | Trigger::Webhook => Ok((Vec::new(), routine.trigger.clone())),
            Trigger::Ref { branch, seen } => {
                let tip = self.tip_of(routine.task.project_id, branch).await?;
                let moved = tip.clone().filter(|tip| Some(tip) != seen.as_ref());
                let number = routine.run_count.saturating_add(routine.skipped_count);
                let number = number.saturating_add(routine.waiting.len() as u64);
                let causes = moved.into_iter().map(|commit| Cause::Commit { commit, number }).collect();
                // A branch that is gone may come back where it was.
                Ok((causes, Trigger::Ref { branch: branch.clone(), seen: tip.or_else(|| seen.clone()) }))
            }
            Trigger::TaskDone { seen } => {
                let events = self.tasks.store.events_after(*seen, EVENTS_MAX).await?;
                let (mut causes, mut last) = (Vec::new(), *seen);
                for stored in &events {
                    if let EventBody::TaskDone { task, .. } = &stored.event.body
                        && self.concerns(routine, *task).await?
                    {
                        causes.push(Cause::Done { task: *task });
                        last = stored.seq;
                    }
                }
                // Written down only with something to do, or events would cause events.
                let is_full = events.len() >= EVENTS_MAX as usize;
                if let Some(end) = events.last().filter(|_| is_full) {
                    last = end.seq;
                }
                Ok((causes, Trigger::TaskDone { seen: last }))
            }
        }
    }

    /// Whether a task that is done starts the routine: one of its project, which no routine created.
    async fn concerns(&self, routine: &Routine, task: TaskId) -> Result<bool> {
        let Some(task) = self.tasks.store.task(task).await? else { return Ok(false) };
        let spec = task.value.spec();
        let is_here = routine.task.project_id.is_none_or(|project| spec.project_id == Some(project));
        Ok(is_here && !spec.session_id.is_of_routine())
    }

    /// Where a branch is; none if there is no such branch.
    pub(super) async fn tip_of(
        &self,
        project: Option<ProjectId>,
        branch: &BranchName,
    ) -> Result<Option<CommitId>> {
        let project = match project {
            Some(id) => Some(self.tasks.project(id).await?.value),
            None => None,
        };
        let source = self.projects.source(project.as_ref());
        if let CodeSource::Here(folder) = &source
            && !folder.is_dir()
        {
            return Err(RoutineError::OtherMachine { branch: branch.clone() }.into());
        }
        let worktrees = self.projects.open_source(&source).await?;
        if source.remote().is_some() {
            worktrees.pull(&[branch], None, false).await?;
            return Ok(worktrees.origin_tip(branch).await?);
        }
        Ok(worktrees.repository().tip(branch).await?)
    }

    /// The causes that have not run yet.
    async fn without_done(&self, routine: &Routine, causes: Vec<Cause>) -> Result<Vec<Cause>> {
        let mut fresh = Vec::new();
        for cause in causes {
            let key = ReceiptKey::for_routine(routine.id, &cause);
            if self.tasks.store.receipt(&key).await?.is_none() && !routine.waiting.contains(&cause) {
                fresh.push(cause);
            }
        }
        Ok(fresh)
    }

    async fn is_busy(&self, routine: &Routine) -> Result<bool> {
        let Some(last) = &routine.last else { return Ok(false) };
        let Some(task) = self.tasks.store.task(last.task_id).await? else { return Ok(false) };
        Ok(match task.value.standing() {
            Standing::Open | Standing::Recycled { .. } => true,
            Standing::Done | Standing::Cancelled | Standing::Failed | Standing::Replaced { .. } => false,
        })
    }

    async fn cancel_last(&self, routine: &Routine) -> Result<()> {
        let Some(last) = &routine.last else { return Ok(()) };
        let reason = NonBlank::new(format!("{} runs again", routine.id)).ok();
        match self
            .tasks
            .apply(last.task_id, Command::Cancel { reason }, Actor::policy("overlap = replace"))
            .await
        {
            Ok(_) => Ok(()),
            // It ended meanwhile.
            Err(error) if error.is::<CommandRefusal>() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The routine as it will be, and everything to write with it.
    fn written(&self, version: u64, firing: Firing, now: Timestamp) -> (Routine, Change) {
        let Firing { mut routine, run, skipped, .. } = firing;
        let mut change = Change::new();
        if let Some(cause) = run {
            let task = self.task_for(&routine, &cause, now);
            let key = ReceiptKey::for_routine(routine.id, &cause);
            let receipt = Receipt {
                key,
                session_id: task.spec().session_id.clone(),
                message: None,
                task_id: Some(task.id()),
                wanted: RequestedWork::default(),
                delivered: None,
                answer: None,
                at: now,
            };
            let created =
                EventBody::TaskCreated { spec: Box::new(task.spec().clone()), depends_on: Vec::new() };
            let ran =
                EventBody::RoutineRan { routine: routine.id, task: task.id(), cause: cause.to_string() };
            routine.last = Some(RoutineRun { cause, task_id: task.id(), at: now });
            change = Change::create(task, &[], Event { at: now, by: Actor::Baton, body: created })
                .put(Record::Receipt(receipt), WriteGuard::New);
            change.events.push(Event { at: now, by: Actor::Baton, body: ran });
        }
        if let Some(last) = skipped.last() {
            let body = EventBody::RoutineSkipped {
                routine: routine.id,
                count: skipped.len() as u64,
                last: last.to_string(),
            };
            change.events.push(Event { at: now, by: Actor::Baton, body });
        }
        let change = change.put(Record::Routine(Box::new(routine.clone())), WriteGuard::Version(version));
        (routine, change)
    }

    fn task_for(&self, routine: &Routine, cause: &Cause, now: Timestamp) -> Task {
        let wanted = &routine.task;
        let why = format!("Started by the routine {}. {}", routine.id, cause.describe());
        let description = if wanted.description.trim().is_empty() {
            why
        } else {
            format!("{}\n\n{why}", wanted.description.trim_end())
        };
        let spec = TaskSpec {
            project_id: wanted.project_id,
            description,
            priority: wanted.priority,
            recipe: wanted.recipe.clone(),
            ..TaskSpec::new(
                self.tasks.ids.task(),
                SessionId::for_routine(routine.id),
                wanted.task_type,
                wanted.title.clone(),
                now,
            )
        };
        Task::create(spec).with_requester(routine.created_by.person())
    }
}

/// A person may run one that is paused, but for one that is only ever called, pausing means just that.
fn is_shut(routine: &Routine) -> bool {
    !routine.is_active() && matches!(routine.trigger, Trigger::Webhook)
}
