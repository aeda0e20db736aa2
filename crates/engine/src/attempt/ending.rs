//! The end of an attempt, and what becomes of its run: one transaction.

use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::recipe::outcome::Outcome;
use baton_core::recipe::run::{Run, RunResume, RunTurn};
use baton_core::records::change::{Change, Versioned};
use baton_core::records::effect::{Effect, Notification};
use baton_core::records::event::EventBody;
use baton_core::records::session::Session;
use baton_core::task::attempt::{AttemptEnd, AttemptReport, AttemptResult};
use baton_core::task::state::TaskState;
use baton_core::transition::command::Command;
use baton_core::transition::refusal::CommandRefusal;
use baton_store::model::commit::Conflict;
use baton_store::model::record_kind::RecordKind;

use crate::attempt::evidence::{Spent, measure};
use crate::attempt::executor::{Executed, Executor};
use crate::attempt::journal::{RunJournal, has_to_be_heard};
use crate::attempt::settlement::{Exit, StepWords};
use crate::base::error::EngineError;
use crate::runs::{Runs, exited, goes_on, hold, stamp};

/// What happens to the run as the attempt ends.
pub(crate) enum Ending {
    /// It waits, at the step it is at.
    Pauses {
        reported: AttemptReport,
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

/// Whether an attempt that ends still hears what people say.
pub(crate) enum Listening {
    /// Messages wait for the next attempt.
    No,
    /// One that came in meanwhile is told to the agent first. The session's row, if the run is stored, shows that.
    Yes(Option<Versioned<Session>>),
}

impl Listening {
    const fn is_open(&self) -> bool {
        matches!(self, Self::Yes(_))
    }

    fn session(&self) -> Option<Versioned<Session>> {
        match self {
            Self::Yes(session) => session.clone(),
            Self::No => None,
        }
    }
}

/// What to do after something was written, or was not.
pub(crate) enum Then {
    GoOn,
    /// Somebody spoke in between.
    Listen,
    End(Executed),
}

/// What the step before the current one said at its end, such as what a reviewer found.
fn said_before(run: &Run) -> Option<StepWords> {
    let handed = run.memory().handover().filter(|handed| handed.step != *run.step())?;
    let is_its = |turn: &&RunTurn| turn.step.as_ref() == Some(&handed.step);
    let turn = || run.memory().turns().iter().rev().find(is_its).map(|turn| &turn.text);
    let words = handed.words.as_ref().or_else(turn)?;
    Some(StepWords { step: handed.step.clone(), words: words.clone() })
}

impl Executor<'_> {
    /// Writes the end of the attempt and what it means for the run, in one transaction.
    pub(crate) async fn end(
        &self,
        book: &mut RunJournal,
        spent: &Spent,
        ending: Ending,
        listening: Listening,
    ) -> Result<Then, EngineError> {
        let measured =
            measure(self.context, self.worktrees, self.checkout, self.task, spent, &self.stop).await?;
        let Some(verified) = measured else { return Ok(Then::End(Executed::Stopped)) };
        let reported = match &ending {
            Ending::Pauses { reported, .. } => reported.clone(),
            Ending::Exits { reason, outcome, text, .. } => {
                let exit = Exit {
                    reason,
                    outcome: outcome.as_ref(),
                    text,
                    origin: book.run.origin(),
                    stopped_because: book.run.stopped_because(),
                    before: said_before(&book.run),
                };
                exit.reported(self.task, verified.shows_work())
            }
            Ending::MovesOn { text, .. } => AttemptReport::new(AttemptResult::Complete, text.clone()),
        };
        self.context.limits.note_intake(self.task, &reported.result).await?;
        let reported = self.context.limits.limit_systemic(self.task, reported).await?;
        let end = AttemptEnd { reported, verified };
        let mut decision = self.context.tasks.decision(self.task.id());
        loop {
            let stored = self.context.tasks.task(self.task.id()).await?;
            if listening.is_open()
                && self.context.tasks.queued_messages(&stored.value).await?.iter().any(has_to_be_heard)
            {
                return Ok(Then::Listen);
            }
            let context = self.context.tasks.context(Actor::Baton).await?;
            let settle = Command::Settle { attempt: self.attempt, end: end.clone() };
            let transition = match stored.value.apply(settle, &context) {
                Ok(transition) => transition,
                Err(CommandRefusal::Stale { .. }) => return Ok(Then::End(Executed::Stale)),
                Err(refusal) => return Err(refusal.into()),
            };
            let state = transition.task.state().clone();
            let mut change = Change::transition(stored.version, transition);
            let (of_run, events) = self.of_run(book, &ending, &state, listening.session()).await?;
            change = change.and(of_run);
            change = change.and(self.context.limits.spent(self.task, &end.verified, context.now).await?);
            stamp(&mut change, events, context.now, &Actor::Baton);
            match decision.try_commit(change).await? {
                None => {
                    self.span.record("outcome", end.reported.result.kind().as_str());
                    self.context.limits.note_day().await?;
                    return Ok(Then::End(Executed::Settled));
                }
                // Another attempt's end was written on the same account just now.
                Some(Conflict::Moved { kind: RecordKind::Task | RecordKind::Spending, .. }) => {
                    decision.again().await?;
                }
                Some(_) => return Ok(overtaken(book).await?.unwrap_or(Then::Listen)),
            }
        }
    }

    /// What is written of the run with the end of its attempt, and what is told of it.
    async fn of_run(
        &self,
        book: &RunJournal,
        ending: &Ending,
        state: &TaskState,
        session: Option<Versioned<Session>>,
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
            Ending::Exits { reason, error, outcome, .. } => {
                let run = book.run.exit(reason.clone())?.0;
                let run = outcome.iter().fold(run, Run::record_outcome);
                (run, error.clone())
            }
            Ending::MovesOn { run, events, .. } => return self.of_next(book, run, events, session).await,
        };
        let run = run.end_at(self.context.tasks.store.now().await?, error);
        let mut change = book.writing(&run, session);
        let events = exited(&run);
        if !events.is_empty() {
            change.effects.push(Effect::Notify { about: Notification::RunExited(run.id()) });
        }
        Ok((change, events))
    }

