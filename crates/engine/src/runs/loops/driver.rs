//! Advances every open loop step by step, until each waits for its human or for an agent.
//!
//! The driver keeps no state between rounds: a loop is one row. It can be killed at any moment, and the next driver
//! continues from the row.

use std::collections::BTreeSet;
use std::time::Duration;

use baton_core::ask::question::QuestionDraft;
use baton_core::base::id::{SessionId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::{NonBlank, Role};
use baton_core::landing::lane::{landing_delay, waits_for_person};
use baton_core::people::actor::Actor;
use baton_core::phase::phase_loop::PhaseLoop;
use baton_core::phase::subtask::{SubtaskResult, SubtaskState};
use baton_core::phase::work::{ExecuteWork, NextAction, PhaseWork, QuestionTopic};
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::records::change::{Change, Versioned};
use baton_core::records::event::{Event, EventBody};
use baton_core::schedule::OwnedQueue;
use baton_core::task::state::{QueueName, TaskState};
use baton_core::task::{Task, TaskSpec};
use baton_core::transition::command::Command;
use baton_core::transition::refusal::CommandRefusal;

use crate::base::announce::Announce;
use crate::base::error::EngineError;
use crate::base::supervisor::{Item, ItemKind, ItemResult, Items, Round, Service, ServiceError};
use crate::cluster::leader::Leadership;
use crate::landing::acceptor::Acceptor;
use crate::runs::loops::Loops;
use crate::runs::loops::commands::{LEFT_BY_LOOP, loop_recipe, named};
use crate::runs::loops::discovering::DISCOVERED;
use crate::runs::loops::elsewhere::is_under_way;
use crate::runs::loops::messages;
use crate::runs::loops::rows::{asked, put};
use crate::runs::loops::text;
use crate::runs::{STOPPED_BY_PERSON, goes_on, stamp};
use crate::tasks::service::TaskService;

/// Steps one loop takes in one round; the next change brings the next round.
const STEPS_MAX: u32 = 100;
/// Why the task of a phase's agent that failed is over.
const FAILED_IN_LOOP: &str = "its agent failed, and its loop goes on without it";
/// Work that somebody holds up, by a checkout or a lock, is merged this soon after they let go.
const LANDING_PAUSE_MAX: Duration = Duration::from_secs(2);

pub struct LoopDriver {
    tasks: TaskService,
    loops: Loops,
    acceptor: Acceptor,
    announce: Announce,
    leadership: Leadership,
    items: Items,
}

/// What became of the work that a person called done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LandingResult {
    /// Some of it was merged.
    Merged,
    /// Something is in the way for now; the task says what.
    Blocked,
    /// There is nothing to merge, or nothing that may be.
    Nothing,
}

impl LoopDriver {
    pub fn new(
        tasks: TaskService,
        acceptor: Acceptor,
        leadership: Leadership,
        items: Items,
        announce: Announce,
    ) -> Self {
        let loops = Loops::new(&tasks);
        Self { tasks, loops, acceptor, announce, leadership, items }
    }

    async fn move_far(&self, session: &SessionId) -> Result<(), ServiceError> {
        for _ in 0..STEPS_MAX {
            if !Box::pin(self.move_on(session)).await? {
                break;
            }
        }
        Ok(())
    }

    /// One step. False when the loop waits for somebody.
    async fn move_on(&self, session: &SessionId) -> Result<bool, ServiceError> {
        let Some(stored) = self.loops.phase_loop(session).await? else { return Ok(false) };
        if self.loops.take_up_again(&stored).await? {
            return Ok(true);
        }
        if stored.value.pending().is_some() {
            return Ok(self.loops.take_decision_elsewhere(&stored).await?);
        }
        if let PhaseWork::Execute(work) = stored.value.work() {
            match self.accept_completed(work).await? {
                LandingResult::Merged => return Ok(true),
                // What comes next may need it; it is tried again until it is merged.
                LandingResult::Blocked => return Ok(false),
                LandingResult::Nothing => {}
            }
        }
        let moved = match stored.value.work().next() {
            NextAction::Choose => self.choose(&stored).await,
            NextAction::StartAgent => self.start_agent(&stored).await,
            NextAction::WatchFor { task } => self.watch_for(&stored, task).await,
            NextAction::Ask { topic } => self.ask(&stored, topic).await,
            NextAction::GiveUp { why } => {
                (self.announce)(&format!("the loop of {session} goes back to the hub: {why}"));
                let (reason, error) = (ExitReason::orchestration_error(), NonBlank::new(why).ok());
                self.loops.leave_loop(session, reason, error, Actor::Baton).await?;
                Ok(false)
            }
            NextAction::Rest => Ok(false),
        };
        Ok(moved?)
    }

