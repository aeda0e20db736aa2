//! A message to a run, as it is written, and what it means where the run waits for a decision.

use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::recipe::RecipeStep;
use baton_core::recipe::run::{Run, RunState};
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::records::session::Message;

use crate::base::error::Result;
use crate::runs::{Runs, message, posted, stamp};

impl Runs {
    /// A remark on what the run waits for, which its agent is told before its next step. It is not noted on the task: the answer
    /// is written there in the same transaction.
    pub(crate) async fn said(&self, run: &Run, text: &NonBlank, actor: &Actor) -> Result<(Message, Change)> {
        let now = self.tasks.store.now().await?;
        let (mut session, guard, mut events) = self.opened(run.session(), None, now).await?;
        session.message_count += 1;
        let message = message(&session, text, actor, run.task(), now);
        events.push(posted(run.session(), text, run.task()));
        let mut change = Change::new()
            .put(Record::Session(session), guard)
            .put(Record::Message(message.clone()), WriteGuard::New);
        stamp(&mut change, events, now, actor);
        Ok((message, change))
    }

    /// Whether the run waits at a gate whose NO keeps it in the step, so that a remark can be followed there.
    pub(crate) fn stays_after_no(&self, run: &Run) -> Result<bool> {
        if !matches!(run.state(), RunState::AtGate { .. }) {
            return Ok(false);
        }
        let recipe = self.recipe_of(run)?;
        Ok(recipe.step(run.step()).and_then(RecipeStep::gate).is_some_and(|gate| gate.no().is_none()))
    }
}
