//! A run: one execution of a recipe.
//!
//! The engine owns it and stores it after every change; what the agent reported goes in, the next thing
//! to do comes out. It never talks to an agent or a person. A run that is read back after a crash is
//! where it was: [`Run::resume`] says what to dispatch again.
//!
//! Two counters guard it. *Visits* count the entries of each step, *total steps* all entries and all stays
//! in a phase. Both are counted per iteration: a human's YES that leads back to a step already visited
//! starts a new one, because a person who says "again" has looked. A restart with a new agent session is
//! nobody's approval. It forgives the visits when there was progress since the last one, and never the
//! total, so between two approvals every run ends.

mod advance;
mod report;
mod view;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use advance::{Advance, GateAnswer, Resume, RunRefusal};
pub use report::{Contradiction, Observed, Report};

use crate::exit_reason::ExitReason;
use crate::id::{RunId, SessionId, TaskId};
use crate::outcome::Outcome;
use crate::recipe::{Recipe, Step, Transition};
use crate::reminder::OutcomeMistake;
use crate::text::{NonBlank, OutcomeName, RecipeId, StepName};

/// One execution of a recipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    id: RunId,
    recipe: RecipeId,
    session: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task: Option<TaskId>,
    step: StepName,
    visits: BTreeMap<StepName, u32>,
    total_steps: u32,
    iteration: u32,
    restarts: u32,
    /// The one reminder of this stay in the step is used up.
    reminded: bool,
    /// The one doubt about what was claimed in this stay is used up.
    doubted: bool,
    state: RunState,
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RunState {
    /// The agent works on the current step.
    Working,
    /// The agent reported an outcome the gate stands for; the human's answer is awaited.
    AtGate { reported: Outcome, question: NonBlank, progress: bool },
    /// Nothing leads out of here.
    Exited { reason: ExitReason },
}

impl Run {
    /// A new run, at work on the recipe's initial step.
    pub fn start(id: RunId, recipe: &Recipe, session: SessionId, task: Option<TaskId>) -> Self {
        let step = recipe.initial_step().clone();
        Self {
            id,
            recipe: recipe.id().clone(),
            session,
            task,
            visits: BTreeMap::from([(step.clone(), 1)]),
            step,
            total_steps: 1,
            iteration: 1,
            restarts: 0,
            reminded: false,
            doubted: false,
            state: RunState::Working,
        }
    }

    /// What follows from the agent's report.
    pub fn advance(
        &self,
        recipe: &Recipe,
        report: &Report,
        observed: &Observed,
    ) -> Result<(Self, Advance), RunRefusal> {
        match &self.state {
            RunState::Working => {}
            RunState::AtGate { question, .. } => {
                return Err(RunRefusal::AwaitsGate { question: question.clone() });
            }
            RunState::Exited { reason } => return Err(RunRefusal::Exited { reason: reason.clone() }),
        }
        let step = self.step_of(recipe)?;
        let allowed = step.outcomes();
        let outcome = match report {
            Report::Mistake(mistake) => Err(mistake.clone()),
            Report::Outcome(outcome) => {
                let description = outcome.description.as_ref().map(NonBlank::as_str);
                Outcome::report(outcome.name.as_str(), description, &allowed)
            }
        };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(mistake) => return Ok(self.clone().remind(&mistake, &allowed)),
        };
        let mut run = self.clone();
        if let Some(contradiction) = observed.against(&outcome)
            && !run.doubted
        {
            run.doubted = true;
            return Ok((run, contradiction.ask_again(&outcome, &allowed)));
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
        Ok(run.take(recipe, transition, observed.progress))
    }

    /// What follows from the human's answer to the gate.
    pub fn answer_gate(&self, recipe: &Recipe, answer: GateAnswer) -> Result<(Self, Advance), RunRefusal> {
        let progress = match &self.state {
            RunState::AtGate { progress, .. } => *progress,
            RunState::Working => return Err(RunRefusal::NotAtGate { step: self.step.clone() }),
            RunState::Exited { reason } => return Err(RunRefusal::Exited { reason: reason.clone() }),
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
        if answer == GateAnswer::Yes && run.leads_back(recipe, transition) {
            run.iteration = run.iteration.saturating_add(1);
            run.visits.clear();
            run.total_steps = 0;
        }
        Ok(run.take(recipe, transition, progress))
    }

    /// Ends the run from outside: the human's wish, or a failure no report can tell of.
    pub fn exit(&self, reason: ExitReason) -> Result<(Self, Advance), RunRefusal> {
        match &self.state {
            RunState::Working | RunState::AtGate { .. } => Ok(self.clone().leave(reason)),
            RunState::Exited { reason } => Err(RunRefusal::Exited { reason: reason.clone() }),
        }
    }

    pub fn resume(&self) -> Resume {
        match &self.state {
            RunState::Working => Resume::Dispatch { step: self.step.clone() },
            RunState::AtGate { question, .. } => Resume::AwaitGate { question: question.clone() },
            RunState::Exited { .. } => Resume::Nothing,
        }
    }

    fn remind(mut self, mistake: &OutcomeMistake, allowed: &[OutcomeName]) -> (Self, Advance) {
        if self.reminded {
            return self.leave(ExitReason::orchestration_error());
        }
        self.reminded = true;
        (self, Advance::Remind { error: mistake.to_string(), text: mistake.reminder(allowed) })
    }

    fn take(mut self, recipe: &Recipe, transition: &Transition, progress: bool) -> (Self, Advance) {
        let from = self.step.clone();
        let (to, restart) = match transition {
            Transition::Exit { reason } => return self.leave(reason.clone()),
            Transition::NextStep { step } => (step.clone(), false),
            Transition::RestartNewSession => {
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
            self.restarts = self.restarts.saturating_add(1);
            return (self, Advance::Restart { from, to });
        }
        let fresh = recipe.step(&to).is_some_and(Step::is_fresh);
        (self, Advance::EnterStep { from, to, fresh })
    }

    /// The guardrails are checked first: a step that may not be entered is not counted as entered.
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

    /// The agent is put to work anew, so a new slip gets a new reminder.
    fn work_once_more(&mut self, recipe: &Recipe) -> Result<(), ExitReason> {
        if self.total_steps >= recipe.guardrails().max_total_steps() {
            return Err(ExitReason::max_total_steps());
        }
        self.total_steps += 1;
        self.reminded = false;
        self.doubted = false;
        Ok(())
    }

    fn leave(mut self, reason: ExitReason) -> (Self, Advance) {
        self.state = RunState::Exited { reason: reason.clone() };
        (self, Advance::Exit { reason })
    }

    fn leads_back(&self, recipe: &Recipe, transition: &Transition) -> bool {
        match transition {
            Transition::NextStep { step } => self.visits(step) > 0,
            Transition::RestartNewSession => self.visits(recipe.initial_step()) > 0,
            Transition::Exit { .. } => false,
        }
    }

    fn step_of<'a>(&self, recipe: &'a Recipe) -> Result<&'a Step, RunRefusal> {
        if *recipe.id() != self.recipe {
            return Err(RunRefusal::OtherRecipe { wanted: self.recipe.clone(), given: recipe.id().clone() });
        }
        recipe.step(&self.step).ok_or_else(|| self.step_changed())
    }

    fn step_changed(&self) -> RunRefusal {
        RunRefusal::StepChanged { step: self.step.clone() }
    }
}
