//! Recipes as clients see them.

use baton_core::base::text::{NonBlank, OutcomeName, RecipeId, StepName};
use baton_core::recipe::exit_reason::{ExitCategory, ExitReason};
use baton_core::recipe::{Recipe, RecipeStep, StepTransition};
use baton_engine::settings::recipes::{ListedRecipe, RecipeSource};
use schemars::JsonSchema;
use serde::Serialize;

use crate::schema::words;

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Recipe")]
pub(crate) struct RecipeView {
    #[schemars(with = "words::Name")]
    pub id: RecipeId,
    /// The same as `id`.
    #[schemars(with = "words::Name")]
    pub recipe_id: RecipeId,
    #[schemars(with = "words::NonBlank")]
    pub label: NonBlank,
    #[schemars(with = "words::NonBlank")]
    pub description: NonBlank,
    #[schemars(with = "words::Name")]
    pub initial_step: StepName,
    #[schemars(with = "Vec<words::Name>")]
    pub steps: Vec<StepName>,
    /// The outcomes of every step, and where each leads.
    pub outcomes: Vec<OutcomeView>,
    pub is_built_in: bool,
    /// Why the file's newest version is not in use. Empty if it is.
    pub faults: Vec<String>,
}

/// An outcome of a step, and what follows: a step, an exit, or the first step in a new agent session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "RecipeOutcome")]
pub(crate) struct OutcomeView {
    #[schemars(with = "words::Name")]
    pub step: StepName,
    #[schemars(with = "words::Name")]
    pub outcome: OutcomeName,
    #[schemars(with = "Option<words::Name>")]
    pub next_step: Option<StepName>,
    #[schemars(with = "Option<words::NonBlank>")]
    pub exit: Option<ExitReason>,
    #[schemars(with = "Option<words::ExitCategory>")]
    pub category: Option<ExitCategory>,
    pub restarts: bool,
}

impl From<&ListedRecipe> for RecipeView {
    fn from(listed: &ListedRecipe) -> Self {
        let recipe = &listed.recipe;
        Self {
            id: recipe.id().clone(),
            recipe_id: recipe.id().clone(),
            label: recipe.label().clone(),
            description: recipe.description().clone(),
            initial_step: recipe.initial_step().clone(),
            steps: recipe.steps().iter().map(|step| step.name().clone()).collect(),
            outcomes: recipe.steps().iter().flat_map(|step| outcomes(recipe, step)).collect(),
            is_built_in: listed.source == RecipeSource::BuiltIn,
            faults: listed.errors.iter().map(ToString::to_string).collect(),
        }
    }
}

fn outcomes<'a>(recipe: &'a Recipe, step: &'a RecipeStep) -> impl Iterator<Item = OutcomeView> + 'a {
    step.transitions().iter().map(|(outcome, transition)| {
        let (next_step, exit, restarts) = match transition {
            StepTransition::NextStep { step } => (Some(step.clone()), None, false),
            StepTransition::Exit { reason } => (None, Some(reason.clone()), false),
            StepTransition::RestartNewSession => (Some(recipe.initial_step().clone()), None, true),
        };
        let category = exit.as_ref().map(ExitReason::category);
        let (step, outcome) = (step.name().clone(), outcome.clone());
        OutcomeView { step, outcome, next_step, exit, category, restarts }
    })
}
