//! A whole Baton in memory: what the store would hold, changed only through core's changes.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::{AttemptId, QuestionId, SessionId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::time::Timestamp;
use baton_core::graph::{Standing, TaskGraph};
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, EdgeChange, Record, Versioned, WriteGuard};
use baton_core::records::event::{Event, EventBody};
use baton_core::records::session::{Session, TaskRequest};
use baton_core::recycle::plan::{Plan, PlanDraft};
use baton_core::task::attempt_record::AttemptRecord;
use baton_core::task::{Purpose, Task, TaskSpec};
use baton_core::transition::approval::Approval;
use baton_core::transition::command::{Command, CommandContext, FreshIds};
use baton_core::transition::refusal::CommandRefusal;

use crate::samples::text;

#[derive(Default)]
pub(crate) struct World {
    pub(crate) tasks: BTreeMap<TaskId, Versioned<Task>>,
    pub(crate) questions: BTreeMap<QuestionId, QuestionRecord>,
    pub(crate) attempts: BTreeMap<AttemptId, AttemptRecord>,
    pub(crate) sessions: BTreeMap<SessionId, Versioned<Session>>,
    pub(crate) graph: TaskGraph,
    pub(crate) events: Vec<Event>,
    /// How often each attempt was closed; never more than once (I16).
    pub(crate) closings: BTreeMap<AttemptId, u32>,
    /// The original dependencies of each task; recycling does not change them.
    pub(crate) asked_to_wait_on: BTreeMap<TaskId, Vec<TaskId>>,
    /// The replacements of each recycled task, even if the recycled task is cancelled afterwards.
    replacements: BTreeMap<TaskId, Vec<TaskId>>,
    ids: u32,
}

impl World {
    fn fresh(&mut self) -> u32 {
        self.ids += 1;
        self.ids
    }

    pub(crate) fn context(&mut self, actor: Actor) -> CommandContext {
        let fresh = FreshIds {
            question: QuestionId::from_bits(self.fresh()),
            breakdown: TaskId::from_bits(self.fresh()),
        };
        CommandContext { now: Timestamp::from_ms(i64::from(self.ids)), actor, fresh }
    }

    /// The task at a random place, if there is any.
    pub(crate) fn nth(&self, place: u32) -> Option<TaskId> {
        let count = u32::try_from(self.tasks.len()).unwrap();
        (count > 0).then(|| *self.tasks.keys().nth((place % count) as usize).unwrap())
    }

    pub(crate) fn create(&mut self, task_type: TaskType, depends_on: &BTreeSet<TaskId>) -> TaskId {
        let id = TaskId::from_bits(self.fresh());
        let now = Timestamp::from_ms(i64::from(self.ids));
        let spec = TaskSpec::new(id, "session".parse().unwrap(), task_type, text("work"), now);
        let depends_on: Vec<TaskId> = depends_on.iter().copied().collect();
        let body = EventBody::TaskCreated { spec: Box::new(spec.clone()), depends_on: depends_on.clone() };
        let event = Event { at: now, by: Actor::human("mia"), body };
        self.asked_to_wait_on.insert(id, depends_on.clone());
        self.commit(Change::create(Task::create(spec), &depends_on, event));
        id
    }

    /// I3: posts a message; returns the task it created.
    pub(crate) fn chat(&mut self, session: &SessionId) -> TaskId {
        let task_id = TaskId::from_bits(self.fresh());
        let now = Timestamp::from_ms(i64::from(self.ids));
        let known = self.sessions.get(session).cloned();
        let opened = Session::open(session.clone(), None, now);
        let current = known.as_ref().map_or(&opened, |stored| &stored.value);
        let request =
            TaskRequest { task_id, task_type: TaskType::ReadInfo, priority: Priority::P1, recipe: None };
        let posted = current.post(text("What does it do?"), request, &Actor::human("mia"), now);
        self.asked_to_wait_on.insert(task_id, Vec::new());
        self.commit(Change::post_message(known.map(|stored| stored.version), posted));
        task_id
    }

    pub(crate) fn open_blockers(&self, task: TaskId) -> u32 {
        u32::try_from(self.graph.open_blockers(task).unwrap()).unwrap()
    }

    pub(crate) fn command(
        &mut self,
        task: TaskId,
        command: Command,
        actor: Actor,
    ) -> Result<(), CommandRefusal> {
        let context = self.context(actor);
        let stored = self.tasks[&task].clone();
        let transition = stored.value.apply(command, &context)?;
        for created in &transition.created {
            self.asked_to_wait_on.insert(created.id(), Vec::new());
        }
        self.commit(Change::transition(stored.version, transition));
        Ok(())
    }

    pub(crate) fn claim(&mut self, task: TaskId, actor: Actor) -> Result<AttemptId, CommandRefusal> {
        let attempt = AttemptId::from_bits(u64::from(self.fresh()));
        let open_blockers = self.open_blockers(task);
        let agent = "scripted".parse().unwrap();
        self.command(task, Command::Claim { attempt, agent, open_blockers, worker: None }, actor)
            .map(|()| attempt)
    }

