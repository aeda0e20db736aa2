//! Recipes and runs as clients see them.

use baton_core::base::id::{RunId, SessionId, TaskId};
use baton_core::base::text::{NonBlank, RecipeId, StepName};
use baton_core::recipe::run::{Run, RunState};
use baton_engine::settings::recipes::{Listed, Source};
use schemars::JsonSchema;
use serde::Serialize;

use crate::schema::words;

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Recipe")]
pub(crate) struct RecipeView {
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
    pub is_built_in: bool,
    /// Why the file's newest version is not in use. Empty if it is.
    pub faults: Vec<String>,
}

impl From<&Listed> for RecipeView {
    fn from(listed: &Listed) -> Self {
        let recipe = &listed.recipe;
        Self {
            recipe_id: recipe.id().clone(),
            label: recipe.label().clone(),
            description: recipe.description().clone(),
            initial_step: recipe.initial_step().clone(),
            steps: recipe.steps().iter().map(|step| step.name().clone()).collect(),
            is_built_in: listed.source == Source::BuiltIn,
            faults: listed.faults.iter().map(ToString::to_string).collect(),
        }
    }
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Run")]
pub(crate) struct RunView {
    #[schemars(with = "words::RunId")]
    pub run_id: RunId,
    #[schemars(with = "words::Name")]
    pub recipe_id: RecipeId,
    #[schemars(with = "words::SessionId")]
    pub session_id: SessionId,
    #[schemars(with = "Option<words::TaskId>")]
    pub task_id: Option<TaskId>,
    #[schemars(with = "words::Name")]
    pub current_step: StepName,
    pub step_count: u32,
    #[schemars(with = "words::RunState")]
    pub state: &'static str,
}

impl From<&Run> for RunView {
    fn from(run: &Run) -> Self {
        Self {
            run_id: run.id(),
            recipe_id: run.recipe().clone(),
            session_id: run.session().clone(),
            task_id: run.task(),
            current_step: run.step().clone(),
            step_count: run.total_steps(),
            state: match run.state() {
                RunState::Working => "working",
                RunState::AtGate { .. } => "at_gate",
                RunState::Leaving { .. } => "leaving",
                RunState::Exited { .. } => "exited",
            },
        }
    }
}
