//! An answer to a question of the loop's: applied once, with everything that follows from it in the same transaction.

use baton_core::actor::Actor;
use baton_core::answer_source::AnsweredBy;
use baton_core::change::{Change, EdgeChange, Guard, Record, Stored};
use baton_core::choice::YesNo;
use baton_core::command::Command;
use baton_core::discovered::Approved;
use baton_core::event::{Event, EventBody};
use baton_core::exit_reason::ExitReason;
use baton_core::graph::Standing;
use baton_core::handoff::{NamedTask, Results};
use baton_core::id::TaskId;
use baton_core::phase::Phase;
use baton_core::phase_loop::{GateAnswered, PhaseLoop};
use baton_core::phase_work::{ExecuteWork, PhaseWork, PlanWork, Topic, Wanted};
use baton_core::priority::Priority;
use baton_core::question_record::{QuestionRecord, QuestionState};
use baton_core::run::GateAnswer;
use baton_core::state::TaskState;
use baton_core::task::Task;
use baton_core::task_type::TaskType;
use baton_core::text::{NonBlank, Role};
use baton_core::time::Timestamp;
use baton_store::Store;
use baton_store::query::TaskFilter;

use super::commands::{loop_recipe, passed_gate};
use super::rows::{LoopTask, closed, handed_off, over, put};
use crate::desk::{Answer, DECISIONS_MAX, Desk};
use crate::error::EngineError;
use crate::runs::stamp;

/// Tasks read at once when duplicates are looked for.
const TASKS_PAGE: u32 = 500;

/// An answer, and who gives it.
pub(crate) struct Given<'a> {
    pub record: &'a QuestionRecord,
    pub answer: &'a NonBlank,
    pub answered_by: &'a AnsweredBy,
    pub actor: &'a Actor,
}

impl<S: Store> Desk<S> {
    /// Answers a question of a loop's. `extra` is written with it.
    pub(crate) async fn answer_in_loop(&self, given: &Given<'_>, extra: Change) -> Answer<PhaseLoop> {
        let session = &given.record.session_id;
        for _ in 0..DECISIONS_MAX {
            let missing = || EngineError::NotFound { kind: "loop", key: session.to_string() };
            let stored = self.phase_loop(session).await?.ok_or_else(missing)?;
            let now = self.store.now().await?;
            let (next, change) = match stored.value.topic() {
                Some(Topic::Gate) => self.pass_gate(&stored, given, now).await?,
                topic => self.take_answer_in(&stored, topic, given, now).await?,
            };
            if self.try_write(change.and(extra.clone())).await? {
                return Ok(next);
            }
        }
        Err(EngineError::Runner { detail: format!("the loop of {session} kept changing") })
    }

    /// I7: the answer, the closed cycle, the hand-off, the run and the tasks of a plan are one change.
    async fn pass_gate(
        &self,
        stored: &Stored<PhaseLoop>,
        given: &Given<'_>,
        now: Timestamp,
    ) -> Answer<(PhaseLoop, Change)> {
        let (current, id) = (&stored.value, given.record.question.id);
        let (results, created, execute) = match current.work() {
            PhaseWork::Plan(work) => self.planned(current, work, given.actor, now).await?,
            work => (work.results().unwrap_or(Results::Started), Change::new(), None),
        };
        let by = given.answered_by.clone();
        let answered = current.answer_gate(id, given.answer, by, results, self.fresh_cycle())?;
        // A gate was read as YES or NO, and is recorded as that.
        let read = YesNo::read(given.answer.as_str()).map_or(given.answer.clone(), said);
        let settled =
            QuestionState::Answered { at: now, answer: read, answered_by: given.answered_by.clone() };
        let answer = closed(given.record, settled, given.actor, now);
        let session = current.session();
        match answered {
            GateAnswered::Stayed { next } => {
                let mut work = next.work().clone();
                work.answered(Topic::Gate, given.answer)?;
                let next = next.at_work(work, None);
                Ok((next.clone(), put(&next, Some(stored.version)).and(answer)))
            }
            GateAnswered::HandedOff(handed) => {
                let mut next = handed.next.clone();
                if let (Some(execute), Phase::Execute) = (execute, next.phase()) {
                    next = next.at_work(PhaseWork::Execute(execute), None);
                }
                let mut change = put(&next, Some(stored.version)).and(answer);
                let mut events = vec![handed_off(&handed)];
                let run = self.run_of_loop(session).await?;
                if next.phase() == Phase::Hub {
                    let (ended, told) = over(
                        run,
                        ExitReason::new("loop-complete").unwrap_or_else(|_| ExitReason::user_requested()),
                    )?;
                    change = change.and(ended);
                    events.extend(told);
                } else if let Some(open) = run {
                    let recipe = self.recipe(&loop_recipe()?)?;
                    let (run, told) = passed_gate(&open.value, &recipe, GateAnswer::Yes)?;
                    change = change.put(Record::Run(Box::new(run)), Guard::Version(open.version));
                    events.extend(told);
                }
                change = change.and(created);
                stamp(&mut change, events, now, given.actor);
                Ok((next, change))
            }
        }
    }

