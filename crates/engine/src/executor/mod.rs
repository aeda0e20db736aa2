//! The executor: drives the run of one claimed task, step by step, until the attempt is over.
//!
//! Each step is one shift of an agent. What it reports is held against what Baton sees, the run moves, and the move
//! is written down with what is told of it before the next step begins. So a run that is found after a crash is
//! where it was, and its current step is dispatched again. The end of the attempt and the last move of the run are
//! one transaction.

mod book;
mod evidence;
mod settlement;
pub mod shift;

use baton_agents::ended::{Ended, How};
use baton_core::actor::Actor;
use baton_core::attempt::{AttemptEnd, AttemptResult, BlockReason, ErrorCause, Reported};
use baton_core::change::{Change, Stored};
use baton_core::command::Command;
use baton_core::effect::{Effect, Notice};
use baton_core::event::EventBody;
use baton_core::exit_reason::ExitReason;
use baton_core::id::AttemptId;
use baton_core::outcome::Outcome;
use baton_core::outcome_parser;
use baton_core::question::{Draft, QuestionKind};
use baton_core::question_record::{QuestionRecord, QuestionState};
use baton_core::recipe::{Recipe, Step};
use baton_core::refusal::Refusal;
use baton_core::reminder::OutcomeMistake;
use baton_core::run::{Advance, Contradiction, Observed, Report, Resume, Run, RunRefusal, Seen};
use baton_core::session::Session;
use baton_core::state::TaskState;
use baton_core::task::{Purpose, Task};
use baton_core::text::NonBlank;
use baton_store::Store;
use baton_store::commit::{Commit, Conflict};
use baton_store::query::QuestionFilter;
use tokio::sync::watch;

pub use book::DEFAULT_RECIPE;
pub use evidence::{Spent, measure};

use crate::desk::DECISIONS_MAX;
use crate::error::EngineError;
use crate::gate;
use crate::prompt::StepPrompt;
use crate::runs::{exited, goes_on, hold, moved, stamp};
use crate::workshop::Workshop;
use crate::worktree::{Checkout, Worktrees};
use book::{Book, told};
use settlement::{Exit, wants_code};
use shift::{Shift, Worked};

/// Questions of one task that go into its prompt.
const QUESTIONS_MAX: u32 = 50;
/// Ready tasks counted when an agent says there are none.
const READY_MAX: u32 = 100;

pub struct Executor<'a, S> {
    pub shop: &'a Workshop<S>,
    /// As it was claimed.
    pub task: &'a Task,
    pub attempt: AttemptId,
    pub worktrees: &'a Worktrees,
    pub checkout: &'a Checkout,
    /// Whether the attempt goes on from an earlier one.
    pub is_resumed: bool,
    pub stop: watch::Receiver<bool>,
}

/// What became of the attempt.
#[derive(Debug)]
pub enum Executed {
    /// Its end is written.
    Settled(AttemptResult),
    /// It was stopped from outside; nobody's fault.
    Stopped,
    /// The task moved on without it; its work is kept and its result discarded (I16).
    Stale,
}

/// What happens to the run as the attempt ends.
enum Ending {
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
enum Then {
    GoOn,
    /// Somebody spoke in between.
    Listen,
    End(Executed),
}

impl<S: Store> Executor<'_, S> {
    pub async fn run(&self) -> Result<Executed, EngineError> {
        let mut spent = Spent::nothing();
        let opened = Book::open(&self.shop.desk, self.task).await;
        for news in self.shop.desk.recipes.news() {
            (self.shop.say)(&news);
        }
        let mut book = match opened {
            Ok(book) => book,
            Err(error @ EngineError::NotFound { kind: "recipe", .. }) => {
                return self.ask_about_recipe(&error, &spent).await;
            }
            Err(error) => return Err(error),
        };
        let mut is_first = true;
        loop {
            let then = match book.run.resume() {
                Resume::Dispatch { .. } => self.step(&mut book, &mut spent, is_first).await?,
                Resume::AwaitGate { question } => self.ask_gate(&mut book, &spent, question).await?,
                Resume::Settle { reason } => {
                    let said = book.run.memory().turns().iter().rev().find(|turn| turn.step.is_some());
                    let text = said.map(|turn| turn.text.to_string()).unwrap_or_default();
                    let ending = Ending::Exits { reason, outcome: None, text, error: None };
                    self.end(&mut book, &spent, ending, None).await?
                }
                Resume::Nothing => Then::End(Executed::Stopped),
            };
            match then {
                Then::GoOn | Then::Listen => is_first = false,
                Then::End(executed) => return Ok(executed),
            }
        }
    }

