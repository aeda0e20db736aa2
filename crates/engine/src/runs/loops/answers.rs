//! An answer to a question of the loop's: applied once, with everything that follows from it in the same transaction.

use crate::base::error::{Entity, NotFound};
use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::choice::{YesNo, is_one_of};
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::TaskId;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::{NonBlank, Role};
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::phase::Phase;
use baton_core::phase::handoff::{NamedTask, PhaseResults};
use baton_core::phase::phase_loop::{GateOutcome, PhaseLoop};
use baton_core::phase::work::{FollowUp, PhaseWork, QuestionTopic};
use baton_core::recipe::Recipe;
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::recipe::run::{GateAnswer, Run, RunState};
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};
use baton_core::records::event::{Event, EventBody};
use baton_core::task::state::TaskState;
use baton_core::task::{Task, TaskSpec};
use baton_core::transition::command::Command;

use crate::base::error::Result;
use crate::runs::error::RunError;
use crate::runs::loops::Loops;
use crate::runs::loops::commands::{named, passed_gate};
use crate::runs::loops::planning::Planned;
use crate::runs::loops::replies::LoopReply;
use crate::runs::loops::rows::{closed, handed_off, over, put};
use crate::runs::loops::start::title_of;
use crate::runs::loops::text::is_mergeable;
use crate::runs::{message, posted, stamp};

/// The reason an agent gets for working once more, if the person gave none.
pub(crate) const ONCE_MORE: &str = "It is not done yet. Do what is missing.";

/// An answer, and who gives it.
pub(crate) struct LoopAnswer<'a> {
    pub record: &'a QuestionRecord,
    pub answer: &'a NonBlank,
    pub answered_by: &'a AnsweredBy,
    pub actor: &'a Actor,
}

impl Loops {
    /// Answers a question of a loop's. `extra` is written with it.
    pub(crate) async fn answer_in_loop(&self, given: &LoopAnswer<'_>, extra: Change) -> Result<PhaseLoop> {
        let session = &given.record.session_id;
        let mut decision = self.tasks.decision(format_args!("the loop of {session}"));
        loop {
            let missing = || NotFound::new(Entity::Loop, session);
            let stored = self.phase_loop(session).await?.ok_or_else(missing)?;
            let now = self.tasks.store.now().await?;
            let reply =
                LoopReply::parse(&stored.value, given.answer).filter(|_| !given.answered_by.is_automatic());
            let (next, change) = match (&reply, stored.value.topic()) {
                (Some(reply), _) => self.take_reply(&stored, reply, given, now).await?,
                (None, Some(QuestionTopic::Gate)) => self.pass_gate(&stored, given, now).await?,
                (None, topic) => self.take_answer_in(&stored, topic, given, now).await?,
            };
            if decision.commit(change.and(extra.clone())).await? {
                if reply == Some(LoopReply::BreakOff) {
                    self.dismiss(&stored.value, given.actor.clone()).await?;
                }
                return Ok(next);
            }
        }
    }