    /// The run goes on with the next ready task, or, when none is, with one made for it, so that its agent can look
    /// for itself and say so.
    async fn of_next(
        &self,
        book: &RunJournal,
        run: &Run,
        events: &[EventBody],
        session: Option<Versioned<Session>>,
    ) -> Result<(Change, Vec<EventBody>), EngineError> {
        let tasks = &self.context.tasks;
        let project = self.task.spec().project_id;
        let (next, change) =
            if let Some(ready) = Runs::new(tasks).next_task(&book.recipe, run.session(), project).await? {
                (ready.value.id(), hold(ready))
            } else {
                let (asker, now) = (self.task.asker().cloned(), tasks.store.now().await?);
                Runs::new(tasks).carrier(&book.recipe, run.session(), project, None, asker, now)
            };
        let run = run.clone().bind_to(next);
        let mut events = events.to_vec();
        events.push(EventBody::RunBound { run: run.id(), session: run.session().clone(), task: next });
        Ok((book.writing(&run, session).and(change), events))
    }
}

/// Something could not be written. What ended the run has the last word; anything else that moved it works on the
/// task now in our place.
pub(crate) async fn overtaken(book: &mut RunJournal) -> Result<Option<Then>, EngineError> {
    if !book.reload().await? {
        return Ok(None);
    }
    Ok(Some(match book.run.resume() {
        RunResume::Settle { .. } => Then::GoOn,
        RunResume::Dispatch { .. } | RunResume::AwaitGate { .. } | RunResume::Nothing => {
            Then::End(Executed::Stale)
        }
    }))
}
