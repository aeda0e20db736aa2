//! The book of a run: the run as it is stored, its recipe, and what was said to it meanwhile.

use std::sync::Arc;

use baton_core::actor::Actor;
use baton_core::change::{Change, Guard, Record, Stored};
use baton_core::event::EventBody;
use baton_core::recipe::Recipe;
use baton_core::run::{Origin, Run};
use baton_core::session::{Message, Session};
use baton_core::task::Task;
use baton_core::text::{NonBlank, RecipeId};
use baton_store::model::commit::{Commit, Conflict};

use crate::desk::{Desk, refuse_loop};
use crate::error::EngineError;
use crate::runs::{stamp, started};

/// The recipe of a task that names none.
pub const DEFAULT_RECIPE: &str = "work";
/// Messages told to an agent at once; more follow the next time.
const MESSAGES_MAX: u32 = 100;
/// Events of a task looked through for its last recipe.
const EVENTS_PAGE: u32 = 500;

pub struct Book {
    desk: Desk,
    pub run: Run,
    pub recipe: Arc<Recipe>,
    /// None for a run that has nothing to remember: the default one, of a single step without a gate. Should it
    /// be lost, its task's next attempt begins it anew, and nothing is different.
    version: Option<u64>,
}

impl Book {
    /// The task's open run, or a new one.
    pub async fn open(desk: &Desk, task: &Task) -> Result<Self, EngineError> {
        if let Some(stored) = desk.task_run(task.id()).await? {
            let recipe = desk.recipe(stored.value.recipe())?;
            let phase = desk.phase_prompt(task)?.filter(|_| stored.value.origin() == Origin::Default);
            let recipe = phase.map_or(recipe.clone(), |prompt| Arc::new(recipe.prompting(&prompt)));
            return Ok(Self { desk: desk.clone(), run: stored.value, recipe, version: Some(stored.version) });
        }
        let (id, origin) = recipe_of(desk, task).await?;
        refuse_loop(Some(&id))?;
        let recipe = desk.recipe(&id)?;
        let phase = if origin == Origin::Default { desk.phase_prompt(task)? } else { None };
        let recipe = phase.as_ref().map_or(recipe.clone(), |prompt| Arc::new(recipe.prompting(prompt)));
        let session = task.spec().session_id.clone();
        let run = Run::start(desk.ids.run(), &recipe, session, Some(task.id())).asked_by(origin);
        let mut book = Self { desk: desk.clone(), run, recipe, version: None };
        let is_plain = matches!(book.recipe.steps(), [only] if only.gate().is_none());
        if origin != Origin::Default || !is_plain || phase.is_some() {
            book.keep(task).await?;
        }
        Ok(book)
    }

    async fn keep(&mut self, task: &Task) -> Result<(), EngineError> {
        let desk = self.desk.clone();
        let now = desk.store.now().await?;
        let project = task.spec().project_id;
        let (session, guard, mut events) = desk.opened(self.run.session(), project, now).await?;
        // A message made most tasks and is told as their description. None makes a task of the loop's, so what was said
        // to it since it was created is still to be told.
        let is_phase = desk.phase_prompt(task)?.is_some();
        let heard = session.message_count.saturating_sub(if is_phase { MESSAGES_MAX } else { 0 });
        self.run = self.run.clone().past_messages(heard);
        let mut change = Change::new().put(Record::Run(Box::new(self.run.clone())), Guard::New);
        if guard == Guard::New {
            change = change.put(Record::Session(session), guard);
        }
        events.extend(started(&self.run, &self.recipe));
        stamp(&mut change, events, now, &Actor::Baton);
        desk.write(change).await?;
        self.version = Some(1);
        Ok(())
    }

    /// What was said to this run and not told to its agent yet, and the session it was said in.
    pub async fn unheard(&self) -> Result<(Option<Stored<Session>>, Vec<Message>), EngineError> {
        if self.version.is_none() {
            return Ok((None, Vec::new()));
        }
        let session = self.desk.store.session(self.run.session()).await?;
        let heard = self.run.memory().heard();
        let mut messages = self.desk.store.messages(self.run.session(), heard, MESSAGES_MAX).await?;
        messages.retain(|message| message.task_id == self.run.task());
        Ok((session, messages))
    }

    /// The change that writes `run` in place of what is stored. `session` makes it fail when somebody spoke since.
    pub fn writing(&self, run: &Run, session: Option<Stored<Session>>) -> Change {
        let Some(version) = self.version else { return Change::new() };
        let change = Change::new().put(Record::Run(Box::new(run.clone())), Guard::Version(version));
        match session {
            Some(session) => change.put(Record::Session(session.value), Guard::Version(session.version)),
            None => change,
        }
    }

    /// Writes `run`, with what is to be told of it. False when something moved meanwhile.
    pub async fn write(
        &mut self,
        run: Run,
        session: Option<Stored<Session>>,
        events: Vec<EventBody>,
    ) -> Result<bool, EngineError> {
        let Some(version) = self.version else {
            self.run = run;
            return Ok(true);
        };
        let mut change = self.writing(&run, session);
        stamp(&mut change, events, self.desk.store.now().await?, &Actor::Baton);
        match self.desk.store.commit(change).await? {
            Commit::Written { .. } => {
                (self.run, self.version) = (run, Some(version + 1));
                Ok(true)
            }
            Commit::Conflict(Conflict::Moved { .. }) => Ok(false),
            Commit::Conflict(conflict) => Err(EngineError::Dependency(conflict)),
        }
    }

    /// Looks whether somebody else wrote the run. What was only noted here and not written is lost then.
    pub async fn reload(&mut self) -> Result<bool, EngineError> {
        let Some(version) = self.version else { return Ok(false) };
        match self.desk.store.run(self.run.id()).await? {
            Some(stored) if stored.version != version => {
                (self.run, self.version) = (stored.value, Some(stored.version));
                Ok(true)
            }
            Some(_) | None => Ok(false),
        }
    }
}

/// The recipe the task names; else the one it was run with before; else the default.
async fn recipe_of(desk: &Desk, task: &Task) -> Result<(RecipeId, Origin), EngineError> {
    if let Some(named) = &task.spec().recipe {
        return Ok((named.clone(), Origin::Task));
    }
    let mut last = None;
    let mut after = 0;
    // A task that has never been tried has no past to look through.
    while task.ledger().started > 1 {
        let events = desk.store.task_events(task.id(), after, EVENTS_PAGE).await?;
        let Some(newest) = events.last() else { break };
        after = newest.seq;
        for recorded in events {
            if let EventBody::RunStarted { recipe, .. } = recorded.event.body {
                last = Some(recipe);
            } else if let EventBody::RunBound { run, .. } = recorded.event.body {
                last = desk.store.run(run).await?.map(|stored| stored.value.recipe().clone()).or(last);
            }
        }
    }
    if let Some(recipe) = last {
        return Ok((recipe, Origin::Task));
    }
    let missing = |_| EngineError::NotFound { kind: "recipe", key: DEFAULT_RECIPE.to_owned() };
    Ok((DEFAULT_RECIPE.parse().map_err(missing)?, Origin::Default))
}

/// The texts of messages, and the number of the last.
pub fn told(messages: &[Message]) -> (Vec<NonBlank>, u32) {
    let number = messages.last().map_or(0, |message| message.number);
    (messages.iter().map(|message| message.text.clone()).collect(), number)
}