    async fn write(&self, stored: &Versioned<PhaseLoop>, work: PhaseWork) -> Result<bool, EngineError> {
        let next = stored.value.at_work(work, None);
        // What moved meanwhile is read in the next step, so either way there is one.
        self.loops.try_write(put(&next, Some(stored.version))).await?;
        Ok(true)
    }

    /// The next ready task of the session's project that is not the loop's own. It is held back, so that no agent
    /// begins with it while the human decides how it is to be done.
    async fn choose(&self, stored: &Versioned<PhaseLoop>) -> Result<bool, EngineError> {
        let tasks = &self.tasks;
        let session = tasks.store.session(stored.value.session()).await?;
        let project = session.and_then(|stored| stored.value.project_id);
        let queue = OwnedQueue {
            session: stored.value.session().clone(),
            recipe: loop_recipe()?,
            projects: self.loops.scope(project).await?,
        };
        let bound: BTreeSet<TaskId> =
            tasks.store.open_runs().await?.iter().filter_map(|stored| stored.value.task()).collect();
        let fits = |task: &Task| queue.takes(task) && !bound.contains(&task.id());
        let is_new = |task: &Task| *task.state() == TaskState::Incoming && fits(task);
        let mut chosen = self.loops.runs.first_ready(is_new).await?;
        if chosen.is_none() {
            // What the session's loops discovered or left is kept for them: starting a loop takes up again what was left, going
            // on with one does not. What a person held stays with that person (I22).
            let is_begun = stored.value.iteration() > 1;
            let is_left = |task: &Task| {
                let why = task.ledger().held_because.as_ref().map(NonBlank::as_str);
                // Of what a person stopped, the loop takes only what it planned itself: no agent has begun with that.
                let was_planned = why == Some(STOPPED_BY_PERSON) && task.ledger().started == 0;
                let is_left_over = was_planned || why.is_some_and(|why| why.starts_with(LEFT_BY_LOOP));
                fits(task) && (why.is_none_or(|why| why == DISCOVERED) || (!is_begun && is_left_over))
            };
            let held = self.loops.held_for(stored.value.session()).await?;
            chosen = held.into_iter().find(|held| is_left(&held.value));
        }
        let Some(task) = chosen else {
            let reason = ExitReason::no_tasks_available();
            self.loops.leave_loop(stored.value.session(), reason, None, Actor::Baton).await?;
            return Ok(false);
        };
        let PhaseWork::Plan(mut work) = stored.value.work().clone() else { return Ok(false) };
        work.choose(named(&task.value));
        let held = task.value.apply(
            Command::Hold { reason: NonBlank::new("the loop plans it")? },
            &tasks.context(Actor::policy("the loop")).await?,
        )?;
        let next = stored.value.at_work(PhaseWork::Plan(work), None);
        let change = put(&next, Some(stored.version)).and(Change::transition(task.version, held));
        // Somebody may have claimed it meanwhile; then another one is chosen.
        self.loops.try_write(change).await?;
        Ok(true)
    }

