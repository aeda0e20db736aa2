//! Answers pending questions in the human's place, from answers queued in advance or by policy. Core decides which
//! applies; this carries it out once.

use std::sync::Arc;

use baton_core::ask::answer_source::{AnswerDecision, UnattendedPolicy, decide};
use baton_core::ask::cycle::AskCycle;
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::ask::queued_answer::QueuedAnswer;
use baton_core::base::id::{QuestionId, SessionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::phase::refusal::LoopRefusal;
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};
use baton_core::records::event::{Event, EventBody};
use baton_core::records::session::Session;
use baton_core::task::Task;
use baton_core::transition::command::Command;
use baton_store::model::query::QuestionFilter;

use crate::base::error::EngineError;
use crate::projects::Projects;
use crate::runs::Runs;
use crate::runs::loops::{LoopAnswer, Loops};
use crate::settings::Settings;
use crate::tasks::service::TaskService;

/// Pending questions looked at in one page.
const PAGE: u32 = 200;

#[derive(Clone)]
pub struct AutoResponder {
    tasks: TaskService,
    runs: Runs,
    loops: Loops,
    /// For every question, or, where projects have their own, for those of loops.
    policy: Option<UnattendedPolicy>,
    /// Whose settings say what becomes of the questions of their tasks.
    projects: Option<Arc<Projects>>,
}

/// What became of a question that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attended {
    /// It has its answer, or needs none any more.
    Settled,
    /// The work that asked was ended in its stead.
    FailedClosed,
    /// A human has to be called, and nothing else will answer it.
    Escalated,
    /// It waits, and is looked at again then.
    Waits { until: Option<Timestamp> },
}

impl AutoResponder {
    pub fn new(tasks: TaskService, policy: Option<UnattendedPolicy>) -> Self {
        Self { runs: Runs::new(&tasks), loops: Loops::new(&tasks), tasks, policy, projects: None }
    }

    /// One that goes by the settings of the project that asks; `serving` are those of this Baton.
    pub fn by_settings(projects: &Projects, serving: &Settings) -> Self {
        let (tasks, projects) = (projects.tasks.clone(), Arc::new(projects.clone()));
        Self { projects: Some(projects), ..Self::new(tasks, serving.asking.policy()) }
    }

    async fn policy_for(&self, task: &Task) -> Option<UnattendedPolicy> {
        match &self.projects {
            None => self.policy,
            // Settings that cannot be read are asked about elsewhere; meanwhile nothing is answered for a person.
            Some(projects) => {
                projects.settings_for(task).await.ok().and_then(|settings| settings.asking.policy())
            }
        }
    }

