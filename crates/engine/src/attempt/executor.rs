//! The executor: drives the run of one claimed task, step by step, until the attempt is over.
//!
//! Each step is one shift of an agent. What it reports is held against what Baton sees, the run moves, and the move
//! is written down with what is told of it before the next step begins. So a run that is found after a crash is
//! where it was, and its current step is dispatched again. The end of the attempt and the last move of the run are
//! one transaction.

use crate::attempt::unusable;
use baton_agents::driver::run_result::{EndReason, RunResult};
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::AttemptId;
use baton_core::base::text::{NonBlank, Role};
use baton_core::people::actor::Actor;
use baton_core::recipe::RecipeStep;
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::recipe::run::{Run, RunRefusal, RunResume};
use baton_core::task::Task;
use baton_core::task::attempt::{AttemptEnd, AttemptReport, AttemptResult, BlockReason, ErrorCause};
use tokio::sync::watch;
use tracing::field::Empty;
use tracing::{Instrument, Span, info_span};

pub use crate::attempt::evidence::{Spent, measure};
pub use crate::attempt::journal::DEFAULT_RECIPE;

use crate::attempt::agent_run::{AgentRun, Worked};
use crate::attempt::attachments;
use crate::attempt::context::AttemptContext;
use crate::attempt::ending::{Ending, Listening, Then};
use crate::attempt::history::History;
use crate::attempt::journal::{RunJournal, told};
use crate::attempt::met_changes;
use crate::attempt::prompt::StepPrompt;
use crate::attempt::steps::said;
use crate::attempt::turns::TurnAllowance;
use crate::base::error::EngineError;
use crate::git::{Checkout, Worktrees};
use crate::landing::withdrawn;
use crate::runs::gate;

pub struct Executor<'a> {
    pub context: &'a AttemptContext,
    /// As it was claimed.
    pub task: &'a Task,
    pub attempt: AttemptId,
    pub worktrees: &'a Worktrees,
    pub checkout: &'a Checkout,
    /// Whether the attempt goes on from an earlier one.
    pub is_resumed: bool,
    pub stop: watch::Receiver<bool>,
    /// The attempt's span, which learns the outcome.
    pub span: Span,
}

/// What became of the attempt.
#[derive(Debug)]
pub enum Executed {
    /// Its end is written.
    Settled,
    /// It was stopped from outside; nobody's fault.
    Stopped,
    /// The task moved on without it; its work is kept and its result discarded (I16).
    Stale,
}