    /// A fresh agent for the phase: a task of its own, so a session, a token and a context of its own.
    async fn start_agent(&self, stored: &Versioned<PhaseLoop>) -> Result<bool, EngineError> {
        let tasks = &self.tasks;
        let (id, now) = (tasks.ids.task(), tasks.store.now().await?);
        let [plan, _, review] = Role::loop_phases();
        let mut work = stored.value.work().clone();
        let (role, title, description, project) = match &mut work {
            PhaseWork::Plan(planning) => {
                let Some(subject) = planning.subject().cloned() else { return Ok(true) };
                let planned = tasks.task(subject.id).await?.value;
                let answered = self.loops.answered(planning.agents()).await?;
                let told = text::plan_prompt(stored.value.brief(), planning, &planned, &answered);
                planning.start_agent(id);
                (plan, format!("Plan: {}", subject.title), told, planned.spec().project_id)
            }
            PhaseWork::Review(reviewing) => {
                let told = text::review_prompt(stored.value.brief(), reviewing);
                reviewing.start_agent(id);
                (review, format!("Review: iteration {}", stored.value.iteration()), told, None)
            }
            PhaseWork::Hub | PhaseWork::Execute(_) => return Ok(false),
        };
        let session = stored.value.session().clone();
        let spec = TaskSpec {
            project_id: project,
            description,
            priority: Priority::P1,
            role,
            ..TaskSpec::new(id, session, TaskType::Report, NonBlank::new(title)?, now)
        };
        let body = EventBody::TaskCreated { spec: Box::new(spec.clone()), depends_on: Vec::new() };
        let asker = tasks.asker_of(stored.value.session()).await?;
        let created = Change::create(
            Task::create(spec).with_requester(asker),
            &[],
            Event { at: now, by: Actor::Baton, body },
        );
        let next = stored.value.at_work(work, None);
        self.loops.try_write(put(&next, Some(stored.version)).and(created)).await?;
        Ok(true)
    }

    async fn release(&self, task: TaskId) -> Result<bool, EngineError> {
        self.tasks.apply(task, Command::Release, Actor::policy("the loop")).await?;
        Ok(true)
    }

    async fn watch_for(&self, stored: &Versioned<PhaseLoop>, task: TaskId) -> Result<bool, EngineError> {
        let watched = self.tasks.task(task).await?.value;
        // Held for no reason of its own: a subtask that waits for its turn. One that somebody stopped stays with them
        // (I22), and they are asked what became of it.
        let is_stopped = watched.ledger().held_because.is_some();
        if *watched.state() == TaskState::Held && !is_stopped {
            return self.release(task).await;
        }
        if goes_on(watched.state()) && *watched.state() != TaskState::Held {
            return Ok(false);
        }
        if is_stopped && !matches!(stored.value.work(), PhaseWork::Execute(_)) {
            // Without its plan or review the phase cannot go on, and another agent would not be a stop.
            self.loops
                .leave_loop(stored.value.session(), ExitReason::user_requested(), None, Actor::Baton)
                .await?;
            // Without its loop nobody would take what it hands in.
            let cancel = Command::Cancel { reason: NonBlank::new(STOPPED_BY_PERSON).ok() };
            self.tasks.apply(task, cancel, Actor::policy("the loop")).await?;
            return Ok(false);
        }
        let mut work = stored.value.work().clone();
        match &mut work {
            // It is through. Where it handed in less than is wanted, another one tries.
            PhaseWork::Plan(planning) => planning.end_agent(messages::failure_of(&watched).as_deref()),
            PhaseWork::Review(reviewing) => {
                let is_done = matches!(watched.state(), TaskState::Done { .. });
                let said = watched.ledger().output.as_deref().filter(|_| is_done);
                let failure = messages::failure_of(&watched);
                let failure = failure.unwrap_or_else(|| "the agent reported no findings".to_owned());
                reviewing.end_agent(said.unwrap_or_default(), &failure);
            }
            PhaseWork::Execute(executing) => {
                // Nothing else can have happened to a subtask that runs.
                if executing.finish_run().is_err() {
                    return Ok(false);
                }
            }
            PhaseWork::Hub => return Ok(false),
        }
        self.write(stored, work).await?;
        let is_agent = matches!(stored.value.work(), PhaseWork::Plan(_) | PhaseWork::Review(_));
        if is_agent && matches!(watched.state(), TaskState::Failed { .. }) {
            // The loop has seen to it. Tried again outside of the loop, it would hand in to nobody.
            let cancel = Command::Cancel { reason: NonBlank::new(FAILED_IN_LOOP).ok() };
            self.tasks.apply(task, cancel, Actor::policy("the loop")).await?;
        }
        Ok(true)
    }

