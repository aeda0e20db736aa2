//! The start of a loop, from any surface: the command `baton loop`, or its recipe started by any other way.

use crate::runs::error::RunError;
use baton_core::base::id::{ProjectId, SessionId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::{NonBlank, Role};
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::phase::handoff::NamedTask;
use baton_core::phase::phase_loop::PhaseLoop;
use baton_core::phase::work::{ExecuteWork, PhaseWork, PlanWork};
use baton_core::phase::{Phase, PhaseStart};
use baton_core::recipe::Recipe;
use baton_core::recipe::run::{GateAnswer, Run, RunOrigin};
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};
use baton_core::records::event::{Event, EventBody};
use baton_core::schedule::ProjectScope;
use baton_core::task::state::{QueueName, TaskState};
use baton_core::task::{Task, TaskSpec};
use baton_store::model::query::TaskFilter;

use crate::base::error::Result;
use crate::runs::loops::Loops;
use crate::runs::loops::commands::{loop_recipe, named, passed_gate};
use crate::runs::loops::rows::{handed_off, put};
use crate::runs::{message as message_row, posted, stamp, started};

/// Open subtasks an execute phase takes up from earlier plans.
const LEFT_OVER_MAX: u32 = 50;
/// Characters of a message that make the title of its task.
const TITLE_CHARS_MAX: usize = 100;

/// What a loop is started with.
pub struct LoopStart<'a> {
    pub session: &'a SessionId,
    pub at: PhaseStart,
    /// Where it takes its tasks from; none for wherever.
    pub project: Option<ProjectId>,
    /// What is to be planned, instead of the queue's next task.
    pub message: Option<&'a NonBlank>,
}

impl Loops {
    /// Starts the session's loop at a phase. A session runs one recipe at a time, and the loop is one.
    pub async fn start_loop(&self, start: &LoopStart<'_>, actor: &Actor) -> Result<Run> {
        let recipe = self.tasks.recipes.find(&loop_recipe()?)?;
        let mut decision = self.tasks.decision(format_args!("the loop of {}", start.session));
        loop {
            if let Some(open) = self.runs.session_run(start.session).await?
                && open.origin() == RunOrigin::Session
            {
                let (session, recipe, run) = (start.session.clone(), open.recipe().clone(), open.id());
                return Err(RunError::AlreadyRunning { session, recipe, run }.into());
            }
            if start.message.is_some() {
                self.runs.check_is_at_rest(start.session).await?;
            }
            let (run, change) = self.loop_started(start, &recipe, actor).await?;
            if decision.commit(change).await? {
                return Ok(run);
            }
        }
    }

    /// The row of the loop, its run, and the session it runs on, which keeps others from starting there too.
    async fn loop_started(
        &self,
        start: &LoopStart<'_>,
        recipe: &Recipe,
        actor: &Actor,
    ) -> Result<(Run, Change)> {
        let now = self.tasks.store.now().await?;
        let stored = self.phase_loop(start.session).await?;
        let version = stored.as_ref().map(|stored| stored.version);
        let current = stored.map_or_else(|| PhaseLoop::new(start.session.clone()), |stored| stored.value);
        let handed = current.start(start.at, self.fresh_cycle())?;
        let (mut session, guard, mut events) = self.runs.opened(start.session, start.project, now).await?;
        let mut change = Change::new();
        let mut next = handed.next.clone();
        match (start.at, start.message) {
            (PhaseStart::Plan, Some(message)) => {
                let project = match start.project.or(session.project_id) {
                    Some(project) => Some(project),
                    None => self.tasks.home_project().await?,
                };
                let (subject, made) = self.subject(start.session, project, message, now, actor)?;
                session.message_count += 1;
                let said = message_row(&session, message, actor, Some(subject.id), now);
                events.push(posted(start.session, message, Some(subject.id)));
                change = made.put(Record::Message(said), WriteGuard::New);
                next = next.at_work(PhaseWork::Plan(PlanWork::on(subject)), None);
            }
            (PhaseStart::Execute, _) => {
                let work = ExecuteWork::new(self.left_over(start.session).await?);
                next = next.at_work(PhaseWork::Execute(work), None);
            }
            (PhaseStart::Plan | PhaseStart::Review, _) => {}
        }
        let projects = start.project.or(session.project_id);
        let run = Run::start(self.tasks.ids.run(), recipe, start.session.clone(), None);
        let mut run = run.keep_recipe(recipe).begin_at(now);
        if start.at == PhaseStart::Plan && start.message.is_none() {
            // Started on the queue. With a goal it owns what it plans and discovers, and nothing else.
            run = run.own_queue(self.scope(projects).await?);
            if let Some(queue) = run.owned_queue() {
                change = change.and(self.runs.released_queue(&queue, actor).await?.1);
            }
        }
        let run = entered(run, recipe, start.at)?;
        events.push(handed_off(&handed));
        events.extend(started(&run, recipe));
        change = put(&next, version)
            .put(Record::Session(session), guard)
            .put(Record::Run(Box::new(run.clone())), WriteGuard::New)
            .and(change);
        stamp(&mut change, events, now, actor);
        Ok((run, change))
    }