    /// One step: the agent is put to work, and the run moves by what it reports.
    async fn step(&self, book: &mut Book<S>, spent: &mut Spent, is_first: bool) -> Result<Then, EngineError> {
        let Some(step) = book.recipe.step(book.run.step()).cloned() else {
            let changed = RunRefusal::StepChanged { step: book.run.step().clone() };
            let reason = ExitReason::internal_error();
            let error = NonBlank::new(changed.to_string()).ok();
            let ending = Ending::Exits { reason, outcome: None, text: changed.to_string(), error };
            return self.end(book, spent, ending, None).await;
        };
        let ended = self.dispatch(book, &step, spent, is_first).await?;
        if ended.how == How::Cancelled {
            // A person who ended the run wants its work settled; whoever else stopped it wants it to go on later.
            let is_leaving = book.reload().await? && matches!(book.run.resume(), Resume::Settle { .. });
            return Ok(if is_leaving { Then::GoOn } else { Then::End(Executed::Stopped) });
        }
        let text = ended.reported.output.clone();
        let has_default = step.default_outcome().is_some() && ended.outcome.is_none();
        let said = match &ended.reported.result {
            AttemptResult::Complete => said(&step, &book.run, &ended),
            // Without an outcome of its own such a result says how the work went, and the guard takes it as it is.
            AttemptResult::Incomplete | AttemptResult::NoEvidence | AttemptResult::NoChanges { .. }
                if !has_default =>
            {
                said(&step, &book.run, &ended)
            }
            AttemptResult::Error { cause: ErrorCause::Own, message } => {
                let error = NonBlank::new(message.clone()).ok();
                let reason = ExitReason::error();
                let ending = Ending::Exits { reason, outcome: None, text: message.clone(), error };
                return self.end(book, spent, ending, None).await;
            }
            AttemptResult::Incomplete
            | AttemptResult::NoEvidence
            | AttemptResult::NoChanges { .. }
            | AttemptResult::Asked { .. }
            | AttemptResult::Blocked { .. }
            | AttemptResult::TurnLimit
            | AttemptResult::Error { cause: ErrorCause::Systemic, .. } => {
                let ending = Ending::Pauses { reported: ended.reported.clone(), run: book.run.clone() };
                return self.end(book, spent, ending, None).await;
            }
        };
        self.advance(book, spent, &said, text).await
    }

    async fn dispatch(
        &self,
        book: &mut Book<S>,
        step: &Step,
        spent: &mut Spent,
        is_first: bool,
    ) -> Result<Ended, EngineError> {
        let desk = &self.shop.desk;
        let run = book.run.clone().prompted(desk.store.now().await?);
        let (_, messages) = book.unheard().await?;
        let questions = self.questions(&run).await?;
        let prompt = StepPrompt {
            task: self.task,
            recipe: &book.recipe,
            run: &run,
            step,
            questions: &questions,
            messages: &messages,
            is_resumed: self.is_resumed && is_first,
        };
        let mut variables = vec![
            ("BATON_RUN_ID", run.id().to_string()),
            ("BATON_STEP", step.name().to_string()),
            ("BATON_STEP_VISIT", run.visits(step.name()).to_string()),
        ];
        variables.extend(step.model().map(|model| ("BATON_MODEL", model.to_owned())));
        // With an answer to go on from, the prompt holds the conversation; a lost attempt alone is begun anew.
        let has_answer =
            questions.iter().any(|record| matches!(record.state, QuestionState::Answered { .. }));
        if has_answer && is_first {
            variables.push(("BATON_RESUME", "1".to_owned()));
        }
        let shift = Shift {
            shop: self.shop,
            task: self.task,
            attempt: self.attempt,
            worktree: &self.checkout.folder,
            role: step.role().unwrap_or(&self.task.spec().role),
            name: step.name().to_string(),
            prompt: prompt.text(),
            variables,
        };
        let worked: Worked = shift.work(self.stop.clone()).await?;
        spent.add(&worked);
        let (texts, number) = told(&messages);
        book.run = run.told_messages(&texts, number).said(&worked.ended.reported.output);
        Ok(worked.ended)
    }

    /// The conversation of the run's agent session with the human, so far.
    async fn questions(&self, run: &Run) -> Result<Vec<QuestionRecord>, EngineError> {
        let filter = QuestionFilter { task: Some(self.task.id()), ..QuestionFilter::default() };
        let page = self.shop.desk.store.questions(&filter, None, QUESTIONS_MAX).await?;
        let questions = page.items.into_iter().map(|stored| stored.value);
        // What was asked before is another session's: of the phase before, or of the agent before this one (I7).
        let since = run.memory().since();
        Ok(questions.filter(|record| since.is_none_or(|since| record.asked_at >= since)).collect())
    }

