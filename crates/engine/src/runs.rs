//! Runs at the desk: a person starts a recipe on a session, speaks to it, and ends it.
//!
//! Every run has a task, so that leases, worktrees, evidence and questions hold for it as for everything else. A
//! recipe that takes its work from the queue is bound to the next ready task; otherwise a task is made for it.

use baton_core::actor::Actor;
use baton_core::answer_source::AnsweredBy;
use baton_core::change::{Change, Guard, Record, Stored};
use baton_core::command::Command;
use baton_core::effect::{Effect, Notice};
use baton_core::event::{Event, EventBody};
use baton_core::exit_reason::ExitReason;
use baton_core::id::{ProjectId, SessionId, TaskId};
use baton_core::priority::Priority;
use baton_core::recipe::Recipe;
use baton_core::recycle::Depth;
use baton_core::run::{Advance, Origin, Run, RunRefusal, RunState};
use baton_core::session::{Message, Session};
use baton_core::state::TaskState;
use baton_core::task::{Purpose, Task, TaskSpec};
use baton_core::task_type::TaskType;
use baton_core::text::{NonBlank, OutcomeName, RecipeId, Role};
use baton_core::time::Timestamp;
use baton_store::Store;
use baton_store::commit::{Commit, Conflict};

use crate::desk::{Answer, DECISIONS_MAX, Desk};
use crate::error::EngineError;

/// Ready tasks looked at to find one for a run.
const READY_MAX: u32 = 500;

/// What a question is answered with when its run is stopped instead.
const STOPPED: &str = "The recipe was stopped; no answer is needed any more.";

impl<S: Store> Desk<S> {
    /// The recipe of this id, or an error that names the nearest.
    pub fn recipe(&self, id: &RecipeId) -> Answer<std::sync::Arc<Recipe>> {
        self.recipes.get(id).ok_or_else(|| {
            let near = self.recipes.nearest(id.as_str());
            let hint = near.map(|near| format!(" (did you mean {near}?)")).unwrap_or_default();
            EngineError::NotFound { kind: "recipe", key: format!("{id}{hint}") }
        })
    }

    /// The open run of a session: the one a person started on it, else the one a task of it runs by name.
    pub async fn session_run(&self, session: &SessionId) -> Answer<Option<Run>> {
        Ok(self.open_session_run(session).await?.map(|stored| stored.value))
    }

    async fn open_session_run(&self, session: &SessionId) -> Answer<Option<Stored<Run>>> {
        let mut open = self.store.open_runs().await?;
        open.retain(|stored| stored.value.session() == session && stored.value.origin() != Origin::Default);
        let started = open.iter().position(|stored| stored.value.origin() == Origin::Session);
        Ok(match started {
            Some(index) => Some(open.swap_remove(index)),
            // Of two tasks' runs neither can be meant alone.
            None if open.len() == 1 => open.pop(),
            None => None,
        })
    }

    /// The open run that works on a task.
    pub async fn task_run(&self, task: TaskId) -> Answer<Option<Stored<Run>>> {
        let open = self.store.open_runs().await?;
        Ok(open.into_iter().find(|stored| stored.value.task() == Some(task)))
    }

    /// Starts a recipe on a session. A session runs one at a time.
    pub async fn start_run(
        &self,
        session: &SessionId,
        recipe: &RecipeId,
        project: Option<ProjectId>,
        message: Option<NonBlank>,
        actor: Actor,
    ) -> Answer<Run> {
        let recipe = self.recipe(recipe)?;
        for _ in 0..DECISIONS_MAX {
            if let Some(open) = self.open_session_run(session).await?.map(|stored| stored.value)
                && open.origin() == Origin::Session
            {
                let (recipe, run) = (open.recipe().clone(), open.id());
                return Err(EngineError::RunOpen { session: session.clone(), recipe, run });
            }
            let start = Start { session, recipe: &recipe, project, message: message.as_ref(), actor: &actor };
            let (run, change) = self.start(&start).await?;
            match self.store.commit(change).await? {
                Commit::Written { .. } => return Ok(run),
                // Somebody claimed the task, spoke on the session or started a run meanwhile.
                Commit::Conflict(Conflict::Moved { .. }) => {}
                Commit::Conflict(conflict) => return Err(EngineError::Dependency(conflict)),
            }
        }
        Err(EngineError::Runner { detail: format!("the session {session} kept changing") })
    }

