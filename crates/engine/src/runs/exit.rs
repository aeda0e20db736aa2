//! The end of a run from outside: a person wants it, or its task came to an end without it.

use baton_core::ask::stop_words::stops;
use baton_core::base::id::{SessionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::recipe::run::{Run, RunOrigin, RunState};
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};
use baton_core::records::effect::{Effect, Notification};
use baton_core::records::event::EventBody;
use baton_core::task::Task;
use baton_core::task::state::TaskState;
use baton_core::transition::command::Command;

use crate::base::error::Result;
use crate::runs::{Runs, exited, is_loop, stamp};

/// Why a task is held after a person stopped it.
pub(crate) const STOPPED_BY_PERSON: &str = "stopped by you";

impl Runs {
    /// Ends the session's run because a person wants it to. Work that is there is kept: where an agent is running, its
    /// processes are ended and its task is settled as stopped. I22: nobody continues the task until it is released.
    pub(super) async fn exit_recipe(&self, session: &SessionId, actor: &Actor) -> Result<Run> {
        let mut decision = self.tasks.decision(format_args!("the session {session}"));
        loop {
            let open = self.open_session_run(session).await?.filter(|open| !is_loop(&open.value));
            let Some(open) = open else { return Err(self.without_run(session).await?.into()) };
            let (run, change) = self.exit(&open, actor).await?;
            if decision.commit(change).await? {
                return Ok(run);
            }
        }
    }