    /// I7: the answer, the closed cycle, the hand-off, the run and the tasks of a plan are one change.
    async fn pass_gate(
        &self,
        stored: &Versioned<PhaseLoop>,
        given: &LoopAnswer<'_>,
        now: Timestamp,
    ) -> Result<(PhaseLoop, Change)> {
        let (current, id) = (&stored.value, given.record.question.id);
        let (results, created, execute) = match current.work() {
            PhaseWork::Plan(work) => {
                let Planned { results, change, work } = self.planned(current, work, given.actor, now).await?;
                (results, change, Some(work))
            }
            work => (work.results().unwrap_or(PhaseResults::Started), Change::new(), None),
        };
        let by = given.answered_by.clone();
        // DONE is the NO of the last gate.
        let is_done = current.phase() == Phase::Review && is_one_of(given.answer.as_str(), &["DONE"]);
        let decision = if is_done { said(YesNo::No) } else { given.answer.clone() };
        let answered = current.answer_gate(id, &decision, by, results, self.fresh_cycle())?;
        // A gate was read as YES or NO, and is recorded as that.
        let read = YesNo::read(decision.as_str()).map_or(decision, said);
        let settled =
            QuestionState::Answered { at: now, answer: read, answered_by: given.answered_by.clone() };
        let answer = closed(given.record, settled, given.actor, now);
        let session = current.session();
        match answered {
            GateOutcome::Stayed { next } => {
                let mut work = next.work().clone();
                work.apply_answer(QuestionTopic::Gate, given.answer)?;
                let next = next.at_work(work, None);
                Ok((next.clone(), put(&next, Some(stored.version)).and(answer)))
            }
            GateOutcome::HandedOff(handed) => {
                let mut next = handed.next.clone();
                if let (Some(execute), Phase::Execute) = (execute, next.phase()) {
                    next = next.at_work(PhaseWork::Execute(execute), None);
                }
                let mut change = put(&next, Some(stored.version)).and(answer);
                let mut events = vec![handed_off(&handed)];
                let run = self.run_of_loop(session).await?;
                let recipe = self.recipe_of_loop(session).await?;
                if next.phase() == Phase::Hub {
                    let reason = run.as_ref().map(|open| end_of(&open.value, &recipe)).transpose()?;
                    let reason = reason.unwrap_or_else(ExitReason::user_requested);
                    if let Some(open) = &run {
                        change = change.and(self.runs.held_queue(&open.value, given.actor).await?);
                    }
                    let (ended, told) = over(run, &next, reason, None, now)?;
                    change = change.and(ended);
                    events.extend(told);
                } else if let Some(open) = run {
                    let (run, told) = passed_gate(&open.value, &recipe, GateAnswer::Yes)?;
                    change = change.put(Record::Run(Box::new(run)), WriteGuard::Version(open.version));
                    events.extend(told);
                }
                change = change.and(created);
                stamp(&mut change, events, now, given.actor);
                Ok((next, change))
            }
        }
    }

    /// Any answer but a gate's.
    async fn take_answer_in(
        &self,
        stored: &Versioned<PhaseLoop>,
        topic: Option<QuestionTopic>,
        given: &LoopAnswer<'_>,
        now: Timestamp,
    ) -> Result<(PhaseLoop, Change)> {
        let id = given.record.question.id;
        let (next, answered) = stored.value.answer(id, given.answer, given.answered_by.clone())?;
        let mut work = next.work().clone();
        let wanted = match topic {
            Some(topic) => work.apply_answer(topic, &answered.answer)?,
            None => FollowUp::Nothing,
        };
        let mut change = Change::new();
        match wanted {
            FollowUp::Nothing => {}
            // `LoopDriver` merges the work.
            FollowUp::Accept { task } => {
                self.check_mergeable(task).await?;
                if let PhaseWork::Execute(execute) = &mut work {
                    execute.done_by.insert(task, given.actor.clone());
                }
            }
            FollowUp::Run { task } => change = change.and(self.let_run(task, None, given.actor).await?),
            FollowUp::AddSubtask { text } => {
                let (task, created) = self.extra_subtask(&stored.value, &text, given.actor, now).await?;
                change = change.and(created);
                if let PhaseWork::Execute(execute) = &mut work {
                    execute.add(task, text.to_string());
                }
            }
            FollowUp::Fail { task } => change = change.and(self.marked_failed(task).await?),
            FollowUp::Create(approved) => {
                let (created, counts) = self.discovered(&stored.value, approved, given.actor, now).await?;
                change = change.and(created);
                if let PhaseWork::Review(review) = &mut work {
                    review.count(counts.created, counts.skipped);
                }
            }
        }
        let next = next.at_work(work, None);
        let settled = QuestionState::Answered {
            at: now,
            answer: answered.answer,
            answered_by: given.answered_by.clone(),
        };
        let change =
            put(&next, Some(stored.version)).and(closed(given.record, settled, given.actor, now)).and(change);
        Ok((next, change))
    }

    /// YES counts a subtask as completed, so there must be something to merge, or it was merged already.
    async fn check_mergeable(&self, task: TaskId) -> Result<()> {
        let stored = self.tasks.task(task).await?.value;
        if is_mergeable(&stored) {
            return Ok(());
        }
        Err(RunError::NothingToMerge { task, queue: stored.state().queue().as_str() }.into())
    }

