//! Commands on tasks, from people, policies and the engine itself.
//!
//! Every command reads the rows, lets core decide, and commits the decision in one transaction. If a row changed in
//! between, it reads and decides again.

use std::path::Path;
use std::sync::Arc;

use crate::base::error::{Entity, NotFound};
use crate::tasks::decision::Decision;
use crate::tasks::error::TaskError;
use crate::tasks::graph;
use crate::tasks::start_at::start_later;
use baton_core::ask::question_record::QuestionRecord;
use baton_core::ask::queued_answer::QueuedAnswer;
use baton_core::base::id::{ProjectId, QuestionId, SessionId, TaskId};
use baton_core::base::text::{NonBlank, RecipeId};
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::recipe::LOOP_RECIPE;
use baton_core::records::change::{Change, EdgeChange, Record, Versioned, WriteGuard};
use baton_core::records::effect::{Effect, Timer};
use baton_core::records::event::{Event, EventBody};
use baton_core::records::project::Project;
use baton_core::records::session::{PostedMessage, Session, TaskRequest};
use baton_core::recycle::plan::{Plan, PlanDraft, PlanErrors};
use baton_core::recycle::plan_record::PlanRecord;
use baton_core::task::revision::Revision;
use baton_core::task::state::{QueueName, TaskState};
use baton_core::task::{Task, TaskSpec};
use baton_core::transition::approval::Approval;
use baton_core::transition::command::{Command, CommandContext};
use baton_core::transition::refusal::CommandRefusal;
use baton_store::Store;
use baton_store::model::commit::Conflict;
use baton_store::model::event::StoredEvent;
use baton_store::model::query::{Cursor, Page, QuestionFilter, TaskFilter};
use baton_store::model::record_kind::RecordKind;
use tokio::sync::watch;

use crate::base::error::Result;
use crate::base::ids::Ids;
use crate::base::once::has_pending_receipt;
use crate::settings::recipes::RecipeLibrary;

/// Tasks of a project read at once.
const TASKS_PAGE: u32 = 500;
/// Questions of one task that go into its prompt.
const QUESTIONS_OF_TASK_MAX: u32 = 50;
/// Events read at once.
const EVENTS_PAGE: u32 = 500;

/// A task that was changed, and what the change did to others.
#[derive(Debug, Clone)]
pub struct RevisedTask {
    pub task: Task,
    /// Dependencies that others got, each as (dependent, dependency).
    pub now_waiting: Vec<(TaskId, TaskId)>,
}

#[derive(Clone)]
pub struct TaskService {
    pub store: Store,
    pub ids: Ids,
    pub recipes: RecipeLibrary,
    /// The repository that Baton was started in, if it was.
    pub root: Option<Arc<Path>>,
}

impl TaskService {
    pub fn new(store: Store, ids: Ids) -> Self {
        Self { store, ids, recipes: RecipeLibrary::built_in(), root: None }
    }

    /// With a repository's own recipes over the built-in ones.
    pub fn with_recipes(self, recipes: RecipeLibrary) -> Self {
        Self { recipes, ..self }
    }

