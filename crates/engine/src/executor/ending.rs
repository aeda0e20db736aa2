//! The end of an attempt, and what becomes of its run: one transaction.

use baton_core::actor::Actor;
use baton_core::attempt::{AttemptEnd, AttemptResult, Reported};
use baton_core::change::{Change, Stored};
use baton_core::command::Command;
use baton_core::effect::{Effect, Notice};
use baton_core::event::EventBody;
use baton_core::exit_reason::ExitReason;
use baton_core::outcome::Outcome;
use baton_core::refusal::Refusal;
use baton_core::run::{Resume, Run};
use baton_core::session::Session;
use baton_core::state::TaskState;
use baton_core::text::NonBlank;
use baton_store::commit::{Commit, Conflict};

use super::book::Book;
use super::evidence::{Spent, measure};
use super::settlement::Exit;
use super::{Executed, Executor};
use crate::desk::DECISIONS_MAX;
use crate::error::EngineError;
use crate::runs::{exited, goes_on, hold, stamp};

/// What happens to the run as the attempt ends.
pub(super) enum Ending {
    /// It waits, at the step it is at.
    Pauses {
        reported: Reported,
        run: Run,
    },
    Exits {
        reason: ExitReason,
        outcome: Option<Outcome>,
        text: String,
        error: Option<NonBlank>,
    },
    /// It goes on with another task.
    MovesOn {
        text: String,
        run: Run,
        events: Vec<EventBody>,
    },
}

/// What to do after something was written, or was not.
pub(super) enum Then {
    GoOn,
    /// Somebody spoke in between.
    Listen,
    End(Executed),
}

impl Executor<'_> {
    /// Writes the end of the attempt and what it means for the run, in one transaction.
    pub(super) async fn end(
        &self,
        book: &mut Book,
        spent: &Spent,
        ending: Ending,
        session: Option<Stored<Session>>,
    ) -> Result<Then, EngineError> {
        let measured = measure(self.shop, self.worktrees, self.checkout, spent, &self.stop).await?;
        let Some(verified) = measured else { return Ok(Then::End(Executed::Stopped)) };
        let reported = match &ending {
            Ending::Pauses { reported, .. } => reported.clone(),
            Ending::Exits { reason, outcome, text, .. } => {
                let exit = Exit { reason, outcome: outcome.as_ref(), text, origin: book.run.origin() };
                exit.reported(self.task, verified.shows_work())
            }
            Ending::MovesOn { text, .. } => Reported::new(AttemptResult::Complete, text.clone()),
        };
        self.shop.note_intake(self.task, &reported.result).await?;
        let end = AttemptEnd { reported, verified };
        for _ in 0..DECISIONS_MAX {
            let stored = self.shop.desk.task(self.task.id()).await?;
            let context = self.shop.desk.context(Actor::Baton).await?;
            let settle = Command::Settle { attempt: self.attempt, end: end.clone() };
            let transition = match stored.value.apply(settle, &context) {
                Ok(transition) => transition,
                Err(Refusal::Stale { .. }) => return Ok(Then::End(Executed::Stale)),
                Err(refusal) => return Err(refusal.into()),
            };
            let state = transition.task.state().clone();
            let mut change = Change::transition(stored.version, transition);
            let (of_run, events) = self.of_run(book, &ending, &state, session.clone()).await?;
            change = change.and(of_run);
            change = change.and(self.shop.spent(self.task, &end.verified, context.now).await?);
            stamp(&mut change, events, context.now, &Actor::Baton);
            match self.shop.desk.store.commit(change).await? {
                Commit::Written { .. } => {
                    self.span.record("outcome", end.reported.result.kind().as_str());
                    self.shop.note_day().await?;
                    return Ok(Then::End(Executed::Settled));
                }
                // Another attempt's end was written on the same account just now.
                Commit::Conflict(Conflict::Moved { kind: "task" | "spending", .. }) => {}
                Commit::Conflict(Conflict::Moved { .. }) => {
                    return Ok(overtaken(book).await?.unwrap_or(Then::Listen));
                }
                Commit::Conflict(conflict) => return Err(EngineError::Dependency(conflict)),
            }
        }
        Err(EngineError::Restless { task: self.task.id() })
    }

    /// What is written of the run with the end of its attempt, and what is told of it.
    async fn of_run(
        &self,
        book: &Book,
        ending: &Ending,
        state: &TaskState,
        session: Option<Stored<Session>>,
    ) -> Result<(Change, Vec<EventBody>), EngineError> {
        let (run, error) = match ending {
            Ending::Pauses { run, .. } if goes_on(state) => {
                return Ok((book.writing(run, session), Vec::new()));
            }
            // The task came to an end without the run: its turns were used up, for example.
            Ending::Pauses { run, reported } => {
                let error = NonBlank::new(format!(
                    "the task ended before the step did: {:?}",
                    reported.result.kind()
                ));
                (run.exit(ExitReason::error())?.0, error.ok())
            }
            Ending::Exits { reason, error, .. } => (book.run.exit(reason.clone())?.0, error.clone()),
            Ending::MovesOn { run, events, .. } => return self.of_next(book, run, events, session).await,
        };
        let mut change = book.writing(&run, session);
        let events = exited(&run, error);
        if !events.is_empty() {
            change.effects.push(Effect::Notify { about: Notice::RunExited(run.id()) });
        }
        Ok((change, events))
    }

    /// The run goes on with the next ready task, or, when none is, with one made for it, so that its agent can look
    /// for itself and say so.
    async fn of_next(
        &self,
        book: &Book,
        run: &Run,
        events: &[EventBody],
        session: Option<Stored<Session>>,
    ) -> Result<(Change, Vec<EventBody>), EngineError> {
        let desk = &self.shop.desk;
        let project = self.task.spec().project_id;
        let (next, change) = if let Some(ready) = desk.next_task(&book.recipe, project).await? {
            (ready.value.id(), hold(ready))
        } else {
            let (asker, now) = (self.task.asker().cloned(), desk.store.now().await?);
            desk.carrier(&book.recipe, run.session(), project, None, asker, now)
        };
        let run = run.clone().bound_to(next);
        let mut events = events.to_vec();
        events.push(EventBody::RunBound { run: run.id(), session: run.session().clone(), task: next });
        Ok((book.writing(&run, session).and(change), events))
    }
}

/// Something could not be written. Whoever ended the run has the last word; anybody else who moved it works on the
/// task now in our place.
pub(super) async fn overtaken(book: &mut Book) -> Result<Option<Then>, EngineError> {
    if !book.reload().await? {
        return Ok(None);
    }
    Ok(Some(match book.run.resume() {
        Resume::Settle { .. } => Then::GoOn,
        Resume::Dispatch { .. } | Resume::AwaitGate { .. } | Resume::Nothing => Then::End(Executed::Stale),
    }))
}
