//! The tasks that open runs work through, and the recipes they follow.

use std::sync::Arc;

use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::recipe::Recipe;
use baton_core::recipe::run::Run;
use baton_core::records::change::Change;
use baton_core::schedule::{OwnedQueue, OwnedQueues};
use baton_core::task::Task;
use baton_core::task::state::{QueueName, TaskState};
use baton_core::transition::command::Command;
use baton_store::model::query::TaskFilter;

use crate::base::error::Result;
use crate::runs::Runs;
use crate::runs::exit::person_or_policy;

/// Why a ready task is held after a person stopped the run that was to take it.
const LEFT_IN_QUEUE: &str = "the run that was to take it was stopped by you";
/// Tasks read at once while looking for those.
const TASKS_PAGE: u32 = 500;

impl Runs {
    /// I22: stopping a run that works through a queue starts none of it. What is ready there is held, until a person releases it
    /// or starts such a run again.
    pub(crate) async fn held_queue(&self, run: &Run, actor: &Actor) -> Result<Change> {
        let Some(queue) = run.owned_queue() else { return Ok(Change::new()) };
        let open = self.tasks.store.open_runs().await?;
        let bound = open.iter().filter_map(|stored| stored.value.task()).chain(run.task()).collect();
        let others = open.iter().filter(|stored| stored.value.id() != run.id());
        let others = others.filter_map(|stored| stored.value.owned_queue()).collect();
        let own = OwnedQueues { queues: vec![queue], bound };
        let others = OwnedQueues { queues: others, bound: own.bound.clone() };
        let (actor, reason) = (person_or_policy(actor), NonBlank::new(LEFT_IN_QUEUE)?);
        let context = self.tasks.context(actor).await?;
        let is_left = |task: &Task| own.owner_of(task).is_some() && others.owner_of(task).is_none();
        let mut change = Change::new();
        for stored in self.all_ready().await?.into_iter().filter(|stored| is_left(&stored.value)) {
            let held = stored.value.apply(Command::Hold { reason: reason.clone() }, &context)?;
            change = change.and(Change::transition(stored.version, held));
        }
        Ok(change)
    }

    /// What was held of a queue when its run was stopped, released for the next one.
    pub(crate) async fn released_queue(
        &self,
        queue: &OwnedQueue,
        actor: &Actor,
    ) -> Result<(Option<TaskId>, Change)> {
        let filter = TaskFilter { queue: Some(QueueName::Incoming), ..TaskFilter::default() };
        let context = self.tasks.context(person_or_policy(actor)).await?;
        let (mut first, mut change, mut cursor) = (None, Change::new(), None);
        loop {
            let page = self.tasks.store.tasks(&filter, cursor, TASKS_PAGE).await?;
            for stored in page.items {
                let why = stored.value.ledger().held_because.as_ref().map(NonBlank::as_str);
                let is_left = *stored.value.state() == TaskState::Held && why == Some(LEFT_IN_QUEUE);
                if is_left && queue.takes(&stored.value) {
                    first = first.or(Some(stored.value.id()));
                    let released = stored.value.apply(Command::Release, &context)?;
                    change = change.and(Change::transition(stored.version, released));
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok((first, change));
            }
        }
    }

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