    async fn start(&self, start: &Start<'_>) -> Answer<(Run, Change)> {
        let now = self.store.now().await?;
        let (mut session, guard, mut events) = self.opened(start.session, start.project, now).await?;
        let project = start.project.or(session.project_id);
        let said_before = session.message_count;
        let bound = self.next_task(start.recipe, project).await?;
        let (task, mut change) = match bound {
            Some(ready) => (ready.value.id(), hold(ready)),
            None => self.carrier(start.recipe, start.session, project, start.message, now),
        };
        if let Some(text) = start.message {
            session.message_count += 1;
            let message = message(&session, text, start.actor, Some(task), now);
            change = change.put(Record::Message(message), Guard::New);
            events.push(posted(start.session, text, Some(task)));
        }
        // What is in the description of a task made for the run need not be told again.
        let is_told = change.puts.iter().any(|put| put.guard == Guard::New && is_task(&put.record));
        let heard = if is_told { session.message_count } else { said_before };
        let run = Run::start(self.ids.run(), start.recipe, start.session.clone(), Some(task));
        let run = run.past_messages(heard);
        change =
            change.put(Record::Session(session), guard).put(Record::Run(Box::new(run.clone())), Guard::New);
        events.extend(started(&run, start.recipe));
        stamp(&mut change, events, now, start.actor);
        Ok((run, change))
    }

    /// The session as it is, or a new one, and what has to be said about that.
    pub(crate) async fn opened(
        &self,
        id: &SessionId,
        project: Option<ProjectId>,
        now: Timestamp,
    ) -> Answer<(Session, Guard, Vec<EventBody>)> {
        Ok(match self.store.session(id).await? {
            Some(stored) => (stored.value, Guard::Version(stored.version), Vec::new()),
            None => {
                let opened = EventBody::SessionOpened { session: id.clone(), project };
                (Session::open(id.clone(), project, now), Guard::New, vec![opened])
            }
        })
    }

    /// The next ready task a run of this recipe may work on, if the recipe takes one.
    pub(crate) async fn next_task(
        &self,
        recipe: &Recipe,
        project: Option<ProjectId>,
    ) -> Answer<Option<Stored<Task>>> {
        if !recipe.takes_task() {
            return Ok(None);
        }
        let taken: Vec<TaskId> =
            self.store.open_runs().await?.iter().filter_map(|stored| stored.value.task()).collect();
        let fits = |task: &Task| {
            let spec = task.spec();
            spec.purpose == Purpose::Work
                && spec.project_id == project
                && spec.role == Role::implement()
                && spec.recipe.as_ref().is_none_or(|named| named == recipe.id())
                && !taken.contains(&spec.id)
        };
        Ok(self.store.ready(READY_MAX).await?.into_iter().find(|stored| fits(&stored.value)))
    }

    /// A task made for a run that has none, and the change that makes it.
    pub(crate) fn carrier(
        &self,
        recipe: &Recipe,
        session: &SessionId,
        project: Option<ProjectId>,
        message: Option<&NonBlank>,
        now: Timestamp,
    ) -> (TaskId, Change) {
        let task = Task::create(TaskSpec {
            id: self.ids.task(),
            session_id: session.clone(),
            project_id: project,
            task_type: TaskType::Implementation,
            title: recipe.label().clone(),
            description: message.map(ToString::to_string).unwrap_or_default(),
            priority: Priority::default(),
            role: Role::implement(),
            recipe: Some(recipe.id().clone()),
            purpose: Purpose::Run,
            depth: Depth::Original,
            created_at: now,
        });
        let body = EventBody::TaskCreated { spec: Box::new(task.spec().clone()), depends_on: Vec::new() };
        (task.id(), Change::create(task, &[], Event { at: now, by: Actor::Baton, body }))
    }

    /// Ends the session's run because a person wants it to. Work that is there is kept: where an agent was at work,
    /// its processes are ended and its task goes where the evidence says.
    pub async fn exit_run(&self, session: &SessionId, actor: Actor) -> Answer<Run> {
        for _ in 0..DECISIONS_MAX {
            let open = self.open_session_run(session).await?;
            let open = open.ok_or_else(|| EngineError::NoRun { session: session.clone() })?;
            let (run, change) = self.exit(&open, &actor).await?;
            match self.store.commit(change).await? {
                Commit::Written { .. } => return Ok(run),
                Commit::Conflict(Conflict::Moved { .. }) => {}
                Commit::Conflict(conflict) => return Err(EngineError::Dependency(conflict)),
            }
        }
        Err(EngineError::Runner { detail: format!("the session {session} kept changing") })
    }

