//! Runs of recipes: a person starts a recipe on a session, sends it messages, and stops it. The loop is a run too.
//!
//! Every run of a recipe has a task, so that leases, worktrees, evidence and questions hold for it as for everything else. A
//! recipe that takes its work from the queue is bound to the next ready task; otherwise a task is made for it.

pub mod error;
mod exit;
pub mod gate;
pub mod loops;
mod owned;
mod remarks;
pub mod routines;
mod sessions;
mod telling;
use crate::runs::error::RunError;

use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::recipe::run::{Run, RunOrigin, RunRefusal, RunState};
use baton_core::recipe::{LOOP_RECIPE, Recipe};
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};
use baton_core::records::event::{Event, EventBody};
use baton_core::records::session::{Message, Session};
use baton_core::schedule::OwnedQueue;
use baton_core::task::{Purpose, Task, TaskSpec};

use crate::base::error::Result;
use crate::tasks::BesideMessage;
use crate::tasks::service::TaskService;

pub(crate) use exit::{STOPPED_BY_PERSON, goes_on};
pub(crate) use loops::title_of;
pub use sessions::{RunRequest, SessionRuns};
pub(crate) use telling::{exited, message, moved, posted, stamp, started};

/// Ready tasks looked at first to find one for a run, and how many times as many if none of them fits.
const READY_PAGE: u32 = 500;
const READY_FURTHER: u32 = 8;

/// Starts, finds and ends the runs of recipes.
#[derive(Clone)]
pub struct Runs {
    tasks: TaskService,
}

impl Runs {
    pub fn new(tasks: &TaskService) -> Self {
        Self { tasks: tasks.clone() }
    }

    /// The open run of a session: the one a person started on it, else the one a task of it runs by name.
    pub async fn session_run(&self, session: &SessionId) -> Result<Option<Run>> {
        Ok(self.open_session_run(session).await?.map(|stored| stored.value))
    }

    /// All open runs of the session that somebody asked for.
    pub(super) async fn open_session_runs(&self, session: &SessionId) -> Result<Vec<Versioned<Run>>> {
        let mut open = self.tasks.store.open_runs().await?;
        open.retain(|stored| {
            stored.value.session() == session && stored.value.origin() != RunOrigin::Default
        });
        Ok(open)
    }

    /// Why no run of the session can be spoken to or stopped by the session's name.
    async fn without_run(&self, session: &SessionId) -> Result<RunError> {
        let open = self.open_session_runs(session).await?;
        let tasks: Vec<TaskId> = open.iter().filter_map(|stored| stored.value.task()).collect();
        let session = session.clone();
        Ok(if tasks.len() > 1 {
            RunError::SeveralRuns { session, tasks }
        } else {
            RunError::NoRun { session }
        })
    }

    async fn open_session_run(&self, session: &SessionId) -> Result<Option<Versioned<Run>>> {
        let mut open = self.open_session_runs(session).await?;
        let started = open.iter().position(|stored| stored.value.origin() == RunOrigin::Session);
        Ok(match started {
            Some(index) => Some(open.swap_remove(index)),
            // Of two tasks' runs neither can be meant alone.
            None if open.len() == 1 => open.pop(),
            None => None,
        })
    }

    /// The open run that works on a task.
    pub async fn task_run(&self, task: TaskId) -> Result<Option<Versioned<Run>>> {
        let open = self.tasks.store.open_runs().await?;
        Ok(open.into_iter().find(|stored| stored.value.task() == Some(task)))
    }

    /// Starts a recipe on a session that runs none. The loop is started by `Loops`.
    async fn start_recipe(
        &self,
        session: &SessionId,
        recipe: &Recipe,
        project: Option<ProjectId>,
        message: Option<&NonBlank>,
        actor: &Actor,
    ) -> Result<Run> {
        let mut decision = self.tasks.decision(format_args!("the session {session}"));
        loop {
            if let Some(open) = self.open_session_run(session).await?.map(|stored| stored.value)
                && open.origin() == RunOrigin::Session
            {
                let (recipe, run) = (open.recipe().clone(), open.id());
                return Err(RunError::AlreadyRunning { session: session.clone(), recipe, run }.into());
            }
            if message.is_some() {
                self.check_is_at_rest(session).await?;
            }
            let start = Start { session, recipe, project, message, actor };
            let (run, change) = self.start(&start).await?;
            // Somebody claimed the task, spoke on the session or started a run meanwhile.
            if decision.commit(change).await? {
                return Ok(run);
            }
        }
    }

