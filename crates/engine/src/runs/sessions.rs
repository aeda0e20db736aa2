//! The run of a session, whichever kind it is: a recipe's or the loop's. People and clients start, message and stop it
//! here.

use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::base::text::{NonBlank, RecipeId};
use baton_core::people::actor::Actor;
use baton_core::phase::PhaseStart;
use baton_core::recipe::run::{Run, RunOrigin};
use baton_core::records::change::Change;
use baton_core::records::session::Message;
use baton_core::task::Task;
use baton_core::transition::command::Command;
use baton_store::model::query::RunFilter;

use crate::base::error::Result;
use crate::runs::error::RunError;
use crate::runs::loops::{LoopStart, Loops};
use crate::runs::{Runs, is_loop};
use crate::tasks::BesideMessage;
use crate::tasks::service::TaskService;

/// Why a task is held that a person held without a reason.
const HELD_BY_PERSON: &str = "held by you";

/// Runs looked through at once for the last one a person started.
const RUNS_PAGE: u32 = 50;

/// What a person starts on a session.
pub struct RunRequest {
    pub recipe: RecipeId,
    pub project: Option<ProjectId>,
    /// What is to be done.
    pub message: Option<NonBlank>,
    /// The first phase of the loop.
    pub from: Option<PhaseStart>,
}

impl RunRequest {
    pub fn new(recipe: RecipeId) -> Self {
        Self { recipe, project: None, message: None, from: None }
    }
}

pub struct SessionRuns {
    tasks: TaskService,
    runs: Runs,
    loops: Loops,
}

impl SessionRuns {
    pub fn new(tasks: &TaskService) -> Self {
        Self { tasks: tasks.clone(), runs: Runs::new(tasks), loops: Loops::new(tasks) }
    }

    /// The open run of the session, if there is one.
    pub async fn open(&self, session: &SessionId) -> Result<Option<Run>> {
        self.runs.session_run(session).await
    }

    /// The open run of the session, of several the one that started last, else the one that ended last.
    pub async fn latest(&self, session: &SessionId) -> Result<Option<Run>> {
        if let Some(open) = self.open(session).await? {
            return Ok(Some(open));
        }
        let open = self.runs.open_session_runs(session).await?;
        if let Some(newest) = open.into_iter().max_by_key(|stored| stored.value.started_at()) {
            return Ok(Some(newest.value));
        }
        let filter = RunFilter { session: Some(session.clone()), is_open: Some(false) };
        let mut cursor = None;
        loop {
            let page = self.tasks.store.runs(&filter, cursor, RUNS_PAGE).await?;
            let told = page.items.into_iter().find(|stored| stored.value.origin() != RunOrigin::Default);
            cursor = page.next;
            if told.is_some() || cursor.is_none() {
                return Ok(told.map(|stored| stored.value));
            }
        }
    }

    /// Starts a recipe. A session runs one at a time.
    pub async fn start(&self, session: &SessionId, request: &RunRequest, actor: Actor) -> Result<Run> {
        let recipe = self.tasks.recipes.find(&request.recipe)?;
        // A run whose task was cancelled in the meantime must not block a new one.
        self.runs.end_runs_without_work().await?;
        let (project, message) = (request.project, request.message.as_ref());
        if recipe.is_loop() {
            let at = request.from.unwrap_or(PhaseStart::Plan);
            if at != PhaseStart::Plan && message.is_some() {
                return Err(RunError::NothingToPlan.into());
            }
            return self.loops.start_loop(&LoopStart { session, at, project, message }, &actor).await;
        }
        if request.from.is_some() {
            return Err(RunError::NoPhases { recipe: recipe.id().clone() }.into());
        }
        self.runs.start_recipe(session, &recipe, project, message, &actor).await
    }

    /// Delivers a message to the agent of the run.
    pub async fn say(&self, session: &SessionId, text: NonBlank, actor: Actor) -> Result<Message> {
        self.say_with(session, text, actor, &|_| Change::new()).await
    }

    /// The same, with what else is to be written in the same transaction.
    pub(crate) async fn say_with(
        &self,
        session: &SessionId,
        text: NonBlank,
        actor: Actor,
        beside: &BesideMessage<'_>,
    ) -> Result<Message> {
        match self.open(session).await? {
            Some(run) if is_loop(&run) => self.loops.say_to_loop(session, &text, &actor, beside).await,
            Some(_) | None => self.runs.say(session, &text, &actor, beside).await,
        }
    }

    /// Keeps agents from a task until it is released. A running one is stopped; the work it has is kept.
    pub async fn hold_task(&self, id: TaskId, why: Option<NonBlank>, actor: Actor) -> Result<Task> {
        let why = why.map_or_else(|| NonBlank::new(HELD_BY_PERSON), Ok)?;
        let hold = Command::Hold { reason: why.clone() };
        if self.tasks.task(id).await?.value.state().live_attempt().is_none() {
            return self.tasks.apply(id, hold, actor).await;
        }
        let mut decision = self.tasks.decision(id);
        loop {
            let change = self.runs.stopped(id, &why, &actor).await?;
            if decision.commit(change).await? {
                return Ok(self.tasks.task(id).await?.value);
            }
        }
    }

    /// Stops the run because a person wants it stopped.
    pub async fn exit(&self, session: &SessionId, actor: Actor) -> Result<Run> {
        let no_run = || RunError::NoRun { session: session.clone() };
        match self.open(session).await? {
            Some(run) if is_loop(&run) => {
                self.loops.break_off_loop(session, actor).await?;
                let ended = self.tasks.store.run(run.id()).await?;
                Ok(ended.map(|stored| stored.value).ok_or_else(no_run)?)
            }
            Some(_) | None => self.runs.exit_recipe(session, &actor).await,
        }
    }
}