    async fn exit(&self, open: &Stored<Run>, actor: &Actor) -> Answer<(Run, Change)> {
        let reason = ExitReason::user_requested();
        let context = self.context(actor.clone()).await?;
        let task = match open.value.task() {
            Some(task) => Some(self.task(task).await?),
            None => None,
        };
        let (run, mut change) = match task.as_ref().map(|task| (task, task.value.state())) {
            Some((_, TaskState::Claimed { attempt })) => {
                let mut change = Change::new();
                change.effects.push(Effect::StopAgent { attempt: attempt.id });
                (open.value.leaving(reason)?, change)
            }
            Some((task, TaskState::AwaitingResponse { .. } | TaskState::Blocked { .. })) => {
                (open.value.leaving(reason)?, self.release(task, actor).await?)
            }
            Some((task, TaskState::Incoming | TaskState::NeedsContinuation { .. }))
                if task.value.ledger().started > 0 =>
            {
                (open.value.leaving(reason)?, Change::new())
            }
            // Nobody has begun: the queue's task stays in the queue, and one made for this run is not needed.
            Some((task, TaskState::Incoming)) if task.value.spec().purpose == Purpose::Run => {
                let reason = NonBlank::new(STOPPED).ok();
                let cancelled = task.value.apply(Command::Cancel { reason }, &context)?;
                let run = open.value.exit(ExitReason::user_requested())?.0;
                (run, Change::transition(task.version, cancelled))
            }
            Some(_) | None => (open.value.exit(reason)?.0, Change::new()),
        };
        let events = exited(&run, None);
        if !events.is_empty() {
            change.effects.push(Effect::Notify { about: Notice::RunExited(run.id()) });
        }
        change = change.put(Record::Run(Box::new(run.clone())), Guard::Version(open.version));
        stamp(&mut change, events, context.now, actor);
        Ok((run, change))
    }

    /// Lets a waiting task go back to the queue, where it is settled instead of worked on.
    async fn release(&self, task: &Stored<Task>, actor: &Actor) -> Answer<Change> {
        let (Some(question), Ok(answer)) = (task.value.state().pending_question(), NonBlank::new(STOPPED))
        else {
            return Ok(Change::new());
        };
        let reply = Command::Reply {
            question: question.id,
            answer,
            answered_by: AnsweredBy::human(actor.to_string()),
        };
        let transition = task.value.apply(reply, &self.context(actor.clone()).await?)?;
        Ok(Change::transition(task.version, transition))
    }

    /// Something the human says to the session's run. The agent gets it before the run goes on.
    pub async fn say(&self, session: &SessionId, text: NonBlank, actor: Actor) -> Answer<Message> {
        for _ in 0..DECISIONS_MAX {
            let open = self.session_run(session).await?;
            let run = open.ok_or_else(|| EngineError::NoRun { session: session.clone() })?;
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
            let now = self.store.now().await?;
            let (mut of, guard, mut events) = self.opened(session, None, now).await?;
            of.message_count += 1;
            let message = message(&of, &text, &actor, run.task(), now);
            events.push(posted(session, &text, run.task()));
            let mut change = Change::new()
                .put(Record::Session(of), guard)
                .put(Record::Message(message.clone()), Guard::New);
            stamp(&mut change, events, now, &actor);
            match self.store.commit(change).await? {
                Commit::Written { .. } => return Ok(message),
                // The run moved on or somebody else spoke; if it is over now, the next look says so.
                Commit::Conflict(Conflict::Moved { .. }) => {}
                Commit::Conflict(conflict) => return Err(EngineError::Dependency(conflict)),
            }
        }
        Err(EngineError::Runner { detail: format!("the session {session} kept changing") })
    }