    /// A message never starts work beside that of the message before it.
    async fn check_is_at_rest(&self, session: &SessionId) -> Result<()> {
        match self.tasks.message_under_way(session).await? {
            Some(task) => Err(RunError::AtWork { session: session.clone(), task }.into()),
            None => Ok(()),
        }
    }

    async fn start(&self, start: &Start<'_>) -> Result<(Run, Change)> {
        let now = self.tasks.store.now().await?;
        let home = self.tasks.home_project().await?;
        let (mut session, guard, mut events) =
            self.opened(start.session, start.project.or(home), now).await?;
        let project = start.project.or(session.project_id).or(home);
        let said_before = session.message_count;
        let (left, released) = self.released_for(start, project).await?;
        // A message says what to do; only without one the queue does.
        let (bound, left) = match start.message {
            Some(_) => (None, None),
            None => (self.next_task(start.recipe, start.session, project).await?, left),
        };
        let (task, mut change) = if let Some(ready) = bound {
            (ready.value.id(), hold(ready))
        } else if let Some(left) = left {
            (left, Change::new())
        } else {
            let asker = start.actor.person();
            self.carrier(start.recipe, start.session, project, start.message, asker, now)
        };
        if let Some(text) = start.message {
            session.message_count += 1;
            let message = message(&session, text, start.actor, Some(task), now);
            change = change.put(Record::Message(message), WriteGuard::New);
            events.push(posted(start.session, text, Some(task)));
        }
        // What is in the description of a task made for the run need not be told again.
        let is_told = change.puts.iter().any(|put| put.guard == WriteGuard::New && is_task(&put.record));
        let heard = if is_told { session.message_count } else { said_before };
        let run = Run::start(self.tasks.ids.run(), start.recipe, start.session.clone(), Some(task));
        let mut run = run.keep_recipe(start.recipe).begin_at(now).skip_messages(heard);
        if start.recipe.works_through_queue() {
            run = run.own_queue(self.tasks.scope_of(project).await?);
        }
        change = change
            .put(Record::Session(session), guard)
            .put(Record::Run(Box::new(run.clone())), WriteGuard::New)
            .and(released);
        events.extend(started(&run, start.recipe));
        stamp(&mut change, events, now, start.actor);
        Ok((run, change))
    }

    /// What an earlier run of the same queue left, where the recipe works through one.
    async fn released_for(
        &self,
        start: &Start<'_>,
        project: Option<ProjectId>,
    ) -> Result<(Option<TaskId>, Change)> {
        if !start.recipe.works_through_queue() {
            return Ok((None, Change::new()));
        }
        let queue = OwnedQueue {
            session: start.session.clone(),
            recipe: start.recipe.id().clone(),
            projects: self.tasks.scope_of(project).await?,
        };
        self.released_queue(&queue, start.actor).await
    }

    /// The session as it is, or a new one, and what has to be said about that.
    pub(crate) async fn opened(
        &self,
        id: &SessionId,
        project: Option<ProjectId>,
        now: Timestamp,
    ) -> Result<(Session, WriteGuard, Vec<EventBody>)> {
        self.tasks.session_to_write(id, project, now).await
    }

    /// The next ready task a run of this recipe may work on, if the recipe takes one.
    pub(crate) async fn next_task(
        &self,
        recipe: &Recipe,
        session: &SessionId,
        project: Option<ProjectId>,
    ) -> Result<Option<Versioned<Task>>> {
        if !recipe.takes_task() {
            return Ok(None);
        }
        let taken: Vec<TaskId> =
            self.tasks.store.open_runs().await?.iter().filter_map(|stored| stored.value.task()).collect();
        let queue = OwnedQueue {
            session: session.clone(),
            recipe: recipe.id().clone(),
            projects: self.tasks.scope_of(project).await?,
        };
        let fits = |task: &Task| queue.takes(task) && !taken.contains(&task.id());
        self.first_ready(fits).await
    }

