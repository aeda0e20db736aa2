//! What a run keeps from its start to its end: the recipe as it was when the run began, and the queue it works through.

use crate::recipe::run::Run;
use crate::recipe::{Recipe, RecipeDraft};
use crate::schedule::{OwnedQueue, ProjectScope};

impl Run {
    /// The same run, which follows this version of its recipe to the end, whatever becomes of the file.
    #[must_use]
    pub fn keep_recipe(self, recipe: &Recipe) -> Self {
        Self { kept_recipe: Some(Box::new(RecipeDraft::from(recipe.clone()))), ..self }
    }

    /// The recipe as it was when the run began. `None` for a run stored before this was recorded, and for a recipe
    /// that this version of Baton no longer accepts.
    pub fn kept_recipe(&self) -> Option<Recipe> {
        let draft = self.kept_recipe.as_deref()?;
        Recipe::check(draft.clone()).ok().filter(|recipe| recipe.id() == &self.recipe)
    }

    /// The same run, which works through the ready tasks of these projects.
    #[must_use]
    pub fn own_queue(self, projects: ProjectScope) -> Self {
        Self { queue: Some(projects), ..self }
    }

    /// The ready tasks that are this run's to start, as long as it is open.
    pub fn owned_queue(&self) -> Option<OwnedQueue> {
        let projects = self.queue.filter(|_| !self.has_exited())?;
        Some(OwnedQueue { session: self.session.clone(), recipe: self.recipe.clone(), projects })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::RunId;
    use crate::recipe::exit_reason::ExitReason;

    const RECIPE: &str = r#"{"id":"tidy","label":"Tidy","description":"Tidies","initial_step":"go","steps":{
        "go":{"prompt":"First version.","outcomes":["done"],"on_outcome":{"done":{"exit":"done"}}}}}"#;

    fn run() -> (Run, Recipe) {
        let recipe: Recipe = serde_json::from_str(RECIPE).unwrap();
        (Run::start(RunId::from_bits(1), &recipe, "mine".parse().unwrap(), None), recipe)
    }

    #[test]
    fn a_stored_run_has_the_recipe_it_began_with() {
        let (run, recipe) = run();
        assert_eq!(run.kept_recipe(), None);
        let stored = serde_json::to_string(&run.keep_recipe(&recipe)).unwrap();
        let read: Run = serde_json::from_str(&stored).unwrap();
        assert_eq!(read.kept_recipe(), Some(recipe));
        // A version with other rules can still read the run.
        let odd = stored.replace("First version.", " ");
        let read: Run = serde_json::from_str(&odd).unwrap();
        assert_eq!(read.kept_recipe(), None);
    }

    #[test]
    fn a_run_owns_its_queue_until_it_exits() {
        let (run, _) = run();
        assert_eq!(run.owned_queue(), None);
        let run = run.own_queue(ProjectScope::Any);
        assert_eq!(run.owned_queue().map(|queue| queue.projects), Some(ProjectScope::Any));
        assert_eq!(run.exit(ExitReason::user_requested()).unwrap().0.owned_queue(), None);
    }
}