impl Executor<'_> {
    pub async fn run(&self) -> Result<Executed, EngineError> {
        let mut spent = Spent::nothing();
        let opened = RunJournal::open(&self.context.tasks, self.task).await;
        for warning in self.context.tasks.recipes.take_warnings() {
            (self.context.announce)(&warning);
        }
        let mut book = match opened {
            Ok(book) => book,
            Err(error) if unusable::is_about_recipe(&error) => {
                return self.ask_about_recipe(&error, &spent).await;
            }
            Err(error) => return Err(error),
        };
        if let Some(by) = &self.task.ledger().submitted_by {
            return self.submit(&mut book, &spent, by).await;
        }
        let mut is_first = true;
        loop {
            let then = match book.run.resume() {
                RunResume::Dispatch { .. } => {
                    let (recipe, step) = (book.recipe.id(), book.run.step());
                    let span = info_span!("step", %recipe, %step, outcome = Empty);
                    // On the heap: it holds the state of an agent and its limits.
                    Box::pin(self.step(&mut book, &mut spent, is_first).instrument(span)).await?
                }
                RunResume::AwaitGate { question } => self.ask_gate(&mut book, &spent, question).await?,
                RunResume::Settle { reason } => {
                    let said = book.run.memory().turns().iter().rev().find(|turn| turn.step.is_some());
                    let text = said.map(|turn| turn.text.to_string()).unwrap_or_default();
                    let ending = Ending::Exits { reason, outcome: None, text, error: None };
                    self.end(&mut book, &spent, ending, Listening::No).await?
                }
                RunResume::Nothing => Then::End(Executed::Stopped),
            };
            match then {
                Then::GoOn | Then::Listen => is_first = false,
                Then::End(executed) => return Ok(executed),
            }
        }
    }

    /// A person says that the work is done: it is measured and judged as it is.
    async fn submit(
        &self,
        book: &mut RunJournal,
        spent: &Spent,
        by: &Actor,
    ) -> Result<Executed, EngineError> {
        let reported = AttemptReport::new(AttemptResult::Complete, format!("Handed in by {by}."));
        let ending = Ending::Pauses { reported, run: book.run.clone() };
        match self.end(book, spent, ending, Listening::No).await? {
            Then::End(executed) => Ok(executed),
            // Somebody moved the run meanwhile; the next attempt submits it again.
            Then::GoOn | Then::Listen => Ok(Executed::Stopped),
        }
    }

    /// One step: the agent is put to work, and the run moves by what it reports.
    async fn step(
        &self,
        book: &mut RunJournal,
        spent: &mut Spent,
        is_first: bool,
    ) -> Result<Then, EngineError> {
        let Some(step) = book.recipe.step(book.run.step()).cloned() else {
            let changed = RunRefusal::StepChanged { step: book.run.step().clone() };
            let reason = ExitReason::internal_error();
            let error = NonBlank::new(changed.to_string()).ok();
            let ending = Ending::Exits { reason, outcome: None, text: changed.to_string(), error };
            return self.end(book, spent, ending, Listening::No).await;
        };
        if !is_first && !self.worktrees.is_usable(self.checkout) {
            // The agent's own doing, and a result of this attempt: the next one gets a new clone.
            let text = "The agent deleted or broke its working folder.".to_owned();
            let reported = AttemptReport::new(AttemptResult::NoEvidence, text);
            return self
                .end(book, spent, Ending::Pauses { reported, run: book.run.clone() }, Listening::No)
                .await;
        }
        let role = step.role().unwrap_or(&self.task.spec().role);
        let turns = spent.allowance(&self.context.settings, role)?;
        if turns.left == 0 && !is_first {
            let reported = AttemptReport::new(AttemptResult::TurnLimit, String::new());
            return self
                .end(book, spent, Ending::Pauses { reported, run: book.run.clone() }, Listening::No)
                .await;
        }
        let ended = self.dispatch(book, &step, spent, turns, is_first).await?;
        if ended.reason == EndReason::Cancelled {
            // A person who ended the run wants its work settled; any other stop wants it to go on later.
            let is_leaving = book.reload().await? && matches!(book.run.resume(), RunResume::Settle { .. });
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
                return self.end(book, spent, ending, Listening::No).await;
            }
            AttemptResult::Incomplete
            | AttemptResult::NoEvidence
            | AttemptResult::NoChanges { .. }
            | AttemptResult::Asked { .. }
            | AttemptResult::Blocked { .. }
            | AttemptResult::TurnLimit
            | AttemptResult::Stopped { .. }
            | AttemptResult::Error { cause: ErrorCause::Systemic, .. } => {
                let ending = Ending::Pauses { reported: ended.reported.clone(), run: book.run.clone() };
                return self.end(book, spent, ending, Listening::No).await;
            }
        };
        self.advance(book, spent, &said, text).await
    }

    async fn dispatch(
        &self,
        book: &mut RunJournal,
        step: &RecipeStep,
        spent: &mut Spent,
        turns: TurnAllowance,
        is_first: bool,
    ) -> Result<RunResult, EngineError> {
        let tasks = &self.context.tasks;
        let run = book.run.clone().begin_prompt(tasks.store.now().await?);
        let (_, messages) = book.unheard().await?;
        let told_before = book.told_before(self.task).await?;
        let questions = self.questions(&run).await?;
        let history = History::load(tasks, self.task, self.worktrees, self.checkout).await?.text();
        let met = met_changes::load(tasks, self.worktrees, self.task).await?;
        let order =
            withdrawn::order(&self.context.projects, self.worktrees, self.checkout, self.task).await?;
        let session = &self.task.spec().session_id;
        let attached = attachments::place(tasks, session, self.worktrees, self.checkout).await?;
        let prompt = StepPrompt {
            history: &history,
            attached: &attached,
            met: &met,
            order: order.as_ref(),
            task: self.task,
            recipe: &book.recipe,
            run: &run,
            step,
            questions: &questions,
            messages: &messages,
            told_before: &told_before,
            is_resumed: self.is_resumed && is_first,
        };
        let mut variables = vec![
            ("BATON_RUN_ID", run.id().to_string()),
            ("BATON_STEP", self.step_name(step)),
            ("BATON_STEP_VISIT", run.visits(step.name()).to_string()),
        ];
        let of_task = self.task.spec().model.as_ref().map(NonBlank::as_str);
        variables.extend(step.model().or(of_task).map(|model| ("BATON_MODEL", model.to_owned())));
        // With an answer to go on from, the prompt holds the conversation; a lost attempt alone is begun anew.
        let has_answer =
            questions.iter().any(|record| matches!(record.state, QuestionState::Answered { .. }));
        let has_messages = !messages.is_empty() && (self.is_resumed || !is_first);
        if (has_answer && is_first) || has_messages {
            variables.push(("BATON_RESUME", "1".to_owned()));
        }
        let shift = AgentRun {
            context: self.context,
            task: self.task,
            attempt: self.attempt,
            worktrees: self.worktrees,
            checkout: self.checkout,
            role: step.role().unwrap_or(&self.task.spec().role),
            name: step.name().to_string(),
            prompt: prompt.text(),
            going_on: prompt.going_on(),
            session_since: run.memory().since(),
            model: step.model().map(str::to_owned),
            outcomes: step.outcomes(),
            messages: &messages,
            variables,
            turns,
        };
        let worked: Worked = shift.work(self.stop.clone()).await?;
        spent.add(&worked);
        // After every step, so that work of an earlier one survives whatever a later one does to its clone.
        self.worktrees.bring(self.checkout).await?;
        let (texts, number) = told(&[messages, worked.steered].concat());
        book.run = run.deliver_messages(&texts, number).record_output(&worked.ended.reported.output);
        Ok(worked.ended)
    }

    /// The step as a program knows it; for an agent of the loop, its phase.
    fn step_name(&self, step: &RecipeStep) -> String {
        let role = &self.task.spec().role;
        if Role::loop_phases().contains(role) { role.to_string() } else { step.name().to_string() }
    }

    /// The conversation of the run's agent session with the human, so far.
    async fn questions(&self, run: &Run) -> Result<Vec<QuestionRecord>, EngineError> {
        let questions = self.context.tasks.questions_of(self.task.id()).await?.into_iter();
        // What was asked before is another session's: of the phase before, or of the agent before this one (I7).
        let since = run.memory().since();
        Ok(questions.filter(|record| since.is_none_or(|since| record.asked_at >= since)).collect())
    }

    async fn ask_gate(
        &self,
        book: &mut RunJournal,
        spent: &Spent,
        asked: NonBlank,
    ) -> Result<Then, EngineError> {
        let question = gate::question(&book.recipe, &book.run, &asked);
        let reported = AttemptReport::new(AttemptResult::Asked { question }, String::new());
        self.end(book, spent, Ending::Pauses { reported, run: book.run.clone() }, Listening::No).await
    }

    /// The recipe cannot be read, and there is no version of it to go on with. A person can fix that.
    async fn ask_about_recipe(&self, error: &EngineError, spent: &Spent) -> Result<Executed, EngineError> {
        let result = match unusable::question(self.task, error) {
            Ok(question) => AttemptResult::Asked { question },
            Err(_) => AttemptResult::Blocked { reason: BlockReason::Unstated },
        };
        let measured =
            measure(self.context, self.worktrees, self.checkout, self.task, spent, &self.stop).await?;
        let Some(verified) = measured else { return Ok(Executed::Stopped) };
        let end = AttemptEnd { reported: AttemptReport::new(result, ""), verified };
        match self.context.limits.settle_charged(self.task, self.attempt, end).await {
            Ok(()) => Ok(Executed::Settled),
            Err(error) if error.is_stale() => Ok(Executed::Stale),
            Err(error) => Err(error),
        }
    }
}
