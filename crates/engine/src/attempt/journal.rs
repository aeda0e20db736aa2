//! The book of a run: the run as it is stored, its recipe, and what was said to it meanwhile.

use crate::base::error::{Entity, NotFound};
use std::sync::Arc;

use baton_core::base::text::{NonBlank, RecipeId};
use baton_core::people::actor::Actor;
use baton_core::recipe::Recipe;
use baton_core::recipe::run::{Run, RunOrigin};
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};
use baton_core::records::event::EventBody;
use baton_core::records::session::{Message, Session};
use baton_core::task::Task;

use crate::base::error::EngineError;
use crate::runs::loops::Loops;
use crate::runs::{Runs, stamp, started};
use crate::tasks::service::{TaskService, refuse_loop};

/// The recipe of a task that names none.
pub const DEFAULT_RECIPE: &str = "work";
/// Messages told to an agent at once; more follow the next time.
const MESSAGES_MAX: u32 = 100;
/// Events of a task looked through for its last recipe.
const EVENTS_PAGE: u32 = 500;

pub(crate) struct RunJournal {
    tasks: TaskService,
    pub run: Run,
    pub recipe: Arc<Recipe>,
    /// None for a run that has nothing to remember: the default one, of a single step without a gate. Should it
    /// be lost, its task's next attempt begins it anew, and nothing is different.
    version: Option<u64>,
}

impl RunJournal {
    /// The task's open run, or a new one.
    pub(crate) async fn open(tasks: &TaskService, task: &Task) -> Result<Self, EngineError> {
        let runs = Runs::new(tasks);
        if let Some(stored) = runs.task_run(task.id()).await? {
            let recipe = runs.recipe_of(&stored.value)?;
            let phase = Loops::new(tasks).phase_prompt_in_context(task).await?;
            let phase = phase.filter(|_| stored.value.origin() == RunOrigin::Default);
            let recipe = phase.map_or(recipe.clone(), |prompt| Arc::new(recipe.with_initial_prompt(&prompt)));
            return Ok(Self {
                tasks: tasks.clone(),
                run: stored.value,
                recipe,
                version: Some(stored.version),
            });
        }
        let (id, origin) = recipe_of(tasks, task).await?;
        refuse_loop(Some(&id))?;
        let recipe = tasks.recipes.find(&id)?;
        let phase = if origin == RunOrigin::Default {
            Loops::new(tasks).phase_prompt_in_context(task).await?
        } else {
            None
        };
        let recipe =
            phase.as_ref().map_or(recipe.clone(), |prompt| Arc::new(recipe.with_initial_prompt(prompt)));
        let session = task.spec().session_id.clone();
        let run = Run::start(tasks.ids.run(), &recipe, session, Some(task.id())).with_requester(origin);
        let mut book = Self { tasks: tasks.clone(), run, recipe, version: None };
        let is_plain = matches!(book.recipe.steps(), [only] if only.gate().is_none());
        if origin != RunOrigin::Default || !is_plain || phase.is_some() {
            book.keep(task).await?;
        }
        Ok(book)
    }

    async fn keep(&mut self, task: &Task) -> Result<(), EngineError> {
        let tasks = self.tasks.clone();
        let now = tasks.store.now().await?;
        let project = task.spec().project_id;
        let (session, guard, mut events) = Runs::new(&tasks).opened(self.run.session(), project, now).await?;
        // A message made most tasks and is told as their description. None makes a task of the loop's, so what was said
        // to it since it was created is still to be told.
        let is_phase = Loops::new(&tasks).phase_prompt(task).await?.is_some();
        let heard = session.message_count.saturating_sub(if is_phase { MESSAGES_MAX } else { 0 });
        self.run = self.run.clone().keep_recipe(&self.recipe).begin_at(now).skip_messages(heard);
        if self.recipe.works_through_queue() {
            self.run = self.run.clone().own_queue(tasks.scope_of(project).await?);
        }
        let mut change = Change::new().put(Record::Run(Box::new(self.run.clone())), WriteGuard::New);
        if guard == WriteGuard::New {
            change = change.put(Record::Session(session), guard);
        }
        events.extend(started(&self.run, &self.recipe));
        stamp(&mut change, events, now, &Actor::Baton);
        tasks.write(change).await?;
        self.version = Some(1);
        Ok(())
    }