    /// The first ready task that fits, however many come before it.
    pub(crate) async fn first_ready(
        &self,
        fits: impl Fn(&Task) -> bool + Send,
    ) -> Result<Option<Versioned<Task>>> {
        let mut limit = READY_PAGE;
        loop {
            let ready = self.tasks.store.ready(limit).await?;
            let are_all = u32::try_from(ready.len()).is_ok_and(|count| count < limit);
            let found = ready.into_iter().find(|stored| fits(&stored.value));
            if found.is_some() || are_all {
                return Ok(found);
            }
            limit = limit.saturating_mul(READY_FURTHER);
        }
    }

    /// Every ready task.
    pub(crate) async fn all_ready(&self) -> Result<Vec<Versioned<Task>>> {
        let mut limit = READY_PAGE;
        loop {
            let ready = self.tasks.store.ready(limit).await?;
            if u32::try_from(ready.len()).is_ok_and(|count| count < limit) {
                return Ok(ready);
            }
            limit = limit.saturating_mul(READY_FURTHER);
        }
    }

    /// A task made for a run that has none, and the change that makes it.
    pub(crate) fn carrier(
        &self,
        recipe: &Recipe,
        session: &SessionId,
        project: Option<ProjectId>,
        message: Option<&NonBlank>,
        asker: Option<NonBlank>,
        now: Timestamp,
    ) -> (TaskId, Change) {
        let title = message.and_then(|text| title_of(text).ok()).unwrap_or_else(|| recipe.label().clone());
        // What a person wants done is a task like any other, for a recipe that does tasks.
        let purpose = if message.is_some() && recipe.takes_task() { Purpose::Work } else { Purpose::Run };
        let task = Task::create(TaskSpec {
            project_id: project,
            description: message.map(ToString::to_string).unwrap_or_default(),
            recipe: Some(recipe.id().clone()),
            purpose,
            ..TaskSpec::new(self.tasks.ids.task(), session.clone(), TaskType::Implementation, title, now)
        })
        .with_requester(asker);
        let body = EventBody::TaskCreated { spec: Box::new(task.spec().clone()), depends_on: Vec::new() };
        (task.id(), Change::create(task, &[], Event { at: now, by: Actor::Baton, body }))
    }

    /// Delivers a message to the agent of the session's run.
    async fn say(
        &self,
        session: &SessionId,
        text: &NonBlank,
        actor: &Actor,
        beside: &BesideMessage<'_>,
    ) -> Result<Message> {
        let mut decision = self.tasks.decision(format_args!("the session {session}"));
        loop {
            let open = self.session_run(session).await?;
            let Some(run) = open.filter(|run| !is_loop(run)) else {
                return Err(self.without_run(session).await?.into());
            };
            match run.state() {
                RunState::Working => {}
                // At a gate nobody listens, and the answer may end the run: the gate first.
                RunState::AtGate { question, .. } => {
                    return Err(RunRefusal::AwaitsGate { question: question.clone() }.into());
                }
                RunState::Leaving { reason } | RunState::Exited { reason } => {
                    return Err(RunRefusal::Exited { reason: reason.clone() }.into());
                }
            }
            let (message, change) = match run.task() {
                Some(task) => self.tasks.said_to(&self.tasks.task(task).await?, text, actor).await?,
                None => self.said(&run, text, actor).await?,
            };
            // The run moved on or somebody else spoke; if it is over now, the next look says so.
            if decision.commit(change.and(beside(&message))).await? {
                return Ok(message);
            }
        }
    }
}

/// What a start is made of.
struct Start<'a> {
    session: &'a SessionId,
    recipe: &'a Recipe,
    project: Option<ProjectId>,
    message: Option<&'a NonBlank>,
    actor: &'a Actor,
}

/// A change that goes through only if nobody touched the task meanwhile.
pub(crate) fn hold(task: Versioned<Task>) -> Change {
    Change::new().put(Record::Task(Box::new(task.value)), WriteGuard::Version(task.version))
}

/// Whether the run stands for a loop, which moves it.
pub(crate) fn is_loop(run: &Run) -> bool {
    run.task().is_none() && run.recipe().as_str() == LOOP_RECIPE
}

fn is_task(record: &Record) -> bool {
    matches!(record, Record::Task(_))
}