    /// Looks at every pending question: after a start, when the settings may have changed, and after an answer was
    /// laid down.
    pub async fn attend_all(&self, session: Option<&SessionId>) -> Result<(), EngineError> {
        let filter = QuestionFilter { session: session.cloned(), ..QuestionFilter::pending() };
        let mut cursor = None;
        loop {
            let page = self.tasks.store.questions(&filter, cursor, PAGE).await?;
            for stored in page.items {
                self.attend(stored.value.question.id).await?;
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    /// Looks at one question and does what is to be done about it now. Doing so twice is as good as once.
    pub async fn attend(&self, id: QuestionId) -> Result<Attended, EngineError> {
        let mut decision = self.tasks.decision(format_args!("the question {id}"));
        loop {
            let Some(record) = self.tasks.store.question(id).await?.map(|stored| stored.value) else {
                return Ok(Attended::Settled);
            };
            if record.state != QuestionState::Pending {
                return Ok(Attended::Settled);
            }
            let attended = match record.task_id {
                Some(task) => self.attend_once(&record, task).await?,
                None => self.attend_loop(&record).await?,
            };
            if let Some(attended) = attended {
                return Ok(attended);
            }
            decision.again().await?;
        }
    }

    /// None when a row moved in between, and all of it is to be read again.
    async fn attend_once(
        &self,
        record: &QuestionRecord,
        task: TaskId,
    ) -> Result<Option<Attended>, EngineError> {
        let stored = self.tasks.task(task).await?;
        if stored.value.pending_question().is_none_or(|pending| pending.id != record.question.id) {
            return Ok(Some(Attended::Settled));
        }
        let session = self.tasks.store.session(&record.session_id).await?;
        let (places, queued) =
            session.as_ref().map(|session| session.value.queued_for(Some(task))).unwrap_or_default();
        let now = self.tasks.store.now().await?;
        let in_a_row = stored.value.ledger().asking.automatic_in_a_row();
        let (command, extra, actor, done) =
            match decide(&record.question, &queued, self.policy_for(&stored.value).await, in_a_row, now) {
                AnswerDecision::WaitForHuman { until } => return Ok(Some(Attended::Waits { until })),
                AnswerDecision::Escalate => return Ok(Some(Attended::Escalated)),
                AnswerDecision::Answer { text, by, queue_index } => {
                    let used = queue_index.and_then(|index| Some((session?, *places.get(index)?)));
                    let extra = used.map(|(session, place)| without(&session, place)).unwrap_or_default();
                    let actor = Actor::policy(by.to_string());
                    // The answer to a gate moves its run in the same transaction (I7).
                    let extra = extra.and(self.runs.gate_change(task, &text, &actor).await?);
                    let reply =
                        Command::Reply { question: record.question.id, answer: text, answered_by: by };
                    (reply, extra, actor, Attended::Settled)
                }
                AnswerDecision::FailClosed { reason } => {
                    let reason = NonBlank::or(&reason.to_string(), record.question.text().clone());
                    let fail = Command::FailClosed { question: record.question.id, reason };
                    (fail, Change::new(), Actor::policy("fail_closed"), Attended::FailedClosed)
                }
            };
        let context = self.tasks.context(actor).await?;
        let transition = stored.value.apply(command, &context)?;
        let change = Change::transition(stored.version, transition).and(extra);
        let moved = self.tasks.decision("the question").try_commit(change).await?;
        Ok(moved.is_none().then_some(done))
    }

    /// A question of a loop's: the same sources, and failing closed goes back to the hub.
    async fn attend_loop(&self, record: &QuestionRecord) -> Result<Option<Attended>, EngineError> {
        let Some(current) = self.loops.phase_loop(&record.session_id).await?.map(|stored| stored.value)
        else {
            return Ok(Some(Attended::Settled));
        };
        let session = self.tasks.store.session(&record.session_id).await?;
        let (places, queued) =
            session.as_ref().map(|session| session.value.queued_for(None)).unwrap_or_default();
        let now = self.tasks.store.now().await?;
        let in_a_row = current.cycle().map_or(0, AskCycle::automatic_in_a_row);
        match decide(&record.question, &queued, self.policy, in_a_row, now) {
            AnswerDecision::WaitForHuman { until } => Ok(Some(Attended::Waits { until })),
            AnswerDecision::Escalate => Ok(Some(Attended::Escalated)),
            AnswerDecision::FailClosed { .. } => {
                let (session, actor) = (&record.session_id, Actor::policy("fail_closed"));
                match self.loops.leave_loop(session, ExitReason::unanswered(), None, actor).await {
                    Ok(_) => Ok(Some(Attended::FailedClosed)),
                    // Somebody else broke it off in the meantime; the question is gone with it.
                    Err(error) if matches!(error.get(), Some(LoopRefusal::NoSuchEdge(_))) => {
                        Ok(Some(Attended::Settled))
                    }
                    Err(error) => Err(error),
                }
            }
            AnswerDecision::Answer { text, by, queue_index } => {
                let used = queue_index.and_then(|index| Some((session?, *places.get(index)?)));
                let extra = used.map(|(session, place)| without(&session, place)).unwrap_or_default();
                let actor = Actor::policy(by.to_string());
                let given = LoopAnswer { record, answer: &text, answered_by: &by, actor: &actor };
                self.loops.answer_in_loop(&given, extra).await?;
                Ok(Some(Attended::Settled))
            }
        }
    }

    /// Lays down an answer for a question still to come, then sees whether one waits for it already.
    pub async fn queue(
        &self,
        session: &SessionId,
        answer: QueuedAnswer,
        actor: Actor,
    ) -> Result<(), EngineError> {
        let mut decision = self.tasks.decision(format_args!("the session {session}"));
        loop {
            let now = self.tasks.store.now().await?;
            let known = self.tasks.store.session(session).await?;
            let guard = known.as_ref().map_or(WriteGuard::New, |stored| WriteGuard::Version(stored.version));
            let current =
                known.map_or_else(|| Session::open(session.clone(), None, now), |stored| stored.value);
            let body = EventBody::AnswerQueued {
                session: session.clone(),
                task: answer.task,
                text: answer.text.clone(),
            };
            let mut change = Change::new().put(Record::Session(current.with_queued(answer.clone())?), guard);
            change.events.push(Event { at: now, by: actor.clone(), body });
            if decision.commit(change).await? {
                return self.attend_all(Some(session)).await;
            }
        }
    }
}

/// The used answer leaves the queue in the same transaction that applies it, so that it is used once.
fn without(session: &Versioned<Session>, place: usize) -> Change {
    let rest = session.value.without_queued(place);
    Change::new().put(Record::Session(rest), WriteGuard::Version(session.version))
}

impl Attended {
    /// Whether a person still has to do something about it.
    pub const fn needs_human(&self) -> bool {
        match self {
            Self::Escalated | Self::Waits { .. } => true,
            Self::Settled | Self::FailedClosed => false,
        }
    }
}
