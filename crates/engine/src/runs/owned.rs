//! The tasks that open runs work through, and the recipes they follow.

use std::sync::Arc;

use baton_core::recipe::Recipe;
use baton_core::recipe::run::Run;
use baton_core::schedule::OwnedQueues;

use crate::base::error::Result;
use crate::runs::Runs;

impl Runs {
    /// What nobody but its run may start.
    pub(crate) async fn owned_queues(&self) -> Result<OwnedQueues> {
        let open = self.tasks.store.open_runs().await?;
        let queues: Vec<_> = open.iter().filter_map(|stored| stored.value.owned_queue()).collect();
        if queues.is_empty() {
            return Ok(OwnedQueues::default());
        }
        let bound = open.iter().filter_map(|stored| stored.value.task()).collect();
        Ok(OwnedQueues { queues, bound })
    }

    /// The recipe as it was when the run began, or else as it is now.
    pub(crate) fn recipe_of(&self, run: &Run) -> Result<Arc<Recipe>> {
        match run.kept_recipe() {
            Some(recipe) => Ok(Arc::new(recipe)),
            None => self.tasks.recipes.find(run.recipe()),
        }
    }
}