    /// Ends the run that waits at a gate of this task, or one started in a session whose agent asks, where that is what the
    /// answer says (I22). `false` if it is not, or if no such run waits.
    pub(crate) async fn stop_by_answer(
        &self,
        task: TaskId,
        answer: &NonBlank,
        actor: &Actor,
        extra: &Change,
    ) -> Result<bool> {
        let mut decision = self.tasks.decision(format_args!("the run of {task}"));
        while stops(answer.as_str()) {
            let open = self.task_run(task).await?;
            let waits = |open: &Versioned<Run>| match open.value.state() {
                RunState::AtGate { .. } => true,
                RunState::Working => open.value.origin() == RunOrigin::Session,
                RunState::Leaving { .. } | RunState::Exited { .. } => false,
            };
            let asked = self.tasks.task(task).await?.value;
            let offers_it = asked
                .pending_question()
                .is_none_or(|asked| asked.draft.options.contains(answer) || asked.takes_one_word());
            let Some(open) = open.filter(|open| waits(open) && !offers_it) else { return Ok(false) };
            let (_, change) = self.exit(&open, actor).await?;
            if decision.commit(change.and(extra.clone())).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn exit(&self, open: &Versioned<Run>, actor: &Actor) -> Result<(Run, Change)> {
        let reason = ExitReason::user_requested();
        let now = self.tasks.store.now().await?;
        let task = match open.value.task() {
            Some(task) => Some(self.tasks.task(task).await?),
            None => None,
        };
        let (run, mut change) = match task.as_ref().map(|task| (task, task.value.state())) {
            Some((_, TaskState::Claimed { attempt })) => {
                let mut change = Change::new();
                change.effects.push(Effect::StopAgent { attempt: attempt.id });
                (open.value.begin_exit(reason)?, change)
            }
            // The next claim of the task settles the work so far, as it is.
            Some((_, TaskState::NeedsContinuation { .. })) => (open.value.begin_exit(reason)?, Change::new()),
            Some((task, TaskState::AwaitingResponse { .. } | TaskState::Blocked { .. }))
                if task.value.shows_work() =>
            {
                let context = self.tasks.context(actor.clone()).await?;
                let left = task.value.apply(Command::LeaveRun, &context)?;
                (open.value.begin_exit(reason)?, Change::transition(task.version, left))
            }
            // Made for this run, and nothing is there yet.
            Some((task, TaskState::Incoming | TaskState::Held))
                if task.value.is_for_run_alone() && !task.value.shows_work() =>
            {
                let cancel = Command::Cancel { reason: NonBlank::new(STOPPED_BY_PERSON).ok() };
                let context = self.tasks.context(actor.clone()).await?;
                let cancelled = task.value.apply(cancel, &context)?;
                (open.value.exit(reason)?.0, Change::transition(task.version, cancelled))
            }
            Some((task, _)) => {
                let why = NonBlank::new(STOPPED_BY_PERSON)?;
                (open.value.exit(reason)?.0, self.held(task, &why, actor).await?)
            }
            None => (open.value.exit(reason)?.0, Change::new()),
        };
        let run = run.end_at(now, None);
        let mut events = exited(&run);
        if !events.is_empty() {
            change.effects.push(Effect::Notify { about: Notification::RunExited(run.id()) });
        }
        if !run.has_exited() {
            events.push(EventBody::RunStopping { run: run.id(), session: run.session().clone() });
        }
        change = change.put(Record::Run(Box::new(run.clone())), WriteGuard::Version(open.version));
        stamp(&mut change, events, now, actor);
        Ok((run, change.and(self.held_queue(&open.value, actor).await?)))
    }

    /// I22: stops whatever works on the task or would, and holds it. A running agent's attempt is settled with what it
    /// has so far; a task that is over stays as it is.
    pub(crate) async fn stopped(&self, id: TaskId, why: &NonBlank, actor: &Actor) -> Result<Change> {
        let task = self.tasks.task(id).await?;
        let open = self.task_run(id).await?;
        match (task.value.state(), open) {
            (TaskState::Claimed { attempt }, Some(open)) => {
                let Ok(leaving) = open.value.begin_exit(ExitReason::user_requested()) else {
                    return Ok(Change::new());
                };
                let leaving = leaving.stopped_for(why.clone());
                let mut change = Change::new();
                change.effects.push(Effect::StopAgent { attempt: attempt.id });
                let change = change.put(Record::Run(Box::new(leaving)), WriteGuard::Version(open.version));
                Ok(change.and(self.held_queue(&open.value, actor).await?))
            }
            _ => self.held(&task, why, actor).await,
        }
    }

    /// Holds a task that is not over.
    async fn held(&self, task: &Versioned<Task>, why: &NonBlank, actor: &Actor) -> Result<Change> {
        if !goes_on(task.value.state()) || task.value.is_breakdown() {
            return Ok(Change::new());
        }
        let actor = person_or_policy(actor);
        let hold = Command::Hold { reason: why.clone() };
        let transition = task.value.apply(hold, &self.tasks.context(actor).await?)?;
        Ok(Change::transition(task.version, transition))
    }

    /// Ends runs whose task came to an end without them: it was cancelled, or nobody answered in time.
    pub async fn end_runs_without_work(&self) -> Result<()> {
        for open in self.tasks.store.open_runs().await? {
            self.end_run_without_work(open).await?;
        }
        Ok(())
    }

    /// Ends one such run; leaves any other as it is.
    pub(crate) async fn end_run_without_work(&self, open: Versioned<Run>) -> Result<()> {
        let Some(task) = open.value.task() else { return Ok(()) };
        let state = self.tasks.task(task).await?.value.state().clone();
        if goes_on(&state) {
            return Ok(());
        }
        let is_cancelled = matches!(state, TaskState::Cancelled { .. });
        let (reason, error) = if let TaskState::Failed { error, .. } = state {
            (ExitReason::error(), Some(error))
        } else {
            (ExitReason::user_requested(), None)
        };
        let now = self.tasks.store.now().await?;
        let run = open.value.exit(reason)?.0.end_at(now, error);
        let mut change =
            Change::new().put(Record::Run(Box::new(run.clone())), WriteGuard::Version(open.version));
        let events = exited(&run);
        if !events.is_empty() {
            change.effects.push(Effect::Notify { about: Notification::RunExited(run.id()) });
        }
        stamp(&mut change, events, now, &Actor::Baton);
        if is_cancelled {
            change = change.and(self.held_queue(&open.value, &Actor::Baton).await?);
        }
        // One that moved meanwhile is looked at again after the next change.
        self.tasks.store.commit(change).await?;
        Ok(())
    }
}

/// Who holds or releases a task: only people and policies do.
pub(crate) fn person_or_policy(actor: &Actor) -> Actor {
    match actor {
        Actor::Human { .. } | Actor::Policy { .. } => actor.clone(),
        Actor::Agent { .. } | Actor::Baton => Actor::policy("the loop"),
    }
}

/// Whether a task in this state still has use for its run.
pub(crate) fn goes_on(state: &TaskState) -> bool {
    match state {
        TaskState::Incoming
        | TaskState::Held
        | TaskState::Breakdown { .. }
        | TaskState::Claimed { .. }
        | TaskState::NeedsContinuation { .. }
        | TaskState::AwaitingResponse { .. }
        | TaskState::Blocked { .. } => true,
        TaskState::Provisional(_)
        | TaskState::Landing(_)
        | TaskState::Recycled { .. }
        | TaskState::Done { .. }
        | TaskState::Failed { .. }
        | TaskState::Cancelled { .. } => false,
    }
}