    /// Moves the run by what was reported, and does what follows.
    async fn advance(
        &self,
        book: &mut Book<S>,
        spent: &Spent,
        said: &Said,
        text: String,
    ) -> Result<Then, EngineError> {
        let report = &said.report;
        for _ in 0..DECISIONS_MAX {
            let (session, unheard) = book.unheard().await?;
            if !unheard.is_empty() {
                // Somebody spoke while the agent worked: it hears that before anything follows from its report.
                if book.write(book.run.clone(), session, Vec::new()).await? {
                    return Ok(Then::GoOn);
                }
                match overtaken(book).await? {
                    Some(then) => return Ok(then),
                    None => continue,
                }
            }
            let observed = self.observe(book, said).await?;
            let (run, advance) = book.run.advance(&book.recipe, report, &observed)?;
            let outcome = match report {
                Report::Outcome(outcome) => Some(outcome),
                Report::Mistake(_) => None,
            };
            let events = moved(&run, &advance, outcome.map(|outcome| &outcome.name));
            let error = match &report {
                Report::Mistake(mistake) => NonBlank::new(mistake.to_string()).ok(),
                Report::Outcome(_) => None,
            };
            let ending = match advance {
                Advance::Exit { reason } => {
                    Ending::Exits { reason, outcome: outcome.cloned(), text: text.clone(), error }
                }
                Advance::AskGate { question } => {
                    let question = gate::question(&book.recipe, &run, &question);
                    let reported = Reported::new(AttemptResult::Asked { question }, text.clone());
                    Ending::Pauses { reported, run }
                }
                Advance::Restart { .. } if book.recipe.takes_task() => {
                    Ending::MovesOn { text: text.clone(), run, events }
                }
                Advance::Restart { .. }
                | Advance::EnterStep { .. }
                | Advance::Remind { .. }
                | Advance::StayInPhase => {
                    if book.write(run, session, events).await? {
                        return Ok(Then::GoOn);
                    }
                    match overtaken(book).await? {
                        Some(then) => return Ok(then),
                        None => continue,
                    }
                }
            };
            match self.end(book, spent, ending, session).await? {
                Then::Listen => {}
                then @ (Then::GoOn | Then::End(_)) => return Ok(then),
            }
        }
        Err(EngineError::Restless { task: self.task.id() })
    }

    /// What Baton itself sees, to hold against the report.
    async fn observe(&self, book: &Book<S>, said: &Said) -> Result<Observed, EngineError> {
        let measured = self.worktrees.measure(self.checkout).await?;
        let seen = Seen {
            commits: measured.commits,
            uncommitted: measured.uncommitted,
            files_changed: measured.files_changed,
        };
        let contradiction = match &said.report {
            Report::Outcome(outcome) if said.is_claim && wants_code(self.task) => {
                Contradiction::in_git(outcome, seen)
            }
            Report::Outcome(_) | Report::Mistake(_) => None,
        };
        let ready_count = self.ready_count(&book.recipe).await?;
        Ok(Observed { ready_count, progress: seen.commits > 0, contradiction })
    }

    /// The run's own task, where it took one from the queue, and what else is ready there.
    async fn ready_count(&self, recipe: &Recipe) -> Result<u32, EngineError> {
        let spec = self.task.spec();
        let own = u32::from(recipe.takes_task() && spec.purpose == Purpose::Work);
        let ready = self.shop.desk.ready(READY_MAX).await?;
        let fits = |task: &Task| {
            task.spec().purpose == Purpose::Work
                && task.spec().project_id == spec.project_id
                && task.spec().role == spec.role
        };
        let count = ready.iter().filter(|stored| fits(&stored.value)).count();
        Ok(own.saturating_add(u32::try_from(count).unwrap_or(u32::MAX)))
    }

    async fn ask_gate(
        &self,
        book: &mut Book<S>,
        spent: &Spent,
        asked: NonBlank,
    ) -> Result<Then, EngineError> {
        let question = gate::question(&book.recipe, &book.run, &asked);
        let reported = Reported::new(AttemptResult::Asked { question }, String::new());
        self.end(book, spent, Ending::Pauses { reported, run: book.run.clone() }, None).await
    }

