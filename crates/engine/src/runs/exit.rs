//! The end of a run from outside: a person wants it, or its task came to an end without it.

use crate::runs::error::RunError;
use baton_core::ask::answer_source::AnsweredBy;
use baton_core::base::id::SessionId;
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::recipe::run::Run;
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};
use baton_core::records::effect::{Effect, Notification};
use baton_core::records::event::EventBody;
use baton_core::task::state::TaskState;
use baton_core::task::{Purpose, Task};
use baton_core::transition::command::Command;

use crate::base::error::Result;
use crate::runs::{Runs, exited, is_loop, stamp};

/// What a question is answered with when its run is stopped instead.
const STOPPED: &str = "The recipe was stopped; no answer is needed any more.";

impl Runs {
    /// Ends the session's run because a person wants it to. Work that is there is kept: where an agent was at work,
    /// its processes are ended and its task goes where the evidence says.
    pub(super) async fn exit_recipe(&self, session: &SessionId, actor: &Actor) -> Result<Run> {
        let mut decision = self.tasks.decision(format_args!("the session {session}"));
        loop {
            let open = self.open_session_run(session).await?.filter(|open| !is_loop(&open.value));
            let open = open.ok_or_else(|| RunError::NoRun { session: session.clone() })?;
            let (run, change) = self.exit(&open, actor).await?;
            if decision.commit(change).await? {
                return Ok(run);
            }
        }
    }

    async fn exit(&self, open: &Versioned<Run>, actor: &Actor) -> Result<(Run, Change)> {
        let reason = ExitReason::user_requested();
        let context = self.tasks.context(actor.clone()).await?;
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
            Some((task, TaskState::AwaitingResponse { .. } | TaskState::Blocked { .. })) => {
                (open.value.begin_exit(reason)?, self.release(task, actor).await?)
            }
            Some((task, TaskState::Incoming | TaskState::Held | TaskState::NeedsContinuation { .. }))
                if task.value.ledger().started > 0 =>
            {
                (open.value.begin_exit(reason)?, Change::new())
            }
            // Nobody has begun: the queue's task stays in the queue, and one made for this run is not needed.
            Some((task, TaskState::Incoming | TaskState::Held))
                if task.value.spec().purpose == Purpose::Run =>
            {
                let reason = NonBlank::new(STOPPED).ok();
                let cancelled = task.value.apply(Command::Cancel { reason }, &context)?;
                let run = open.value.exit(ExitReason::user_requested())?.0;
                (run, Change::transition(task.version, cancelled))
            }
            Some(_) | None => (open.value.exit(reason)?.0, Change::new()),
        };
        let mut events = exited(&run, None);
        if !events.is_empty() {
            change.effects.push(Effect::Notify { about: Notification::RunExited(run.id()) });
        }
        if !run.has_exited() {
            events.push(EventBody::RunStopping { run: run.id(), session: run.session().clone() });
        }
        change = change.put(Record::Run(Box::new(run.clone())), WriteGuard::Version(open.version));
        stamp(&mut change, events, context.now, actor);
        Ok((run, change))
    }

    /// Lets a waiting task go back to the queue, where it is settled instead of worked on.
    async fn release(&self, task: &Versioned<Task>, actor: &Actor) -> Result<Change> {
        let (Some(question), Ok(answer)) = (task.value.state().pending_question(), NonBlank::new(STOPPED))
        else {
            return Ok(Change::new());
        };
        let reply = Command::Reply {
            question: question.id,
            answer,
            answered_by: AnsweredBy::human(actor.to_string()),
        };
        let transition = task.value.apply(reply, &self.tasks.context(actor.clone()).await?)?;
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
        let (reason, error) = if let TaskState::Failed { error, .. } = state {
            (ExitReason::error(), Some(error))
        } else {
            (ExitReason::user_requested(), None)
        };
        let (run, _) = open.value.exit(reason)?;
        let mut change =
            Change::new().put(Record::Run(Box::new(run.clone())), WriteGuard::Version(open.version));
        let events = exited(&run, error);
        if !events.is_empty() {
            change.effects.push(Effect::Notify { about: Notification::RunExited(run.id()) });
        }
        stamp(&mut change, events, self.tasks.store.now().await?, &Actor::Baton);
        // One that moved meanwhile is looked at again after the next change.
        self.tasks.store.commit(change).await?;
        Ok(())
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
        | TaskState::Recycled { .. }
        | TaskState::Done { .. }
        | TaskState::Failed { .. }
        | TaskState::Cancelled { .. } => false,
    }
}