    /// Merges what the human called done, in their name. What has nothing to show needs a second word from them, by
    /// `baton accept` (I14); the gate says so.
    async fn accept_completed(&self, work: &ExecuteWork) -> Result<LandingResult, ServiceError> {
        let completed = work
            .subtasks
            .iter()
            .filter(|subtask| subtask.state() == SubtaskState::Finished(SubtaskResult::Completed));
        let mut landing = LandingResult::Nothing;
        for subtask in completed {
            let task = self.tasks.task(subtask.task.id).await?.value;
            // Its branch is red, which a person has to see to; the loop need not wait for that.
            if landing_delay(&task).is_some() {
                continue;
            }
            if matches!(task.state(), TaskState::Landing(_)) {
                // The checks decide; the end of that wakes the loop.
                landing = LandingResult::Blocked;
                continue;
            }
            if !matches!(task.state(), TaskState::Provisional(_)) || waits_for_person(&task) {
                continue;
            }
            let by = work.done_by.get(&task.id()).cloned().unwrap_or_else(|| Actor::policy("the loop"));
            let item = Item::new(ItemKind::Landing, &task.id())
                .for_task(task.id())
                .with_pause_max(LANDING_PAUSE_MAX);
            let accepted = async {
                match self.acceptor.accept(task.id(), false, by).await {
                    Ok(_) => Ok(None),
                    Err(refused) if refused.is::<CommandRefusal>() => Ok(Some(refused)),
                    Err(error) => Err(ServiceError::new(&format!("{error}; {}", error.hint()))),
                }
            };
            match self.items.attempt(&item, accepted).await? {
                ItemResult::Done(None) => return Ok(LandingResult::Merged),
                ItemResult::Done(Some(refused)) => {
                    (self.announce)(&format!("{}: {refused}; {}", task.id(), refused.hint()));
                }
                ItemResult::Failed { tries, error } => {
                    if tries == 1 {
                        (self.announce)(&format!("{} has not landed yet: {error}", task.id()));
                    }
                    landing = LandingResult::Blocked;
                }
                ItemResult::Waiting => landing = LandingResult::Blocked,
            }
        }
        Ok(landing)
    }

    async fn ask(&self, stored: &Versioned<PhaseLoop>, topic: QuestionTopic) -> Result<bool, EngineError> {
        let tasks = &self.tasks;
        let drafted: Option<QuestionDraft> = match (stored.value.work(), topic) {
            (PhaseWork::Plan(work), QuestionTopic::Gate) => Some(text::plan_gate(work)?),
            (PhaseWork::Plan(work), QuestionTopic::Vagueness) => Some(text::vagueness(work)?),
            (PhaseWork::Plan(work), QuestionTopic::Revision) => Some(text::revision(work)?),
            (PhaseWork::Execute(work), QuestionTopic::Gate) => {
                Some(text::execute_gate(work, &self.not_merged(work).await?)?)
            }
            (PhaseWork::Execute(_), QuestionTopic::MoreWork) => Some(text::more_work()?),
            (PhaseWork::Review(work), QuestionTopic::ReviewFailed) => Some(text::review_failed(work)?),
            (PhaseWork::Execute(work), QuestionTopic::MayRun)
                if self.take_up(stored, work).await? || self.pass_over(stored, work).await? =>
            {
                return Ok(true);
            }
            (PhaseWork::Execute(work), _) => {
                let ran = match work.current() {
                    Some(current) => tasks.store.task(current.task.id).await?.map(|stored| stored.value),
                    None => None,
                };
                text::subtask(work, ran.as_ref())
            }
            (PhaseWork::Review(work), QuestionTopic::Discovered) => {
                let open = self.loops.open_titles().await?;
                match text::discovered(work, open.iter().map(String::as_str)) {
                    Some(draft) => Some(draft),
                    None => return self.skip_duplicates(stored).await,
                }
            }
            (PhaseWork::Review(work), QuestionTopic::List) => Some(text::list(work)?),
            (PhaseWork::Review(work), _) => Some(text::review_gate(&stored.value, work)?),
            (PhaseWork::Hub | PhaseWork::Plan(_), _) => None,
        };
        let (Some(draft), Some(cycle)) = (drafted, stored.value.cycle()) else { return Ok(false) };
        let (question, owner) = (draft.with_id(tasks.ids.question()), *cycle.owner());
        let now = tasks.store.now().await?;
        let next = stored.value.ask_anew(&owner, question)?;
        let next = next.at_work(stored.value.work().clone(), Some(topic));
        let Some(question) = next.pending() else { return Ok(false) };
        let inbox = asked(next.session(), question, now, &Actor::Baton);
        self.loops.try_write(put(&next, Some(stored.version)).and(inbox)).await?;
        // It waits now; if the row moved instead, the change that moved it wakes us.
        Ok(false)
    }