    /// The tasks of a plan, in case it is approved: they stand in for the one that was planned.
    async fn planned(
        &self,
        current: &PhaseLoop,
        work: &PlanWork,
        actor: &Actor,
        now: Timestamp,
    ) -> Answer<(Results, Change, Option<ExecuteWork>)> {
        let items = work.plan.as_ref().map(|plan| plan.items().to_vec()).unwrap_or_default();
        let subject = match &work.subject {
            Some(subject) => self.store.task(subject.id).await?,
            None => None,
        };
        let project = subject.as_ref().and_then(|stored| stored.value.spec().project_id);
        let [_, execute, _] = Role::of_loop();
        let mut change = Change::new();
        let mut subtasks = Vec::new();
        for item in items {
            let task = Task::create_held(
                LoopTask {
                    id: self.ids.task(),
                    session: current.session(),
                    task_type: TaskType::Implementation,
                    role: execute.clone(),
                    title: item.title.clone(),
                    description: item.description.clone(),
                    priority: item.priority.unwrap_or_default(),
                    project,
                    now,
                }
                .spec(),
            );
            let named = NamedTask { id: task.id(), title: item.title.clone() };
            subtasks.push((named, item.description.clone()));
            let body = EventBody::TaskCreated { spec: Box::new(task.spec().clone()), depends_on: Vec::new() };
            change = change.and(Change::create(task, &[], Event { at: now, by: actor.clone(), body }));
        }
        let ids: Vec<TaskId> = subtasks.iter().map(|(task, _)| task.id).collect();
        if let Some(stored) = subject.filter(|stored| matches!(stored.value.state(), TaskState::Incoming)) {
            let context = self.context(Actor::policy("the loop")).await?;
            let (from, to) = (stored.value.id(), ids);
            let replaced = stored.value.apply(Command::Replace { by: to.clone() }, &context)?;
            change = change.and(Change::transition(stored.version, replaced));
            change.edges.push(EdgeChange::Rewire { from, to });
        }
        let named = subtasks.iter().map(|(task, _)| task.clone()).collect();
        Ok((Results::Planned { subtasks: named }, change, Some(ExecuteWork::of(subtasks))))
    }

    /// Any answer but a gate's.
    async fn take_answer_in(
        &self,
        stored: &Stored<PhaseLoop>,
        topic: Option<Topic>,
        given: &Given<'_>,
        now: Timestamp,
    ) -> Answer<(PhaseLoop, Change)> {
        let id = given.record.question.id;
        let (next, answered) = stored.value.answer(id, given.answer, given.answered_by.clone())?;
        let mut work = next.work().clone();
        let wanted = match topic {
            Some(topic) => work.answered(topic, &answered.answer)?,
            None => Wanted::Nothing,
        };
        let mut change = Change::new();
        match wanted {
            // The work is merged by whoever has the repository at hand; see the conductor.
            Wanted::Nothing | Wanted::Accept { .. } => {}
            Wanted::Fail { task } => change = change.and(self.marked_failed(task).await?),
            Wanted::Create(approved) => {
                let (created, counts) = self.discovered(&stored.value, approved, given.actor, now).await?;
                change = change.and(created);
                if let PhaseWork::Review(review) = &mut work {
                    review.discovered += counts.0;
                    review.duplicates_skipped += counts.1;
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

    async fn marked_failed(&self, task: TaskId) -> Answer<Change> {
        let stored = self.task(task).await?;
        let context = self.context(Actor::policy("the loop")).await?;
        let reason = NonBlank::new("The human says that it failed.")?;
        match stored.value.apply(Command::MarkFailed { reason }, &context) {
            Ok(transition) => Ok(Change::transition(stored.version, transition)),
            // It failed or was cancelled by itself; the loop counts it all the same.
            Err(_) => Ok(Change::new()),
        }
    }

    /// I9: what was approved and is not open already. Returns how many are new and how many were left out.
    async fn discovered(
        &self,
        current: &PhaseLoop,
        approved: Approved,
        actor: &Actor,
        now: Timestamp,
    ) -> Answer<(Change, (u32, u32))> {
        let open = self.open_titles().await?;
        let selection = approved.against(open.iter().map(String::as_str)).into_selection();
        let mut change = Change::new();
        for found in &selection.create {
            let task = Task::create(
                LoopTask {
                    id: self.ids.task(),
                    session: current.session(),
                    task_type: TaskType::Implementation,
                    role: Role::implement(),
                    title: found.title.clone(),
                    description: found.description.clone(),
                    priority: Priority::default(),
                    project: None,
                    now,
                }
                .spec(),
            );
            let body = EventBody::TaskCreated { spec: Box::new(task.spec().clone()), depends_on: Vec::new() };
            change = change.and(Change::create(task, &[], Event { at: now, by: actor.clone(), body }));
        }
        let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        Ok((change, (count(selection.create.len()), count(selection.skipped.len()))))
    }

    /// The titles of all tasks that are not over.
    pub(super) async fn open_titles(&self) -> Answer<Vec<String>> {
        let mut titles = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.store.tasks(&TaskFilter::default(), cursor, TASKS_PAGE).await?;
            let tasks = page.items.iter().map(|stored| &stored.value);
            let open =
                tasks.filter(|task| matches!(task.standing(), Standing::Open | Standing::Recycled { .. }));
            titles.extend(open.map(|task| task.spec().title.to_string()));
            cursor = page.next;
            if cursor.is_none() {
                return Ok(titles);
            }
        }
    }
}

fn said(answer: YesNo) -> NonBlank {
    // One of our own words is never blank; the other arm is not reached.
    NonBlank::new(answer.as_str()).unwrap_or_else(|_| baton_core::fallback::Fallback::Default.question().text)
}