    /// Ends runs whose task came to an end without them: it was cancelled, or nobody answered in time.
    pub async fn end_runs_without_work(&self) -> Answer<Vec<Run>> {
        let mut ended = Vec::new();
        for open in self.store.open_runs().await? {
            let Some(task) = open.value.task() else { continue };
            let state = self.task(task).await?.value.state().clone();
            if goes_on(&state) {
                continue;
            }
            let reason = match state {
                TaskState::Failed { .. } => ExitReason::error(),
                _ => ExitReason::user_requested(),
            };
            let (run, _) = open.value.exit(reason)?;
            let error = match &state {
                TaskState::Failed { error } => Some(error.clone()),
                _ => None,
            };
            let mut change =
                Change::new().put(Record::Run(Box::new(run.clone())), Guard::Version(open.version));
            let events = exited(&run, error);
            if !events.is_empty() {
                change.effects.push(Effect::Notify { about: Notice::RunExited(run.id()) });
            }
            stamp(&mut change, events, self.store.now().await?, &Actor::Baton);
            // One that moved meanwhile is looked at again after the next change.
            if let Commit::Written { .. } = self.store.commit(change).await? {
                ended.push(run);
            }
        }
        Ok(ended)
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

/// Whether a task in this state still has use for its run.
pub(crate) fn goes_on(state: &TaskState) -> bool {
    match state {
        TaskState::Incoming
        | TaskState::Breakdown { .. }
        | TaskState::Claimed { .. }
        | TaskState::NeedsContinuation { .. }
        | TaskState::AwaitingResponse { .. }
        | TaskState::Blocked { .. } => true,
        TaskState::Provisional(_)
        | TaskState::Recycled { .. }
        | TaskState::Done { .. }
        | TaskState::Failed { .. }
        | TaskState::Cancelled { .. } => false,
    }
}

/// A change that goes through only if nobody touched the task meanwhile.
pub(crate) fn hold(task: Stored<Task>) -> Change {
    Change::new().put(Record::Task(Box::new(task.value)), Guard::Version(task.version))
}

fn is_task(record: &Record) -> bool {
    matches!(record, Record::Task(_))
}

fn message(
    session: &Session,
    text: &NonBlank,
    author: &Actor,
    task: Option<TaskId>,
    at: Timestamp,
) -> Message {
    Message {
        session_id: session.id.clone(),
        number: session.message_count,
        author: author.clone(),
        text: text.clone(),
        at,
        task_id: task,
    }
}

fn posted(session: &SessionId, text: &NonBlank, task: Option<TaskId>) -> EventBody {
    EventBody::MessagePosted { session: session.clone(), text: text.clone(), task }
}

pub(crate) fn stamp(change: &mut Change, bodies: Vec<EventBody>, at: Timestamp, by: &Actor) {
    change.events.extend(bodies.into_iter().map(|body| Event { at, by: by.clone(), body }));
}

/// What is told of a new run. A run nobody asked for says nothing, here and below.
pub(crate) fn started(run: &Run, recipe: &Recipe) -> Vec<EventBody> {
    if run.origin() == Origin::Default {
        return Vec::new();
    }
    let begun = EventBody::RunStarted {
        run: run.id(),
        recipe: run.recipe().clone(),
        label: recipe.label().clone(),
        session: run.session().clone(),
        task: run.task(),
        step: run.step().clone(),
        step_count: run.total_steps(),
    };
    vec![begun, step_started(run)]
}

/// What is told of a move of a run. `run` is the run after it.
pub(crate) fn moved(run: &Run, advance: &Advance, outcome: Option<&OutcomeName>) -> Vec<EventBody> {
    if run.origin() == Origin::Default {
        return Vec::new();
    }
    match (advance, outcome) {
        (Advance::EnterStep { from, to, .. } | Advance::Restart { from, to }, Some(outcome)) => {
            let left = EventBody::StepLeft {
                run: run.id(),
                session: run.session().clone(),
                from: from.clone(),
                to: to.clone(),
                outcome: outcome.clone(),
            };
            vec![left, step_started(run)]
        }
        (Advance::EnterStep { .. } | Advance::Restart { .. } | Advance::StayInPhase, _) => {
            vec![step_started(run)]
        }
        (Advance::Remind { error, .. }, _) => NonBlank::new(error.clone())
            .map(|error| EventBody::OutcomeRefused {
                run: run.id(),
                session: run.session().clone(),
                step: run.step().clone(),
                error,
            })
            .into_iter()
            .collect(),
        // The question tells of the gate, and the exit of itself.
        (Advance::AskGate { .. } | Advance::Exit { .. }, _) => Vec::new(),
    }
}

/// What is told of a run that has exited; nothing of one that has not.
pub(crate) fn exited(run: &Run, error: Option<NonBlank>) -> Vec<EventBody> {
    match run.state() {
        RunState::Exited { reason } if run.origin() != Origin::Default => vec![EventBody::RunExited {
            run: run.id(),
            session: run.session().clone(),
            reason: reason.clone(),
            error,
        }],
        RunState::Exited { .. } | RunState::Working | RunState::AtGate { .. } | RunState::Leaving { .. } => {
            Vec::new()
        }
    }
}

fn step_started(run: &Run) -> EventBody {
    EventBody::StepStarted {
        run: run.id(),
        session: run.session().clone(),
        step: run.step().clone(),
        step_count: run.total_steps(),
    }
}