    /// Approves a plan in which item n waits on the earlier items that `edges` picks out, bit by bit.
    pub(crate) fn approve(&mut self, breakdown: TaskId, items: u32, edges: u32) -> bool {
        let items: Vec<serde_json::Value> = (1..=items)
            .map(|number| {
                let depends_on: Vec<u32> =
                    (1..number).filter(|on| edges >> ((number + on) % 32) & 1 == 1).collect();
                serde_json::json!({ "title": format!("part {number}"), "depends_on": depends_on })
            })
            .collect();
        let draft: PlanDraft = serde_json::from_value(serde_json::json!({ "items": items })).unwrap();
        let plan = Plan::check(draft).unwrap();
        let subtask_ids: Vec<TaskId> = plan.items().iter().map(|_| TaskId::from_bits(self.fresh())).collect();
        let stored = self.tasks[&breakdown].clone();
        let replaced = match stored.value.spec().purpose {
            Purpose::Breakdown { replaces_task_id: Some(replaced), .. } => {
                Some(self.tasks[&replaced].clone())
            }
            Purpose::Breakdown { .. } | Purpose::Work | Purpose::Run => None,
        };
        let context = self.context(Actor::human("mia"));
        let approval = Approval {
            breakdown: &stored,
            plan: &plan,
            replaced: replaced.as_ref(),
            subtask_ids: &subtask_ids,
        };
        let Ok(change) = approval.approve(&context) else { return false };
        if let Some(replaced) = &replaced {
            self.replacements.insert(replaced.value.id(), subtask_ids.clone());
        }
        for (number, id) in (0..).zip(&subtask_ids) {
            let waits_on = plan.items()[number].depends_on.iter().map(|on| subtask_ids[on - 1]).collect();
            self.asked_to_wait_on.insert(*id, waits_on);
        }
        self.commit(change);
        for id in &subtask_ids {
            assert_eq!(self.tasks[id].value.spec().planned_in, Some(breakdown), "it names its breakdown");
        }
        true
    }

    /// What the store does: all of it, guarded by versions.
    pub(crate) fn commit(&mut self, change: Change) {
        // Rows of one change may refer to each other, so all are inserted before any is checked.
        for put in change.puts.iter().filter(|put| put.guard == WriteGuard::New) {
            if let Record::Task(task) = &put.record {
                self.graph.add(task.id()).unwrap();
            }
        }
        for put in change.puts {
            match put.record {
                Record::Task(task) => self.put_task(*task, put.guard),
                Record::Attempt(attempt) => {
                    if attempt.closing.is_some() {
                        *self.closings.entry(attempt.attempt.id).or_default() += 1;
                    }
                    self.attempts.insert(attempt.attempt.id, attempt);
                }
                Record::Question(question) => {
                    self.questions.insert(question.question.id, question);
                }
                Record::Session(session) => {
                    let version = self.sessions.get(&session.id).map_or(0, |stored| stored.version) + 1;
                    self.sessions.insert(session.id.clone(), Versioned { version, value: session });
                }
                Record::Message(_) => {}
                Record::Project(_)
                | Record::Plan(_)
                | Record::Verdict(_)
                | Record::Attachment(_)
                | Record::Routine(_)
                | Record::Run(_)
                | Record::Loop(_)
                | Record::Receipt(_)
                | Record::Hold(_)
                | Record::Spending(_)
                | Record::AccessToken(_) => {
                    panic!("this world has none of these")
                }
            }
        }
        for edge in change.edges {
            match edge {
                EdgeChange::Add { task, on } => self.add_edge(task, on),
                EdgeChange::Remove { task, on } => {
                    self.graph.remove_edge(task, on).unwrap();
                }
                EdgeChange::Rewire { from, to } => {
                    self.graph.rewire(from, &to).unwrap();
                }
            }
        }
        assert!(!change.events.is_empty(), "a change without an event");
        self.events.extend(change.events);
    }

    fn put_task(&mut self, task: Task, guard: WriteGuard) {
        let found = self.tasks.get(&task.id()).map(|stored| stored.version);
        let version = match (guard, found) {
            (WriteGuard::New, None) => 1,
            (WriteGuard::Version(expected), Some(version)) if expected == version => version + 1,
            (guard, found) => panic!("{}: {guard:?} but {found:?}", task.id()),
        };
        self.graph.set_standing(task.id(), task.standing()).unwrap();
        self.tasks.insert(task.id(), Versioned { version, value: task });
    }

    fn add_edge(&mut self, task: TaskId, on: TaskId) {
        match self.tasks[&on].value.standing() {
            Standing::Replaced { by } => by.into_iter().for_each(|on| self.add_edge(task, on)),
            Standing::Open
            | Standing::Done
            | Standing::Cancelled
            | Standing::Failed
            | Standing::Recycled { .. } => {
                self.graph.add_edge(task, on).unwrap();
            }
        }
    }

    /// The definition of "this dependency is met", computed from the tasks alone.
    pub(crate) fn is_satisfied(&self, task: TaskId) -> bool {
        match self.tasks[&task].value.standing() {
            Standing::Done => true,
            Standing::Replaced { by } => by.into_iter().all(|by| self.is_satisfied(by)),
            Standing::Open | Standing::Cancelled | Standing::Failed | Standing::Recycled { .. } => false,
        }
    }

    /// I13: the work of `task` is done, by itself or by all that stood in for it.
    pub(crate) fn work_is_done(&self, task: TaskId) -> bool {
        match self.replacements.get(&task) {
            Some(by) => by.iter().all(|by| self.work_is_done(*by)),
            None => matches!(self.tasks[&task].value.standing(), Standing::Done),
        }
    }

    /// I5, as far as values go: everything survives serialization unchanged.
    pub(crate) fn crash_and_restart(&mut self) {
        fn through_text<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
            serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
        }
        for stored in self.tasks.values_mut() {
            let reread: Task = through_text(&stored.value);
            assert_eq!(reread, stored.value);
            stored.value = reread;
        }
        let questions: Vec<QuestionRecord> = self.questions.values().map(through_text).collect();
        assert!(questions.iter().eq(self.questions.values()));
        let attempts: Vec<AttemptRecord> = self.attempts.values().map(through_text).collect();
        assert!(attempts.iter().eq(self.attempts.values()));
        let events: Vec<Event> = self.events.iter().map(through_text).collect();
        assert_eq!(events, self.events);
    }
}
