//! Builds one transition: the new task, with its events and effects.

use crate::ask::cycle::AskCycle;
use crate::ask::question::{DangerQuestion, Question, QuestionDraft};
use crate::ask::question_record::{QuestionRecord, QuestionState};
use crate::base::id::AttemptId;
use crate::base::task_type::TaskType;
use crate::base::text::{AgentName, NonBlank};
use crate::base::time::Timestamp;
use crate::people::actor::Actor;
use crate::records::effect::{Effect, Notification, Timer};
use crate::records::event::{Event, EventBody};
use crate::records::transition::Transition;
use crate::schedule::AgentPlace;
use crate::task::attempt::{AgentSession, Attempt};
use crate::task::attempt_record::{AttemptClosing, AttemptRecord};
use crate::task::state::{AwaitedAnswer, StateName, TaskState};
use crate::task::{Purpose, Task};
use crate::transition::command::CommandContext;
use crate::transition::refusal::CommandRefusal;

pub(super) struct TransitionBuilder<'a> {
    pub(super) before: &'a Task,
    pub(super) context: &'a CommandContext,
    pub(super) task: Task,
    pub(super) created: Vec<Task>,
    attempts: Vec<AttemptRecord>,
    questions: Vec<QuestionRecord>,
    events: Vec<Event>,
    effects: Vec<Effect>,
}

impl<'a> TransitionBuilder<'a> {
    pub(super) fn new(before: &'a Task, context: &'a CommandContext) -> Self {
        let mut task = before.clone();
        // A clock that went backwards must not make a change look older than the previous one.
        task.updated_at = context.now.max(before.updated_at);
        Self {
            before,
            context,
            task,
            created: Vec::new(),
            attempts: Vec::new(),
            questions: Vec::new(),
            events: Vec::new(),
            effects: Vec::new(),
        }
    }

    pub(super) fn finish(self) -> Transition {
        Transition {
            task: self.task,
            created: self.created,
            attempts: self.attempts,
            questions: self.questions,
            events: self.events,
            effects: self.effects,
        }
    }

    pub(super) fn say(&mut self, body: EventBody) {
        self.events.push(Event { at: self.task.updated_at, by: self.context.actor.clone(), body });
    }

    pub(super) fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// I16: only the current attempt counts.
    pub(super) fn fence(&self, attempt: AttemptId, current: Option<AttemptId>) -> Result<(), CommandRefusal> {
        if current == Some(attempt) {
            Ok(())
        } else {
            Err(CommandRefusal::Stale { task: self.before.id(), attempt, current })
        }
    }

    /// The live attempt, if it is the sender (I16).
    pub(super) fn current(&self, live: &Attempt, attempt: AttemptId) -> Result<Attempt, CommandRefusal> {
        self.fence(attempt, Some(live.id))?;
        Ok(live.clone())
    }

    pub(super) fn require_human(&self) -> Result<(), CommandRefusal> {
        match self.context.actor {
            Actor::Human { .. } => Ok(()),
            Actor::Policy { .. } | Actor::Agent { .. } | Actor::Baton => {
                Err(CommandRefusal::NeedsHuman { task: self.before.id() })
            }
        }
    }

    pub(super) fn require_human_or_policy(&self) -> Result<(), CommandRefusal> {
        match self.context.actor {
            Actor::Human { .. } | Actor::Policy { .. } => Ok(()),
            Actor::Agent { .. } | Actor::Baton => Err(CommandRefusal::NotYours { task: self.before.id() }),
        }
    }

    /// An agent may withdraw or correct a task nobody has started. Whether the agent created it is checked where the
    /// history is; once somebody has worked on it, people decide.
    pub(super) fn require_human_or_maker(&self) -> Result<(), CommandRefusal> {
        match self.context.actor {
            Actor::Agent { .. } if self.before.ledger.started == 0 => Ok(()),
            Actor::Human { .. } | Actor::Policy { .. } | Actor::Agent { .. } | Actor::Baton => {
                self.require_human_or_policy()
            }
        }
    }

    /// What only a setting of a person's may decide.
    pub(super) fn require_policy(&self) -> Result<(), CommandRefusal> {
        match self.context.actor {
            Actor::Policy { .. } => Ok(()),
            Actor::Human { .. } | Actor::Agent { .. } | Actor::Baton => {
                Err(CommandRefusal::NotYours { task: self.before.id() })
            }
        }
    }

    /// The queue a task returns to: work to do, or work to plan.
    pub(super) fn send_home(&mut self) {
        self.task.state = match self.task.spec.purpose {
            Purpose::Work | Purpose::Run => TaskState::Incoming,
            Purpose::Breakdown { .. } => TaskState::Breakdown { released: true },
        };
    }

    /// I22: an agent has worked on what may destroy something, and nobody knows what it has done outside its worktree: only a
    /// person lets it run again. Planning it destroys nothing.
    pub(super) fn must_not_run_again(&self) -> bool {
        self.before.spec.task_type == TaskType::DangerousOp
            && !self.before.is_breakdown()
            && self.before.ledger.started > 0
            && self.before.ledger.asking.cycle().is_some()
    }

    /// I1: the task waits and holds the question it waits on.
    pub(super) fn ask(&mut self, draft: QuestionDraft, after: Option<AttemptId>) {
        let question = self.record_question(draft);
        let asked_at = self.task.updated_at;
        self.task.state =
            TaskState::AwaitingResponse { waiting: AwaitedAnswer { question, asked_at, after } };
    }