    /// What was said to this run and not told to its agent yet, and the session it was said in.
    pub(crate) async fn unheard(&self) -> Result<(Option<Versioned<Session>>, Vec<Message>), EngineError> {
        let session = match self.version {
            Some(_) => self.tasks.store.session(self.run.session()).await?,
            None => None,
        };
        let (mut messages, noted) = match self.run.task() {
            Some(task) => {
                let task = self.tasks.task(task).await?.value;
                (self.tasks.queued_messages(&task).await?, task.ledger().messages)
            }
            None => (Vec::new(), None),
        };
        if self.version.is_some() {
            // What was said to the run with its start or at a gate is not noted on its task.
            let heard = self.run.memory().delivered();
            let mut of_run = self.tasks.store.messages(self.run.session(), heard, MESSAGES_MAX).await?;
            let is_noted = |number| noted.is_some_and(|said| (said.first..=said.last).contains(&number));
            of_run.retain(|message| message.task_id == self.run.task() && !is_noted(message.number));
            messages.extend(of_run);
            messages.sort_by_key(|message| message.number);
        }
        Ok((session, messages))
    }

    /// What earlier attempts of the task were told. A stored run remembers that itself.
    pub(crate) async fn told_before(&self, task: &Task) -> Result<Vec<Message>, EngineError> {
        let Some(said) = task.ledger().messages.filter(|_| self.version.is_none()) else {
            return Ok(Vec::new());
        };
        let mut messages = self.tasks.messages_to(task).await?;
        messages.retain(|message| said.is_delivered(message.number));
        Ok(messages)
    }

    /// The change that writes `run` in place of what is stored. `session` makes it fail when somebody spoke since.
    pub(crate) fn writing(&self, run: &Run, session: Option<Versioned<Session>>) -> Change {
        let Some(version) = self.version else { return Change::new() };
        let change = Change::new().put(Record::Run(Box::new(run.clone())), WriteGuard::Version(version));
        match session {
            Some(session) => change.put(Record::Session(session.value), WriteGuard::Version(session.version)),
            None => change,
        }
    }

    /// Writes `run`, with what is to be told of it. False when something moved meanwhile.
    pub(crate) async fn write(
        &mut self,
        run: Run,
        session: Option<Versioned<Session>>,
        events: Vec<EventBody>,
    ) -> Result<bool, EngineError> {
        let Some(version) = self.version else {
            self.run = run;
            return Ok(true);
        };
        let mut change = self.writing(&run, session);
        stamp(&mut change, events, self.tasks.store.now().await?, &Actor::Baton);
        if self.tasks.decision("the run").try_commit(change).await?.is_some() {
            return Ok(false);
        }
        (self.run, self.version) = (run, Some(version + 1));
        Ok(true)
    }

    /// Looks whether somebody else wrote the run. What was only noted here and not written is lost then.
    pub(crate) async fn reload(&mut self) -> Result<bool, EngineError> {
        let Some(version) = self.version else { return Ok(false) };
        match self.tasks.store.run(self.run.id()).await? {
            Some(stored) if stored.version != version => {
                (self.run, self.version) = (stored.value, Some(stored.version));
                Ok(true)
            }
            Some(_) | None => Ok(false),
        }
    }
}

/// The recipe the task names; else the one it was run with before; else the default.
async fn recipe_of(tasks: &TaskService, task: &Task) -> Result<(RecipeId, RunOrigin), EngineError> {
    if let Some(named) = &task.spec().recipe {
        return Ok((named.clone(), RunOrigin::Task));
    }
    let mut last = None;
    let mut after = 0;
    // A task that has never been tried has no past to look through.
    while task.ledger().started > 1 {
        let events = tasks.store.task_events(task.id(), after, EVENTS_PAGE).await?;
        let Some(newest) = events.last() else { break };
        after = newest.seq;
        for recorded in events {
            if let EventBody::RunStarted { recipe, .. } = recorded.event.body {
                last = Some(recipe);
            } else if let EventBody::RunBound { run, .. } = recorded.event.body {
                last = tasks.store.run(run).await?.map(|stored| stored.value.recipe().clone()).or(last);
            }
        }
    }
    if let Some(recipe) = last {
        return Ok((recipe, RunOrigin::Task));
    }
    let missing = |_| NotFound::new(Entity::Recipe, DEFAULT_RECIPE);
    Ok((DEFAULT_RECIPE.parse().map_err(missing)?, RunOrigin::Default))
}

/// The texts of messages, and the number of the last.
pub(crate) fn told(messages: &[Message]) -> (Vec<NonBlank>, u32) {
    let number = messages.last().map_or(0, |message| message.number);
    (messages.iter().map(|message| message.text.clone()).collect(), number)
}

/// Whether an agent that has ended is started again for it. What Baton itself has to tell, such as the end of a service, goes
/// with the next prompt, if there is one.
pub(crate) fn has_to_be_heard(message: &Message) -> bool {
    message.author != Actor::Baton
}
