//! A run: one execution of a recipe.
//!
//! The engine owns it and stores it after every change: the agent's report goes in, the next action comes out. It
//! never talks to an agent or a person. A run loaded after a crash is where it was: [`Run::resume`] says what to
//! dispatch again.
//!
//! Two counters limit it. *Visits* count entries per step, *total steps* count all entries and all stays in a phase.
//! Both are counted per iteration: a human's YES that leads back to a visited step starts a new one. A restart with a
//! new agent session is not an approval: it resets the visits if there was progress since the last one, and never the
//! total, so between two approvals every run ends.

mod advance;
pub mod explained;
mod kept;
mod memory;
mod report;
mod view;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use advance::{Advance, GateAnswer, RunRefusal, RunResume};
pub use memory::{RunMemory, RunTurn, StepHandover, TURN_BYTES_MAX, TURNS_MAX};
pub use report::{Contradiction, GitObservation, RunObservation, StepReport};

use crate::base::id::{RunId, SessionId, TaskId};
use crate::base::text::{NonBlank, OutcomeName, RecipeId, StepName};
use crate::base::time::Timestamp;
use crate::phase::summary::LoopSummary;
use crate::recipe::exit_reason::ExitReason;
use crate::recipe::outcome::Outcome;
use crate::recipe::outcome::OutcomeMistake;
use crate::recipe::{Recipe, RecipeDraft, RecipeStep, StepTransition};
use crate::schedule::ProjectScope;

/// One execution of a recipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    id: RunId,
    recipe: RecipeId,
    session: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task: Option<TaskId>,
    #[serde(default)]
    origin: RunOrigin,
    step: StepName,
    visits: BTreeMap<StepName, u32>,
    total_steps: u32,
    /// Prompts of the iterations before this one.
    #[serde(default, skip_serializing_if = "is_zero")]
    earlier_steps: u32,
    iteration: u32,
    restarts: u32,
    /// The one reminder for this stay in the step is used up.
    reminded: bool,
    /// The one challenge to a claim in this stay is used up.
    doubted: bool,
    #[serde(default)]
    memory: RunMemory,
    state: RunState,
    /// `None` for runs stored before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended_at: Option<Timestamp>,
    /// What went wrong, if anything did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<NonBlank>,
    /// What the person who stopped it gave as the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopped_because: Option<NonBlank>,
    /// The totals of a loop that has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    summary: Option<LoopSummary>,
    /// As it was when the run began. A draft, so that a run stays readable when the rules for recipes change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept_recipe: Option<Box<RecipeDraft>>,
    /// Where it takes one ready task after another from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    queue: Option<ProjectScope>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Who started a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOrigin {
    /// A person, in a session. A session has at most one of these open.
    #[default]
    Session,
    /// The task, which names the recipe.
    Task,
    /// Nobody: a task without a recipe runs the default one. It emits no events of its own; the task's events tell
    /// the story.
    Default,
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RunState {
    /// The agent works on the current step.
    Working,
    /// The agent reported one of the gate's outcomes; the human's answer is pending.
    AtGate { reported: Outcome, question: NonBlank, progress: bool },
    /// The run is being ended from outside; its task is still to be settled.
    Leaving { reason: ExitReason },
    /// Final.
    Exited { reason: ExitReason },
}

impl Run {
    /// A new run, working on the recipe's initial step.
    pub fn start(id: RunId, recipe: &Recipe, session: SessionId, task: Option<TaskId>) -> Self {
        let step = recipe.initial_step().clone();
        Self {
            id,
            recipe: recipe.id().clone(),
            session,
            task,
            origin: RunOrigin::Session,
            visits: BTreeMap::from([(step.clone(), 1)]),
            step,
            total_steps: 1,
            earlier_steps: 0,
            iteration: 1,
            restarts: 0,
            reminded: false,
            doubted: false,
            memory: RunMemory::default(),
            state: RunState::Working,
            started_at: None,
            ended_at: None,
            error: None,
            stopped_because: None,
            summary: None,
            kept_recipe: None,
            queue: None,
        }
    }

    /// The same run, started at this time.
    pub fn begin_at(self, now: Timestamp) -> Self {
        Self { started_at: Some(now), ..self }
    }

    /// The same run, begun at its current step: the steps before it were skipped, so they have no outcome and count for
    /// nothing but the way back to them.
    pub fn begin_here(self) -> Self {
        Self { total_steps: 1, earlier_steps: 0, memory: RunMemory::default(), ..self }
    }

    /// Records when a run ended, and what went wrong. A run that has not ended stays as it is.
    pub fn end_at(self, now: Timestamp, error: Option<NonBlank>) -> Self {
        if !self.has_exited() {
            return self;
        }
        Self { ended_at: Some(now), error, ..self }
    }

    /// Records the totals of the loop this run stands for.
    pub fn with_summary(self, summary: LoopSummary) -> Self {
        Self { summary: Some(summary), ..self }
    }