    /// I2: a task that may not be blocked waits for a response instead.
    pub(super) fn block(&mut self, draft: QuestionDraft, after: Option<AttemptId>) {
        let question = self.record_question(draft);
        let asked_at = self.task.updated_at;
        self.task.state = match DangerQuestion::for_task(self.task.spec.task_type, question.clone()) {
            Some(danger) => {
                TaskState::Blocked { waiting: AwaitedAnswer { question: danger, asked_at, after } }
            }
            None => TaskState::AwaitingResponse { waiting: AwaitedAnswer { question, asked_at, after } },
        };
    }

    fn record_question(&mut self, draft: QuestionDraft) -> Question {
        let question = draft.with_id(self.context.fresh.question);
        self.announce(&question);
        question
    }

    /// Puts the question into the inbox and notifies.
    pub(super) fn announce(&mut self, question: &Question) {
        let spec = &self.task.spec;
        self.questions.push(QuestionRecord {
            question: question.clone(),
            session_id: spec.session_id.clone(),
            task_id: Some(spec.id),
            asked_at: self.task.updated_at,
            state: QuestionState::Pending,
        });
        self.say(EventBody::QuestionAsked {
            session: self.task.spec.session_id.clone(),
            task: Some(self.task.id()),
            question: Box::new(question.clone()),
        });
        self.effect(Effect::Notify { about: Notification::Question(question.id) });
        if let Some(at) = question.draft.expires_at {
            self.effect(Effect::ScheduleTimer { timer: Timer::QuestionExpires(question.id), at });
        }
    }

    /// I1: the task waits on a question that is already in the inbox.
    pub(super) fn wait_on(&mut self, question: Question, asked_at: Timestamp, after: AttemptId) {
        let after = Some(after);
        self.task.state =
            TaskState::AwaitingResponse { waiting: AwaitedAnswer { question, asked_at, after } };
    }

    /// The task's question is settled, one way or the other.
    pub(super) fn close_question(&mut self, question: &Question, state: QuestionState) {
        let asked_at = match &self.before.state {
            TaskState::AwaitingResponse { waiting } => waiting.asked_at,
            TaskState::Blocked { waiting } => waiting.asked_at,
            TaskState::Incoming
            | TaskState::Held
            | TaskState::Breakdown { .. }
            | TaskState::Claimed { .. }
            | TaskState::NeedsContinuation { .. }
            | TaskState::Provisional(_)
            | TaskState::Landing(_)
            | TaskState::Recycled { .. }
            | TaskState::Done { .. }
            | TaskState::Failed { .. }
            | TaskState::Cancelled { .. } => {
                self.task.ledger.asking.asked_at().unwrap_or(self.task.updated_at)
            }
        };
        if question.draft.expires_at.is_some() {
            self.effect(Effect::CancelTimer { timer: Timer::QuestionExpires(question.id) });
        }
        self.questions.push(QuestionRecord {
            question: question.clone(),
            session_id: self.task.spec.session_id.clone(),
            task_id: Some(self.task.id()),
            asked_at,
            state,
        });
    }

    pub(super) fn withdraw_question(&mut self, reason: NonBlank) {
        if let Some(question) = self.before.pending_question() {
            let at = self.task.updated_at;
            self.close_question(question, QuestionState::Withdrawn { at, reason: reason.clone() });
            self.say(EventBody::QuestionWithdrawn {
                session: self.before.spec.session_id.clone(),
                task: Some(self.before.id()),
                question: question.id,
                reason,
            });
            self.task.ledger.asking.change(AskCycle::withdraw);
        }
    }

    pub(super) fn open_attempt(&mut self, id: AttemptId, agent: AgentName, worker: Option<String>) {
        self.task.ledger.started += 1;
        let attempt = Attempt {
            id,
            number: self.task.ledger.started,
            agent,
            started_at: self.task.updated_at,
            worker,
            resumes: self.task.ledger.resumes.take(),
            agent_session: None,
        };
        self.attempts.push(AttemptRecord::new(self.task.id(), attempt.clone(), None));
        self.say(EventBody::TaskClaimed {
            task: self.task.id(),
            attempt: id,
            agent: attempt.agent.clone(),
            resumes: attempt.resumes,
        });
        self.effect(Effect::StartAgent { task: self.task.id(), attempt: id });
        self.task.state = TaskState::Claimed { attempt };
    }

    /// Written immediately, not with the end: an attempt that dies has no end, and its session still exists.
    pub(super) fn note_session(&mut self, mut attempt: Attempt, session: AgentSession) {
        // A step of another role may be another agent's; the task goes on with its own.
        if let Some(account) = session.account.clone().filter(|_| session.agent == attempt.agent) {
            self.task.ledger.session_place = Some(AgentPlace { agent: session.agent.clone(), account });
        }
        attempt.agent_session = Some(session);
        self.attempts.push(AttemptRecord::new(self.task.id(), attempt.clone(), None));
        self.task.state = TaskState::Claimed { attempt };
    }

    pub(super) fn close_attempt(&mut self, attempt: Attempt, closing: AttemptClosing) {
        self.attempts.push(AttemptRecord::new(self.task.id(), attempt, Some(closing)));
    }

    pub(super) fn wrong_state(&self, command: crate::transition::command::CommandName) -> CommandRefusal {
        let state: StateName = self.before.state.name();
        CommandRefusal::WrongState { task: self.before.id(), state, command }
    }
}
