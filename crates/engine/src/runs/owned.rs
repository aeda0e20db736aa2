//! The tasks that open runs work through, and the recipes they follow.

use std::sync::Arc;

use baton_core::recipe::Recipe;
use baton_core::recipe::run::Run;
use baton_core::schedule::OwnedQueues;
use baton_core::task::Task;

use crate::base::error::Result;
use crate::runs::Runs;

/// Ready tasks listed for the store. What is behind them is checked one by one.
const FIRST_MAX: u32 = 500;

impl Runs {
    /// What nobody but its run may start.
    pub(crate) async fn owned_queues(&self) -> Result<OwnedQueues> {
        let open = self.tasks.store.open_runs().await?;
        let queues: Vec<_> = open.iter().filter_map(|stored| stored.value.owned_queue()).collect();
        if queues.is_empty() {
            return Ok(OwnedQueues::default());
        }
        let bound = open.iter().filter_map(|stored| stored.value.task()).collect();
        let mut owned = OwnedQueues { queues, bound, ..OwnedQueues::default() };
        let ready = self.tasks.store.ready(FIRST_MAX).await?;
        let is_owned = |task: &_| owned.owner_of(task).is_some();
        owned.first =
            ready.iter().map(|task| &task.value).filter(|task| is_owned(*task)).map(Task::id).collect();
        Ok(owned)
    }

    /// The recipe as it was when the run began, or else as it is now.
    pub(crate) fn recipe_of(&self, run: &Run) -> Result<Arc<Recipe>> {
        match run.kept_recipe() {
            Some(recipe) => Ok(Arc::new(recipe)),
            None => self.tasks.recipes.find(run.recipe()),
        }
    }
}