    /// Records the outcome that ended the current step.
    pub fn record_outcome(mut self, outcome: &Outcome) -> Self {
        self.memory.hand_over(&self.step, outcome.name.clone(), outcome);
        self
    }

    /// The same run, started by something other than a person in a session.
    pub fn with_requester(self, origin: RunOrigin) -> Self {
        Self { origin, ..self }
    }

    /// The same run, now working on this task.
    pub fn bind_to(self, task: TaskId) -> Self {
        Self { task: Some(task), ..self }
    }

    /// The agent is about to be prompted; its session begins now if it has not begun yet.
    pub fn begin_prompt(mut self, now: Timestamp) -> Self {
        self.memory.begin(now);
        self
    }

    /// Records that the agent was told the human's messages up to this number.
    pub fn deliver_messages(mut self, texts: &[NonBlank], number: u32) -> Self {
        for text in texts {
            self.memory.say(None, text.as_str());
        }
        self.memory.hear(number);
        self
    }

    /// Messages up to this number predate the run or were meant for somebody else.
    pub fn skip_messages(mut self, number: u32) -> Self {
        self.memory.hear(number);
        self
    }

    /// Records what the agent of the current step said.
    pub fn record_output(mut self, text: &str) -> Self {
        self.memory.say(Some(self.step.clone()), text);
        self
    }

