//! The run of a session, whichever kind it is: a recipe's or the loop's. People and clients start, message and stop it
//! here.

use baton_core::base::id::{ProjectId, SessionId};
use baton_core::base::text::{NonBlank, RecipeId};
use baton_core::people::actor::Actor;
use baton_core::phase::PhaseStart;
use baton_core::recipe::run::Run;
use baton_core::records::session::Message;

use crate::base::error::Result;
use crate::runs::error::RunError;
use crate::runs::loops::{LoopStart, Loops};
use crate::runs::{Runs, is_loop};
use crate::tasks::service::TaskService;

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

    /// Starts a recipe. A session runs one at a time.
    pub async fn start(
        &self,
        session: &SessionId,
        recipe: &RecipeId,
        project: Option<ProjectId>,
        message: Option<NonBlank>,
        actor: Actor,
    ) -> Result<Run> {
        let recipe = self.tasks.recipes.find(recipe)?;
        // A run whose task was cancelled in the meantime must not block a new one.
        self.runs.end_runs_without_work().await?;
        if recipe.is_loop() {
            let start = LoopStart { session, at: PhaseStart::Plan, project, message: message.as_ref() };
            return self.loops.start_loop(&start, &actor).await;
        }
        self.runs.start_recipe(session, &recipe, project, message.as_ref(), &actor).await
    }

    /// Delivers a message to the agent of the run.
    pub async fn say(&self, session: &SessionId, text: NonBlank, actor: Actor) -> Result<Message> {
        match self.open(session).await? {
            Some(run) if is_loop(&run) => self.loops.say_to_loop(session, &text, &actor).await,
            Some(_) | None => self.runs.say(session, &text, &actor).await,
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