    /// Whose tasks a loop takes: those of its session's project, or all.
    pub(crate) async fn scope(&self, project: Option<ProjectId>) -> Result<ProjectScope> {
        match project {
            Some(_) => self.tasks.scope_of(project).await,
            None => Ok(ProjectScope::Any),
        }
    }

    /// A message becomes the task to plan: its first line the title, all of it the description.
    fn subject(
        &self,
        session: &SessionId,
        project: Option<ProjectId>,
        message: &NonBlank,
        now: Timestamp,
        actor: &Actor,
    ) -> Result<(NamedTask, Change)> {
        let title = title_of(message)?;
        let task = Task::create_held(TaskSpec {
            project_id: project,
            description: message.to_string(),
            ..TaskSpec::new(self.tasks.ids.task(), session.clone(), TaskType::Implementation, title, now)
        })
        .with_requester(actor.person());
        let subject = named(&task);
        let body = EventBody::TaskCreated { spec: Box::new(task.spec().clone()), depends_on: Vec::new() };
        Ok((subject, Change::create(task, &[], Event { at: now, by: actor.clone(), body })))
    }

    /// Tasks of the session that are held and could start: what its loops discovered, or a person stopped.
    pub(crate) async fn held_for(&self, session: &SessionId) -> Result<Vec<Versioned<Task>>> {
        let filter = TaskFilter {
            queue: Some(QueueName::Incoming),
            session: Some(session.clone()),
            ..TaskFilter::default()
        };
        let mut held = Vec::new();
        for task in self.tasks.store.tasks(&filter, None, LEFT_OVER_MAX).await?.items {
            let edges = self.tasks.store.dependencies(task.value.id()).await?;
            if *task.value.state() == TaskState::Held && edges.iter().all(|edge| edge.is_met) {
                held.push(task);
            }
        }
        Ok(held)
    }

    /// Subtasks of earlier plans that nobody has let run yet.
    async fn left_over(&self, session: &SessionId) -> Result<Vec<(NamedTask, String)>> {
        let filter = TaskFilter {
            queue: Some(QueueName::Incoming),
            session: Some(session.clone()),
            ..TaskFilter::default()
        };
        let [_, execute, _] = Role::loop_phases();
        let is_left = |task: &Task| *task.state() == TaskState::Held && task.spec().role == execute;
        let tasks = self.tasks.store.tasks(&filter, None, LEFT_OVER_MAX).await?.items;
        let open = tasks.into_iter().map(|stored| stored.value).filter(is_left);
        Ok(open.map(|task| (named(&task), task.spec().description.clone())).collect())
    }
}

/// The first line of a text, as a title.
pub(crate) fn title_of(text: &NonBlank) -> Result<NonBlank> {
    let line = text.as_str().trim().lines().next().unwrap_or_default();
    Ok(NonBlank::new(line.chars().take(TITLE_CHARS_MAX).collect::<String>())?)
}

/// The run as it is when its loop starts at this phase.
fn entered(mut run: Run, recipe: &Recipe, at: PhaseStart) -> Result<Run> {
    let passed: &[Phase] = match at {
        PhaseStart::Plan => &[],
        PhaseStart::Execute => &[Phase::Plan],
        PhaseStart::Review => &[Phase::Plan, Phase::Execute],
    };
    for _ in passed {
        run = passed_gate(&run, recipe, GateAnswer::Yes)?.0;
    }
    Ok(run.begin_here())
}
