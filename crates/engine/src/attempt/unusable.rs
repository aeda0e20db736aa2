//! The question about a task whose recipe cannot be used: none can be read under that name, or it is no recipe for a
//! task. A person can fix that, and is told how.

use crate::base::error::{Entity, NotFound};
use crate::tasks::error::TaskError;
use baton_core::ask::question::QuestionDraft;
use baton_core::base::text::{BlankText, NonBlank};
use baton_core::task::Task;

use crate::base::error::EngineError;

/// Whether the recipe is what stopped the task.
pub(crate) fn is_about_recipe(error: &EngineError) -> bool {
    matches!(error.get(), Some(NotFound { entity: Entity::Recipe, .. }))
        || matches!(error.get(), Some(TaskError::LoopAsTaskRecipe { .. }))
}

pub(crate) fn question(task: &Task, error: &EngineError) -> Result<QuestionDraft, BlankText> {
    let way_out = if let Some(TaskError::LoopAsTaskRecipe { recipe }) = error.get() {
        format!("Start it on a conversation instead: `baton recipe start {recipe}`.")
    } else {
        "`baton recipe check` tells what is wrong with the files in .agent/recipes, and `baton recipe list` which recipes \
         there are."
            .to_owned()
    };
    let text = format!(
        "What should become of the task \"{}\"? It is to be done by a recipe that cannot be used: {error}.\n\n{way_out} \
         YES tries again; NO holds the task until you release it. To give the task up: baton task cancel {}.",
        task.spec().title,
        task.id()
    );
    Ok(QuestionDraft::whether_to_go_on(NonBlank::new(text)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::settlement::tests::task;

    #[test]
    fn the_question_about_a_recipe_that_cannot_be_used_stands_alone() {
        let gone: EngineError = NotFound::new(Entity::Recipe, "tidy-up").into();
        let looping: EngineError =
            TaskError::LoopAsTaskRecipe { recipe: "plan-execute-review".parse().unwrap() }.into();
        for (error, way_out) in
            [(gone, "baton recipe check"), (looping, "baton recipe start plan-execute-review")]
        {
            let question = question(&task(), &error).unwrap();
            assert_eq!(question.missing_context(), [], "{}", question.text);
            for said in ["Parse the dates", way_out, "baton task cancel TASK-00000001"] {
                assert!(question.text.as_str().contains(said), "{said}: {}", question.text);
            }
        }
    }
}
