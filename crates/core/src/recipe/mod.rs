//! A recipe: a workflow as steps, what the agent may say at the end of each, and where that leads.
//!
//! A recipe comes from a file and is read as a [`RecipeDraft`], which takes anything. Only
//! [`Recipe::check`] makes a [`Recipe`] of it, so whoever holds one holds one without faults. It never
//! runs: that is [`crate::recipe::run::Run`]'s business.

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
pub use draft::{GateDraft, GuardrailsDraft, InOrder, Loose, RecipeDraft, StepDraft, TransitionDraft};
pub use fault::{Fault, FaultKind, Faults};

use crate::base::text::{NonBlank, OutcomeName, RecipeId, Role, StepName};
use crate::recipe::exit_reason::ExitReason;
use crate::recipe::outcome::closing_block;

/// More steps than this no person follows on a page.
pub const STEPS_MAX: usize = 64;
/// More words than this an agent confuses.
pub const OUTCOMES_PER_STEP_MAX: usize = 16;
/// A prompt beyond this leaves too little room for the work.
pub const PROMPT_BYTES_MAX: usize = 64 * 1024;
/// For labels, descriptions, models and gate questions: a paragraph, not a page.
pub const TEXT_BYTES_MAX: usize = 4 * 1024;
/// A guardrail above this guards nothing.
pub const GUARDRAIL_MAX: u32 = 10_000;

/// A recipe without faults. Read one from a file through [`Recipe::check`]; reading one with serde
/// runs the same check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RecipeDraft", into = "RecipeDraft")]
pub struct Recipe {
    id: RecipeId,
    label: NonBlank,
    description: NonBlank,
    initial_step: StepName,
    takes_task: bool,
    /// In the file's order.
    steps: Vec<Step>,
    guardrails: Guardrails,
}

impl Recipe {
    /// The recipe, or every fault the draft has.
    pub fn check(draft: RecipeDraft) -> Result<Self, Vec<Fault>> {
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

    /// Whether a run works on a task of the queue, rather than on one made for it.
    pub fn takes_task(&self) -> bool {
        self.takes_task
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub fn step(&self, name: &StepName) -> Option<&Step> {
        self.steps.iter().find(|step| step.name == *name)
    }

    pub fn guardrails(&self) -> Guardrails {
        self.guardrails
    }

    /// Whether the loop goes by it.
    pub fn is_loop(&self) -> bool {
        self.id.as_str() == LOOP_RECIPE
    }

    /// The same recipe with another prompt in its first step.
    #[must_use]
    pub fn prompting(&self, prompt: &NonBlank) -> Self {
        let mut recipe = self.clone();
        if let Some(step) = recipe.steps.iter_mut().find(|step| step.name == self.initial_step) {
            step.prompt = prompt.clone();
        }
        recipe
    }
}

/// One node of a recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    name: StepName,
    prompt: NonBlank,
    /// I11: one list for both, so that an outcome without a transition cannot be written down.
    transitions: Vec<(OutcomeName, Transition)>,
    default_outcome: Option<OutcomeName>,
    fresh: bool,
    role: Option<Role>,
    model: Option<String>,
    gate: Option<Gate>,
}

impl Step {
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

    /// The words the agent may end the step with, in the recipe's order.
    pub fn outcomes(&self) -> Vec<OutcomeName> {
        self.transitions.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Where each outcome leads. I11: exactly one transition per outcome.
    pub fn transitions(&self) -> &[(OutcomeName, Transition)] {
        &self.transitions
    }

    pub fn transition(&self, outcome: &OutcomeName) -> Option<&Transition> {
        self.transitions.iter().find(|(name, _)| name == outcome).map(|(_, transition)| transition)
    }

    /// What counts as reported when the agent reports nothing. Without it, silence is a mistake.
    pub fn default_outcome(&self) -> Option<&OutcomeName> {
        self.default_outcome.as_ref()
    }

    /// Whether the step wants an agent session of its own, without what was said before.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    pub fn role(&self) -> Option<&Role> {
        self.role.as_ref()
    }

    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    pub fn gate(&self) -> Option<&Gate> {
        self.gate.as_ref()
    }
}

/// Where an outcome leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transition {
    NextStep {
        step: StepName,
    },
    Exit {
        reason: ExitReason,
    },
    /// Back to the initial step, with an agent session that knows nothing of the last round.
    RestartNewSession,
}

/// The one question that ends a phase. The agent asks for it by reporting one of the outcomes the gate
/// stands for; the human's answer, not the agent's word, then decides which of them is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    question: NonBlank,
    yes: OutcomeName,
    no: Option<OutcomeName>,
}

impl Gate {
    pub fn question(&self) -> &NonBlank {
        &self.question
    }

    /// The outcome YES stands for.
    pub fn yes(&self) -> &OutcomeName {
        &self.yes
    }

    /// The outcome NO stands for. Without one, NO stays in the phase.
    pub fn no(&self) -> Option<&OutcomeName> {
        self.no.as_ref()
    }

    pub fn stands_for(&self, outcome: &OutcomeName) -> bool {
        self.yes == *outcome || self.no.as_ref() == Some(outcome)
    }
}

/// What stops a run that does not stop by itself.
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