    /// A decision that is committed when the rows it rests on are unchanged, and made again otherwise.
    pub(crate) fn decision(&self, what: impl std::fmt::Display) -> Decision<'_> {
        Decision::new(&self.store, what)
    }

    /// The context of one decision: the store's time, so that all machines agree on it.
    pub async fn context(&self, actor: Actor) -> Result<CommandContext> {
        Ok(CommandContext { now: self.store.now().await?, actor, fresh: self.ids.fresh() })
    }

    pub async fn task(&self, id: TaskId) -> Result<Versioned<Task>> {
        let found = self.store.task(id).await?;
        Ok(found.ok_or_else(|| NotFound::new(Entity::Task, id))?)
    }

    /// A task by its id, or by any beginning of it, with or without `TASK-`, that only one task has.
    pub async fn find_task(&self, text: &str) -> Result<TaskId> {
        if let Ok(id) = text.parse() {
            return Ok(id);
        }
        let prefix = if text.starts_with(TaskId::PREFIX) {
            text.to_owned()
        } else {
            format!("{}{text}", TaskId::PREFIX)
        };
        match self.store.tasks_by_prefix(&prefix, 2).await?[..] {
            [only] => Ok(only),
            [] => Err(NotFound::new(Entity::Task, text).into()),
            _ => Err(TaskError::Ambiguous { prefix: text.to_owned() }.into()),
        }
    }

    /// Carries out one command on one task.
    pub async fn apply(&self, id: TaskId, command: Command, actor: Actor) -> Result<Task> {
        match command {
            Command::Cancel { reason } => self.cancel(id, reason, actor).await,
            command => self.apply_with(id, actor, |_| Ok((command.clone(), Change::new()))).await,
        }
    }

    /// The same, where the command depends on what the task looks like, and may bring more to write with it.
    pub async fn apply_with(
        &self,
        id: TaskId,
        actor: Actor,
        decide: impl Fn(&Task) -> Result<(Command, Change)> + Send + Sync,
    ) -> Result<Task> {
        let mut decision = self.decision(id);
        loop {
            let stored = self.task(id).await?;
            let context = self.context(actor.clone()).await?;
            let (command, extra) = decide(&stored.value)?;
            let transition = stored.value.apply(command, &context)?;
            let task = transition.task.clone();
            if decision.commit(Change::transition(stored.version, transition).and(extra)).await? {
                return Ok(task);
            }
        }
    }

    /// Changes what a task says, if it still says what the person saw when they began.
    pub async fn revise(
        &self,
        id: TaskId,
        revision: Revision,
        seen: &Revision,
        actor: Actor,
    ) -> Result<RevisedTask> {
        let kept = self.edges_kept(id, &revision).await?;
        let now = self.store.now().await?;
        let decided = self.apply_with(id, actor.clone(), |task| {
            if !seen.describes(task.spec()) {
                return Err(TaskError::EditedMeanwhile { task: id }.into());
            }
            // Added before any is removed, so that nothing is ready in between.
            let added = revision.after.iter().map(|on| EdgeChange::Add { task: id, on: *on });
            let also = kept.iter().map(|(task, on)| EdgeChange::Add { task: *task, on: *on });
            let removed = revision.not_after.iter().map(|on| EdgeChange::Remove { task: id, on: *on });
            let edges = added.chain(also).chain(removed).collect();
            let events = kept.iter().map(|(task, on)| {
                let revision = Revision { after: vec![*on], ..Revision::default() };
                Event { at: now, by: actor.clone(), body: EventBody::TaskRevised { task: *task, revision } }
            });
            let beside = Change { edges, events: events.collect(), ..Change::new() };
            Ok((Command::Revise { revision: revision.clone() }, beside))
        });
        Ok(RevisedTask { task: decided.await?, now_waiting: kept })
    }

    /// What others have to wait on instead. A task that starts on accepted work lands after it, which is as good as waiting.
    async fn edges_kept(&self, id: TaskId, revision: &Revision) -> Result<Vec<(TaskId, TaskId)>> {
        if revision.not_after.is_empty() || !revision.starts_on.is_empty() {
            return Ok(Vec::new());
        }
        graph::edges_kept(self, id, &revision.not_after).await
    }

    /// Writes the receipt of the request at hand, if it has a key, before something is done that the store knows nothing of: a
    /// repeat does not do it again.
    pub async fn book_call(&self) -> Result<()> {
        if has_pending_receipt() { self.write(Change::new()).await } else { Ok(()) }
    }

    /// A task and what it waits on. An id that happens to be taken is drawn again.
    pub async fn add_task(
        &self,
        depends_on: &[TaskId],
        actor: Actor,
        spec: impl Fn(TaskId, Timestamp) -> TaskSpec + Send + Sync,
    ) -> Result<Task> {
        self.check_may_add(&actor).await?;
        let asker = self.asker(&actor).await?;
        let mut decision = self.decision(self.ids.task());
        loop {
            let now = self.store.now().await?;
            let spec = TaskSpec { added_by: actor.attempt(), ..spec(self.ids.task(), now) };
            let (task, timer) = start_later(spec, now);
            let task = task.with_requester(asker.clone());
            refuse_loop(task.spec().recipe.as_ref())?;
            let body = EventBody::TaskCreated {
                spec: Box::new(task.spec().clone()),
                depends_on: depends_on.to_vec(),
            };
            let event = Event { at: now, by: actor.clone(), body };
            let mut change = Change::create(task.clone(), depends_on, event);
            change.effects.extend(timer);
            if decision.commit(change).await? {
                return Ok(task);
            }
        }
    }

    /// A chat message: the session, the message and its task exist together, or not at all (I3).
    pub async fn post(
        &self,
        session: SessionId,
        project: Option<&Project>,
        text: NonBlank,
        actor: Actor,
        request: impl Fn(TaskId) -> TaskRequest + Send + Sync,
    ) -> Result<PostedMessage> {
        self.post_with(session, project, text, actor, request, |_| Change::new()).await
    }

    /// The same, with what else is to be written in the same transaction.
    pub(crate) async fn post_with(
        &self,
        session: SessionId,
        project: Option<&Project>,
        text: NonBlank,
        actor: Actor,
        request: impl Fn(TaskId) -> TaskRequest + Send + Sync,
        beside: impl Fn(&PostedMessage) -> Change + Send + Sync,
    ) -> Result<PostedMessage> {
        let mut decision = self.decision(format_args!("the session {session}"));
        loop {
            let now = self.store.now().await?;
            let known = self.store.session(&session).await?;
            let version = known.as_ref().map(|stored| stored.version);
            let project = project.map(|project| project.id);
            let current =
                known.map_or_else(|| Session::open(session.clone(), project, now), |stored| stored.value);
            if project.is_some() && !self.is_same_place(current.project_id, project).await? {
                return Err(TaskError::OtherProject { session, project: current.project_id }.into());
            }
            let earlier = if actor.is_human() { self.message_under_way(&session).await? } else { None };
            let posted = current.post(text.clone(), request(self.ids.task()), &actor, now).behind(earlier);
            refuse_loop(posted.task.spec().recipe.as_ref())?;
            let mut change = Change::post_message(version, posted.clone()).and(beside(&posted));
            if earlier.is_some() {
                let timer = Timer::TaskFollows(posted.task.id());
                change.effects.push(Effect::ScheduleTimer { timer, at: now });
            }
            match decision.try_commit(change).await? {
                None => return Ok(posted),
                // The key is somebody else's: deciding again cannot change that.
                Some(conflict @ Conflict::Moved { kind: RecordKind::Receipt, .. }) => {
                    return Err(conflict.into());
                }
                Some(_) => decision.again().await?,
            }
        }
    }

    /// Keeps a plan for a breakdown. A human's plan also puts the breakdown up for approval.
    pub async fn submit_plan(&self, breakdown: TaskId, draft: PlanDraft, actor: Actor) -> Result<Plan> {
        let plan = Plan::check(draft).map_err(|faults| TaskError::InvalidPlan(PlanErrors(faults)))?;
        let now = self.store.now().await?;
        let record = PlanRecord {
            task_id: breakdown,
            plan: plan.clone(),
            submitted_by: actor.clone(),
            submitted_at: now,
        };
        let body = EventBody::PlanSubmitted { task: breakdown, plan: Box::new(plan.clone()) };
        let mut change = Change::new().put(Record::Plan(record), WriteGuard::Owned);
        change.events.push(Event { at: now, by: actor.clone(), body });
        let stored = self.task(breakdown).await?;
        if !stored.value.is_breakdown() {
            return Err(CommandRefusal::NotBreakdown { task: breakdown }.into());
        }
        if actor.is_human() && matches!(stored.value.state(), TaskState::Breakdown { .. }) {
            self.apply_with(breakdown, actor, |_| Ok((Command::SubmitPlan, change.clone()))).await?;
        } else {
            self.write(change).await?;
        }
        Ok(plan)
    }

    /// Makes a breakdown's plan real, once. Returns the ids of the subtasks.
    pub async fn approve(&self, breakdown: TaskId, actor: Actor) -> Result<Vec<TaskId>> {
        let mut decision = self.decision(breakdown);
        loop {
            let stored = self.task(breakdown).await?;
            let missing = || NotFound::new(Entity::Plan, breakdown);
            let plan = self.store.plan(breakdown).await?.ok_or_else(missing)?.value.plan;
            let replaced = match stored.value.replaces() {
                Some(replaced) => Some(self.task(replaced).await?),
                None => None,
            };
            let subtask_ids: Vec<TaskId> = plan.items().iter().map(|_| self.ids.task()).collect();
            let approval = Approval {
                breakdown: &stored,
                plan: &plan,
                replaced: replaced.as_ref(),
                subtask_ids: &subtask_ids,
            };
            let change = approval.approve(&self.context(actor.clone()).await?)?;
            if decision.commit(change).await? {
                return Ok(subtask_ids);
            }
        }
    }

    /// What could be claimed now, in claim order.
    pub async fn ready(&self, limit: u32) -> Result<Vec<Versioned<Task>>> {
        Ok(self.store.ready(limit).await?)
    }

    /// A page of tasks, oldest first.
    pub async fn list(
        &self,
        queue: Option<QueueName>,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<Versioned<Task>>> {
        let cursor = cursor.map(str::parse::<Cursor>).transpose()?;
        let filter = TaskFilter { queue, ..TaskFilter::default() };
        Ok(self.store.tasks(&filter, cursor, limit).await?)
    }

    /// Every question that waits for an answer, oldest first.
    pub async fn pending_questions(&self, limit: u32) -> Result<Vec<QuestionRecord>> {
        Ok(self.questions_page(None, limit).await?.items.into_iter().map(|stored| stored.value).collect())
    }

    /// A page of them.
    pub async fn questions_page(
        &self,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<Versioned<QuestionRecord>>> {
        let cursor = cursor.map(str::parse::<Cursor>).transpose()?;
        Ok(self.store.questions(&QuestionFilter::pending(), cursor, limit).await?)
    }

    /// What a task asked so far, oldest first.
    pub async fn questions_of(&self, task: TaskId) -> Result<Vec<QuestionRecord>> {
        let filter = QuestionFilter { task: Some(task), ..QuestionFilter::default() };
        let page = self.store.questions(&filter, None, QUESTIONS_OF_TASK_MAX).await?;
        Ok(page.items.into_iter().map(|stored| stored.value).collect())
    }

    pub async fn question(&self, id: QuestionId) -> Result<Option<QuestionRecord>> {
        Ok(self.store.question(id).await?.map(|stored| stored.value))
    }

    /// The answers laid down for questions of a session still to come.
    pub async fn queued_answers(&self, session: &SessionId) -> Result<Vec<QueuedAnswer>> {
        Ok(self.store.session(session).await?.map(|stored| stored.value.queued).unwrap_or_default())
    }

    /// Where the history ends now.
    pub async fn last_event(&self) -> Result<u64> {
        // The clock comes from the same place as the news; asking it first brings the news up to date.
        self.store.now().await?;
        Ok(*self.store.subscribe().borrow())
    }

    pub async fn project(&self, id: ProjectId) -> Result<Versioned<Project>> {
        let found = self.store.project(id).await?;
        Ok(found.ok_or_else(|| NotFound::new(Entity::Project, id))?)
    }

    pub async fn has_project(&self, id: ProjectId) -> Result<bool> {
        Ok(self.store.project(id).await?.is_some())
    }

    /// All tasks of a project, oldest first.
    pub async fn project_tasks(&self, project: ProjectId) -> Result<Vec<Task>> {
        let filter = TaskFilter { project: Some(project), ..TaskFilter::default() };
        let mut tasks = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.store.tasks(&filter, cursor, TASKS_PAGE).await?;
            tasks.extend(page.items.into_iter().map(|stored| stored.value));
            cursor = page.next;
            if cursor.is_none() {
                return Ok(tasks);
            }
        }
    }

    /// The next piece of the history.
    pub async fn events_after(&self, seq: u64) -> Result<Vec<StoredEvent>> {
        Ok(self.store.events_after(seq, EVENTS_PAGE).await?)
    }

    /// Changes soon after every commit, by whomever.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.store.subscribe()
    }

    /// Writes a change that was made elsewhere, whole or not at all.
    pub async fn write(&self, change: Change) -> Result<()> {
        match self.decision("a change").try_commit(change).await? {
            None => Ok(()),
            Some(conflict) => Err(conflict.into()),
        }
    }

    pub async fn plan(&self, breakdown: TaskId) -> Result<Option<Plan>> {
        Ok(self.store.plan(breakdown).await?.map(|stored| stored.value.plan))
    }

    /// Lets go of the store, once everything is written.
    pub async fn close(&self) -> Result<()> {
        Ok(self.store.close().await?)
    }
}

/// The loop is no way to do one task: it takes tasks from the queue itself.
pub(crate) fn refuse_loop(recipe: Option<&RecipeId>) -> Result<()> {
    match recipe {
        Some(recipe) if recipe.as_str() == LOOP_RECIPE => {
            Err(TaskError::LoopAsTaskRecipe { recipe: recipe.clone() }.into())
        }
        Some(_) | None => Ok(()),
    }
}