    /// The recipe cannot be read, and there is no version of it to go on with. A person can mend that.
    async fn ask_about_recipe(&self, error: &EngineError, spent: &Spent) -> Result<Executed, EngineError> {
        let text = format!(
            "This task is to be run by a recipe that cannot be used: {error}. `baton recipe check` tells what is wrong. \
             Mend it, then answer with anything to go on."
        );
        let result = match NonBlank::new(text.clone()) {
            Ok(text) => AttemptResult::Asked { question: Draft::new(QuestionKind::Clarification, text) },
            Err(_) => AttemptResult::Blocked { reason: BlockReason::Unstated },
        };
        let verified = measure(self.shop, self.worktrees, self.checkout, spent).await?;
        let end = AttemptEnd { reported: Reported::new(result.clone(), ""), verified };
        let settle = Command::Settle { attempt: self.attempt, end };
        match self.shop.desk.apply(self.task.id(), settle, Actor::Baton).await {
            Ok(_) => Ok(Executed::Settled(result)),
            Err(EngineError::Refused(Refusal::Stale { .. })) => Ok(Executed::Stale),
            Err(error) => Err(error),
        }
    }

    /// Writes the end of the attempt and what it means for the run, in one transaction.
    async fn end(
        &self,
        book: &mut Book<S>,
        spent: &Spent,
        ending: Ending,
        session: Option<Stored<Session>>,
    ) -> Result<Then, EngineError> {
        let verified = measure(self.shop, self.worktrees, self.checkout, spent).await?;
        let reported = match &ending {
            Ending::Pauses { reported, .. } => reported.clone(),
            Ending::Exits { reason, outcome, text, .. } => {
                let exit = Exit { reason, outcome: outcome.as_ref(), text, origin: book.run.origin() };
                exit.reported(self.task, verified.shows_work())
            }
            Ending::MovesOn { text, .. } => Reported::new(AttemptResult::Complete, text.clone()),
        };
        let result = reported.result.clone();
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
            stamp(&mut change, events, context.now, &Actor::Baton);
            match self.shop.desk.store.commit(change).await? {
                Commit::Written { .. } => return Ok(Then::End(Executed::Settled(result))),
                Commit::Conflict(Conflict::Moved { kind: "task", .. }) => {}
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
        book: &Book<S>,
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
        book: &Book<S>,
        run: &Run,
        events: &[EventBody],
        session: Option<Stored<Session>>,
    ) -> Result<(Change, Vec<EventBody>), EngineError> {
        let desk = &self.shop.desk;
        let project = self.task.spec().project_id;
        let (next, change) = match desk.next_task(&book.recipe, project).await? {
            Some(ready) => (ready.value.id(), hold(ready)),
            None => desk.carrier(&book.recipe, run.session(), project, None, desk.store.now().await?),
        };
        let run = run.clone().bound_to(next);
        let mut events = events.to_vec();
        events.push(EventBody::RunBound { run: run.id(), session: run.session().clone(), task: next });
        Ok((book.writing(&run, session).and(change), events))
    }
}

/// What was said, and whether the agent said it itself.
struct Said {
    report: Report,
    is_claim: bool,
}

/// The outcome the agent reported, or its mistake. Where a step has a default, silence is not one, and neither is
/// what it still gets wrong after a reminder: the evidence decides then.
fn said(step: &Step, run: &Run, ended: &Ended) -> Said {
    let allowed = step.outcomes();
    let heard = match &ended.outcome {
        Some(said) => Outcome::report(&said.name, said.description.as_deref(), &allowed),
        None => outcome_parser::parse(&ended.reported.output, &allowed),
    };
    match (heard, step.default_outcome()) {
        (Ok(outcome), _) => Said { report: Report::Outcome(outcome), is_claim: true },
        (Err(mistake), Some(default)) if mistake == OutcomeMistake::NoneFound || run.was_reminded() => {
            let outcome = Outcome { name: default.clone(), description: None };
            Said { report: Report::Outcome(outcome), is_claim: false }
        }
        (Err(mistake), _) => Said { report: Report::Mistake(mistake), is_claim: true },
    }
}

/// Something could not be written. Whoever ended the run has the last word; anybody else who moved it works on the
/// task now in our place.
async fn overtaken<S: Store>(book: &mut Book<S>) -> Result<Option<Then>, EngineError> {
    if !book.reload().await? {
        return Ok(None);
    }
    Ok(Some(match book.run.resume() {
        Resume::Settle { .. } => Then::GoOn,
        Resume::Dispatch { .. } | Resume::AwaitGate { .. } | Resume::Nothing => Then::End(Executed::Stale),
    }))
}
