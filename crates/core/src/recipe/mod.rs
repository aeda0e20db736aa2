//! Recipes: a workflow as steps, the outcomes an agent may report at the end of each, and where each outcome leads.
//!
//! A recipe file is read as a [`RecipeDraft`], which accepts anything; only [`Recipe::check`] turns it into a
//! [`Recipe`], so a `Recipe` is always valid. Running one is the job of [`crate::recipe::run::Run`]. The engine loads
//! the files and talks to agents.

mod check;
mod check_loop;
mod check_step;
mod checker;
mod draft;
pub mod exit_reason;
pub mod explained;
mod fault;
pub mod outcome;
pub mod outcome_parser;
mod reach;
pub mod reminder;
pub mod run;
use serde::{Deserialize, Serialize};

pub use check_loop::LOOP_RECIPE;
pub use draft::{GateDraft, GuardrailsDraft, Lenient, OrderedMap, RecipeDraft, StepDraft, TransitionDraft};
pub use fault::{RecipeError, RecipeErrorKind, RecipeErrors};

use crate::base::text::{NonBlank, OutcomeName, RecipeId, Role, StepName};
use crate::recipe::exit_reason::ExitReason;
use crate::recipe::outcome::closing_block;

/// More steps than a person can follow on a page.
pub const STEPS_MAX: usize = 64;
/// More outcomes confuse an agent.
pub const OUTCOMES_PER_STEP_MAX: usize = 16;
/// A longer prompt leaves too little room for the work.
pub const PROMPT_BYTES_MAX: usize = 64 * 1024;
/// For labels, descriptions, models and gate questions: a paragraph, not a page.
pub const TEXT_BYTES_MAX: usize = 4 * 1024;
/// A higher limit protects nothing.
pub const GUARDRAIL_MAX: u32 = 10_000;

/// A valid recipe. Built by [`Recipe::check`]; deserializing runs the same check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RecipeDraft", into = "RecipeDraft")]
pub struct Recipe {
    id: RecipeId,
    label: NonBlank,
    description: NonBlank,
    initial_step: StepName,
    takes_task: bool,
    /// In file order.
    steps: Vec<RecipeStep>,
    guardrails: Guardrails,
}

impl Recipe {
    /// The recipe, or every error in the draft.
    pub fn check(draft: RecipeDraft) -> Result<Self, Vec<RecipeError>> {
        check::check(draft)
    }

    pub fn id(&self) -> &RecipeId {
        &self.id
    }

    pub fn label(&self) -> &NonBlank {
        &self.label
    }

    pub fn description(&self) -> &NonBlank {
        &self.description
    }

    pub fn initial_step(&self) -> &StepName {
        &self.initial_step
    }

    /// Whether a run works on a task from the queue, rather than on one created for it.
    pub fn takes_task(&self) -> bool {
        self.takes_task
    }

    /// Whether a run goes on with the next ready task after each one, until there is none.
    pub fn works_through_queue(&self) -> bool {
        let restarts = |step: &RecipeStep| {
            step.transitions.iter().any(|(_, to)| *to == StepTransition::RestartNewSession)
        };
        self.takes_task && self.steps.iter().any(restarts)
    }

    pub fn steps(&self) -> &[RecipeStep] {
        &self.steps
    }

    pub fn step(&self, name: &StepName) -> Option<&RecipeStep> {
        self.steps.iter().find(|step| step.name == *name)
    }

    pub fn guardrails(&self) -> Guardrails {
        self.guardrails
    }

    /// Whether this is the loop's recipe.
    pub fn is_loop(&self) -> bool {
        self.id.as_str() == LOOP_RECIPE
    }

    /// The same recipe with another prompt in its first step.
    #[must_use]
    pub fn with_initial_prompt(&self, prompt: &NonBlank) -> Self {
        let mut recipe = self.clone();
        if let Some(step) = recipe.steps.iter_mut().find(|step| step.name == self.initial_step) {
            step.prompt = prompt.clone();
        }
        recipe
    }
}

/// One step of a recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipeStep {
    name: StepName,
    prompt: NonBlank,
    /// I11: one list for both, so that an outcome without a transition cannot be represented.
    transitions: Vec<(OutcomeName, StepTransition)>,
    default_outcome: Option<OutcomeName>,
    fresh: bool,
    role: Option<Role>,
    model: Option<String>,
    gate: Option<RecipeGate>,
}

impl RecipeStep {
    pub fn name(&self) -> &StepName {
        &self.name
    }

    pub fn prompt(&self) -> &NonBlank {
        &self.prompt
    }

    /// What the agent is sent: the prompt, and the lines it may end with.
    pub fn full_prompt(&self) -> String {
        format!("{}\n\n{}", self.prompt.as_str().trim_end(), closing_block(&self.outcomes()))
    }

    /// The outcomes the agent may report, in recipe order.
    pub fn outcomes(&self) -> Vec<OutcomeName> {
        self.transitions.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Where each outcome leads. I11: exactly one transition per outcome.
    pub fn transitions(&self) -> &[(OutcomeName, StepTransition)] {
        &self.transitions
    }

    pub fn transition(&self, outcome: &OutcomeName) -> Option<&StepTransition> {
        self.transitions.iter().find(|(name, _)| name == outcome).map(|(_, transition)| transition)
    }

    /// The outcome assumed when the agent reports nothing. Without one, silence is an error.
    pub fn default_outcome(&self) -> Option<&OutcomeName> {
        self.default_outcome.as_ref()
    }

    /// Whether the step starts a new agent session, without the earlier conversation.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    pub fn role(&self) -> Option<&Role> {
        self.role.as_ref()
    }

    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    pub fn gate(&self) -> Option<&RecipeGate> {
        self.gate.as_ref()
    }
}

/// Where an outcome leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepTransition {
    NextStep {
        step: StepName,
    },
    Exit {
        reason: ExitReason,
    },
    /// Back to the initial step, in a new agent session.
    RestartNewSession,
}

/// The question that ends a phase. The agent triggers it by reporting one of the gate's outcomes; the human's answer
/// then decides which of them is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipeGate {
    question: NonBlank,
    yes: OutcomeName,
    no: Option<OutcomeName>,
}

impl RecipeGate {
    pub fn question(&self) -> &NonBlank {
        &self.question
    }

    /// The outcome for YES.
    pub fn yes(&self) -> &OutcomeName {
        &self.yes
    }

    /// The outcome for NO. Without one, NO stays in the phase.
    pub fn no(&self) -> Option<&OutcomeName> {
        self.no.as_ref()
    }

    pub fn stands_for(&self, outcome: &OutcomeName) -> bool {
        self.yes == *outcome || self.no.as_ref() == Some(outcome)
    }
}

/// Limits that stop a run that does not stop by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guardrails {
    max_step_visits: u32,
    max_total_steps: u32,
}

impl Guardrails {
    pub const fn max_step_visits(self) -> u32 {
        self.max_step_visits
    }

    pub const fn max_total_steps(self) -> u32 {
        self.max_total_steps
    }
}

impl Default for Guardrails {
    fn default() -> Self {
        Self { max_step_visits: 3, max_total_steps: 100 }
    }
}