    /// What was called done and has not landed all the same, with where it is instead.
    async fn not_merged(&self, work: &ExecuteWork) -> Result<Vec<(TaskId, &'static str)>, EngineError> {
        let mut left = Vec::new();
        for task in work.done_by.keys() {
            let queue = self.tasks.task(*task).await?.value.state().queue();
            if queue != QueueName::Done {
                left.push((*task, queue.as_str()));
            }
        }
        Ok(left)
    }

    /// What a person let run, or left open, needs no leave to run: the loop waits for its end and asks whether it is done.
    async fn take_up(&self, stored: &Versioned<PhaseLoop>, work: &ExecuteWork) -> Result<bool, EngineError> {
        let Some(current) = work.current() else { return Ok(false) };
        if !is_under_way(self.tasks.task(current.task.id).await?.value.state()) {
            return Ok(false);
        }
        let mut work = work.clone();
        work.run_again();
        self.write(stored, PhaseWork::Execute(work)).await
    }

    /// What needs something that is not done cannot run, so nobody is asked whether it may.
    async fn pass_over(
        &self,
        stored: &Versioned<PhaseLoop>,
        work: &ExecuteWork,
    ) -> Result<bool, EngineError> {
        let Some(current) = work.current() else { return Ok(false) };
        let mut waits_on = Vec::new();
        for edge in self.tasks.store.dependencies(current.task.id).await? {
            if !edge.is_met {
                waits_on.push(named(&self.tasks.task(edge.on).await?.value));
            }
        }
        if waits_on.is_empty() {
            return Ok(false);
        }
        let mut work = work.clone();
        work.skip_blocked(waits_on);
        self.write(stored, PhaseWork::Execute(work)).await
    }

    /// Everything that was proposed is open already: nobody is asked, and it is counted (I9).
    async fn skip_duplicates(&self, stored: &Versioned<PhaseLoop>) -> Result<bool, EngineError> {
        let PhaseWork::Review(mut work) = stored.value.work().clone() else { return Ok(false) };
        work.skip_proposal();
        let mut change = put(&stored.value.at_work(PhaseWork::Review(work), None), Some(stored.version));
        stamp(&mut change, Vec::new(), self.tasks.store.now().await?, &Actor::Baton);
        self.loops.try_write(change).await?;
        Ok(true)
    }
}

impl Service for LoopDriver {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        if !self.leadership.is_held() {
            return Ok(Round::default());
        }
        for open in self.loops.open_loops().await? {
            let session = open.value.session();
            let item = Item::new(ItemKind::Loop, session).for_session(session.clone());
            self.items.attempt(&item, self.move_far(session)).await?;
        }
        Ok(self.items.end_round())
    }
}