    /// Another subtask, which the human named: its first line is the title.
    pub(crate) async fn extra_subtask(
        &self,
        current: &PhaseLoop,
        text: &NonBlank,
        actor: &Actor,
        now: Timestamp,
    ) -> Result<(NamedTask, Change)> {
        let beside = match current.work() {
            PhaseWork::Execute(work) => work.subtasks.first().map(|subtask| subtask.task.id),
            PhaseWork::Hub | PhaseWork::Plan(_) | PhaseWork::Review(_) => None,
        };
        let beside = match beside {
            Some(task) => Some(self.tasks.task(task).await?.value),
            None => None,
        };
        let [_, execute, _] = Role::loop_phases();
        let title = title_of(text)?;
        let spec = TaskSpec::new(
            self.tasks.ids.task(),
            current.session().clone(),
            TaskType::Implementation,
            title,
            now,
        );
        let task = Task::create_held(TaskSpec {
            description: text.to_string(),
            role: execute,
            project_id: beside.as_ref().and_then(|task| task.spec().project_id),
            planned_in: beside.as_ref().and_then(|task| task.spec().planned_in),
            ..spec
        })
        .with_requester(actor.person());
        let body = EventBody::TaskCreated { spec: Box::new(task.spec().clone()), depends_on: Vec::new() };
        let event = Event { at: now, by: actor.clone(), body };
        Ok((named(&task), Change::create(task, &[], event)))
    }

    /// Lets an agent work on the subtask, also once more after it failed or, with a remark, was left open; then it is told
    /// why. Finished work that nobody found fault with stays as it is.
    pub(crate) async fn let_run(
        &self,
        task: TaskId,
        remark: Option<&NonBlank>,
        actor: &Actor,
    ) -> Result<Change> {
        let stored = self.tasks.task(task).await?;
        let context = self.tasks.context(actor.clone()).await?;
        let commands = match stored.value.state() {
            TaskState::Held => vec![Command::Release],
            TaskState::Failed { was_held: true, .. } => vec![Command::Retry, Command::Release],
            TaskState::Failed { was_held: false, .. } => vec![Command::Retry],
            TaskState::Provisional(_) => {
                remark.map(|remark| Command::Reject { reason: remark.clone() }).into_iter().collect()
            }
            _ => Vec::new(),
        };
        let mut current = stored.value.clone();
        let mut events = Vec::new();
        let mut change = Change::new();
        for command in commands {
            let transition = current.apply(command, &context)?;
            current = transition.task.clone();
            change = Change::transition(stored.version, transition);
            events.append(&mut change.events);
        }
        change.events = events;
        let words = remark.filter(|remark| remark.as_str() != ONCE_MORE);
        if let (TaskState::Failed { .. }, Some(remark)) = (stored.value.state(), words) {
            change = change.and(self.told(&stored.value, remark, actor).await?);
        }
        Ok(change)
    }

    /// A message to the next agent of a task.
    async fn told(&self, task: &Task, text: &NonBlank, actor: &Actor) -> Result<Change> {
        let now = self.tasks.store.now().await?;
        let (mut session, guard, mut events) =
            self.runs.opened(&task.spec().session_id, task.spec().project_id, now).await?;
        session.message_count += 1;
        let message = message(&session, text, actor, Some(task.id()), now);
        events.push(posted(&session.id, text, Some(task.id())));
        let mut change =
            Change::new().put(Record::Session(session), guard).put(Record::Message(message), WriteGuard::New);
        stamp(&mut change, events, now, actor);
        Ok(change)
    }

    async fn marked_failed(&self, task: TaskId) -> Result<Change> {
        let stored = self.tasks.task(task).await?;
        let context = self.tasks.context(Actor::policy("the loop")).await?;
        let reason = NonBlank::new("The human says that it failed.")?;
        match stored.value.apply(Command::MarkFailed { reason }, &context) {
            Ok(transition) => Ok(Change::transition(stored.version, transition)),
            // It failed or was cancelled by itself; the loop counts it all the same.
            Err(_) => Ok(Change::new()),
        }
    }
}

/// Where NO at the last gate leads, as the recipe has it.
fn end_of(run: &Run, recipe: &Recipe) -> Result<ExitReason> {
    let (ended, _) = passed_gate(run, recipe, GateAnswer::No)?;
    Ok(match ended.state() {
        RunState::Exited { reason } => reason.clone(),
        // The check of the recipe saw to it that this gate's NO leads out.
        RunState::Working | RunState::AtGate { .. } | RunState::Leaving { .. } => {
            ExitReason::user_requested()
        }
    })
}

fn said(answer: YesNo) -> NonBlank {
    // One of our own words is never blank; the other arm is not reached.
    NonBlank::new(answer.as_str())
        .unwrap_or_else(|_| baton_core::ask::fallback::Fallback::Default.question().text)
}