    /// What follows from the agent's report.
    pub fn advance(
        &self,
        recipe: &Recipe,
        report: &StepReport,
        observed: &RunObservation,
    ) -> Result<(Self, Advance), RunRefusal> {
        match &self.state {
            RunState::Working => {}
            RunState::AtGate { question, .. } => {
                return Err(RunRefusal::AwaitsGate { question: question.clone() });
            }
            RunState::Leaving { reason } | RunState::Exited { reason } => {
                return Err(RunRefusal::Exited { reason: reason.clone() });
            }
        }
        let step = self.step_of(recipe)?;
        let allowed = step.outcomes();
        let outcome = match report {
            StepReport::Mistake(mistake) => Err(mistake.clone()),
            StepReport::Outcome(outcome) => {
                let description = outcome.description.as_ref().map(NonBlank::as_str);
                Outcome::report(outcome.name.as_str(), description, &allowed)
            }
        };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(mistake) => return Ok(self.clone().remind(&mistake, &allowed)),
        };
        let mut run = self.clone();
        if let Some(contradiction) = observed.contradicts(&outcome)
            && !run.doubted
        {
            run.doubted = true;
            let (error, text) = contradiction.ask_again(&outcome, &allowed);
            run.memory.tell(&text);
            return Ok((run, Advance::Remind { error, text }));
        }
        if let Some(gate) = step.gate()
            && gate.stands_for(&outcome.name)
        {
            let question = gate.question().clone();
            let progress = observed.progress;
            run.state = RunState::AtGate { reported: outcome, question: question.clone(), progress };
            return Ok((run, Advance::AskGate { question }));
        }
        let transition = step.transition(&outcome.name).ok_or_else(|| self.step_changed())?;
        run.memory.hand_over(&self.step, outcome.name.clone(), &outcome);
        Ok(run.take(recipe, transition, observed.progress))
    }

    /// What follows from the human's answer to the gate.
    pub fn answer_gate(&self, recipe: &Recipe, answer: GateAnswer) -> Result<(Self, Advance), RunRefusal> {
        let (reported, progress) = match &self.state {
            RunState::AtGate { reported, progress, .. } => (reported, *progress),
            RunState::Working => return Err(RunRefusal::NotAtGate { step: self.step.clone() }),
            RunState::Leaving { reason } | RunState::Exited { reason } => {
                return Err(RunRefusal::Exited { reason: reason.clone() });
            }
        };
        let step = self.step_of(recipe)?;
        let gate = step.gate().ok_or_else(|| self.step_changed())?;
        let outcome = match answer {
            GateAnswer::Yes => Some(gate.yes()),
            GateAnswer::No => gate.no(),
        };
        let mut run = self.clone();
        run.state = RunState::Working;
        let Some(outcome) = outcome else { return Ok(run.stay(recipe)) };
        let transition = step.transition(outcome).ok_or_else(|| self.step_changed())?;
        let leads_back = run.leads_back(recipe, transition);
        if leads_back {
            run.iteration = run.iteration.saturating_add(1);
        }
        if answer == GateAnswer::Yes && leads_back {
            run.visits.clear();
            run.earlier_steps = run.step_count();
            run.total_steps = 0;
        }
        // I7: the next phase gets the result, and nothing of the conversation that led to it.
        run.memory.hand_over(&self.step, outcome.clone(), reported);
        run.memory.forget();
        Ok(run.take(recipe, transition, progress))
    }

    /// Ends the run from outside: on the human's request, or after a failure the agent cannot report.
    pub fn exit(&self, reason: ExitReason) -> Result<(Self, Advance), RunRefusal> {
        match &self.state {
            RunState::Working | RunState::AtGate { .. } | RunState::Leaving { .. } => {
                Ok(self.clone().leave(reason))
            }
            RunState::Exited { reason } => Err(RunRefusal::Exited { reason: reason.clone() }),
        }
    }

    /// The run ends for this reason once its task is settled. Only [`Run::exit`] leads on from here.
    pub fn begin_exit(&self, reason: ExitReason) -> Result<Self, RunRefusal> {
        match &self.state {
            RunState::Working | RunState::AtGate { .. } => {
                Ok(Self { state: RunState::Leaving { reason }, ..self.clone() })
            }
            RunState::Leaving { reason } | RunState::Exited { reason } => {
                Err(RunRefusal::Exited { reason: reason.clone() })
            }
        }
    }

    /// The same run, stopped by a person for this reason.
    pub fn stopped_for(self, reason: NonBlank) -> Self {
        Self { stopped_because: Some(reason), ..self }
    }

    /// What the person who stopped it gave as the reason.
    pub fn stopped_because(&self) -> Option<&NonBlank> {
        self.stopped_because.as_ref()
    }

    pub fn resume(&self) -> RunResume {
        match &self.state {
            RunState::Working => RunResume::Dispatch { step: self.step.clone() },
            RunState::AtGate { question, .. } => RunResume::AwaitGate { question: question.clone() },
            RunState::Leaving { reason } => RunResume::Settle { reason: reason.clone() },
            RunState::Exited { .. } => RunResume::Nothing,
        }
    }

    fn remind(mut self, mistake: &OutcomeMistake, allowed: &[OutcomeName]) -> (Self, Advance) {
        if self.reminded {
            return self.leave(ExitReason::orchestration_error());
        }
        self.reminded = true;
        let text = mistake.reminder(allowed);
        self.memory.tell(&text);
        (self, Advance::Remind { error: mistake.to_string(), text })
    }

    fn take(mut self, recipe: &Recipe, transition: &StepTransition, progress: bool) -> (Self, Advance) {
        let from = self.step.clone();
        let (to, restart) = match transition {
            StepTransition::Exit { reason } => return self.leave(reason.clone()),
            StepTransition::NextStep { step } => (step.clone(), false),
            StepTransition::RestartNewSession => {
                if progress {
                    self.visits.clear();
                }
                (recipe.initial_step().clone(), true)
            }
        };
        if let Err(reason) = self.enter(recipe, &to) {
            return self.leave(reason);
        }
        if restart {
            self.memory.forget();
            self.restarts = self.restarts.saturating_add(1);
            return (self, Advance::Restart { from, to });
        }
        let fresh = recipe.step(&to).is_some_and(RecipeStep::is_fresh);
        if fresh {
            self.memory.forget();
        }
        (self, Advance::EnterStep { from, to, fresh })
    }

    /// The guardrails are checked first: a step that may not be entered is not counted.
    fn enter(&mut self, recipe: &Recipe, to: &StepName) -> Result<(), ExitReason> {
        let visits = self.visits(to);
        if visits >= recipe.guardrails().max_step_visits() {
            return Err(ExitReason::max_step_visits_exceeded(to));
        }
        self.work_once_more(recipe)?;
        self.visits.insert(to.clone(), visits + 1);
        self.step = to.clone();
        Ok(())
    }

    fn stay(mut self, recipe: &Recipe) -> (Self, Advance) {
        match self.work_once_more(recipe) {
            Ok(()) => (self, Advance::StayInPhase),
            Err(reason) => self.leave(reason),
        }
    }

    /// The agent works again, so a new mistake gets a new reminder.
    fn work_once_more(&mut self, recipe: &Recipe) -> Result<(), ExitReason> {
        if self.total_steps >= recipe.guardrails().max_total_steps() {
            return Err(ExitReason::max_total_steps());
        }
        self.total_steps += 1;
        self.reminded = false;
        self.doubted = false;
        self.memory.was_told();
        Ok(())
    }

    fn leave(mut self, reason: ExitReason) -> (Self, Advance) {
        self.state = RunState::Exited { reason: reason.clone() };
        (self, Advance::Exit { reason })
    }

    fn leads_back(&self, recipe: &Recipe, transition: &StepTransition) -> bool {
        match transition {
            StepTransition::NextStep { step } => self.visits(step) > 0,
            StepTransition::RestartNewSession => self.visits(recipe.initial_step()) > 0,
            StepTransition::Exit { .. } => false,
        }
    }

    fn step_of<'a>(&self, recipe: &'a Recipe) -> Result<&'a RecipeStep, RunRefusal> {
        if *recipe.id() != self.recipe {
            return Err(RunRefusal::OtherRecipe { wanted: self.recipe.clone(), given: recipe.id().clone() });
        }
        recipe.step(&self.step).ok_or_else(|| self.step_changed())
    }

    fn step_changed(&self) -> RunRefusal {
        RunRefusal::StepChanged { step: self.step.clone() }
    }
}
