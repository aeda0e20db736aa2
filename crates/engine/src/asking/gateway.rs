//! The door: where an agent asks. It is let in by its attempt's secret, and by nothing a model could make up.
//!
//! What it asks is in the store before anybody hears of it. What it may not ask is refused with a code and a
//! sentence, and is not kept for later (I6).

use crate::base::error::{Entity, NotFound};
use std::time::Duration;

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::question::QuestionDraft;
use baton_core::ask::question_record::QuestionState;
use baton_core::ask::refusal::AskRefusal;
use baton_core::base::id::{AttemptId, QuestionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::task::Task;
use baton_core::transition::command::Command;
use baton_core::transition::refusal::CommandRefusal;
use tokio::time::{Instant, timeout_at};

use crate::base::attempt_secret::AttemptSecret;
use crate::base::error::EngineError;
use crate::base::redaction;
use crate::projects::Projects;
use crate::settings::AskingSettings;
use crate::tasks::service::TaskService;

#[derive(Clone)]
pub struct AgentGateway {
    tasks: TaskService,
    /// Each says how long its questions wait.
    projects: Projects,
}

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// It is in the inbox, durably.
    Pending { question: QuestionId },
    /// The human said so before in this task; nobody was asked again.
    Known { answer: NonBlank, answered_by: AnsweredBy },
}

/// What came of waiting for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waited {
    Answered {
        answer: NonBlank,
        answered_by: AnsweredBy,
    },
    Withdrawn {
        reason: NonBlank,
    },
    /// Not yet. The agent is to end its turn; it is resumed with the answer.
    Later,
}

impl AgentGateway {
    pub fn new(projects: Projects) -> Self {
        Self { tasks: projects.tasks.clone(), projects }
    }

    /// Draws the secret an attempt's agent will ask with. From here on no earlier one opens the door.
    pub async fn admit(&self, task: TaskId, attempt: AttemptId) -> Result<AttemptSecret, EngineError> {
        let secret = AttemptSecret::draw(attempt);
        let start = Command::Start { attempt, cycle: self.tasks.ids.cycle(), owner: secret.owner() };
        self.tasks.apply(task, start, Actor::Baton).await?;
        Ok(secret)
    }

    /// The task whose live attempt this secret belongs to; none for any other secret, also one of before.
    pub async fn holder(&self, secret: &AttemptSecret) -> Result<Option<Task>, EngineError> {
        let Some(record) = self.tasks.store.attempt(secret.attempt()).await? else { return Ok(None) };
        let task = self.tasks.task(record.task_id).await?.value;
        let is_live = task.state().live_attempt().is_some_and(|live| live.id == secret.attempt());
        let owns = task.ledger().asking.cycle().is_some_and(|cycle| *cycle.owner() == secret.owner());
        Ok((is_live && owns).then_some(task))
    }

    /// Asks, unless the human has said it before.
    pub async fn ask(&self, secret: &AttemptSecret, draft: QuestionDraft) -> Result<Asked, EngineError> {
        let draft = redaction::redact_question(draft);
        let task = self.task_of(secret).await?;
        let owns = task.ledger().asking.cycle().filter(|cycle| *cycle.owner() == secret.owner());
        let question = draft.clone().with_id(self.tasks.ids.question());
        if let Some((answer, answered_by)) = owns.and_then(|cycle| cycle.recall(&question)) {
            return Ok(Asked::Known { answer, answered_by });
        }
        Ok(Asked::Pending { question: self.ask_anew(secret, draft).await? })
    }

    /// Asks the human, whatever they said before.
    pub async fn ask_anew(
        &self,
        secret: &AttemptSecret,
        draft: QuestionDraft,
    ) -> Result<QuestionId, EngineError> {
        let mut draft = redaction::redact_question(draft);
        let task = self.task_of(secret).await?;
        if draft.expires_at.is_none() && !draft.kind.is_human_only() {
            draft.expires_at = self.expiry(&task).await?;
        }
        let task = task.id();
        let ask = Command::Ask { owner: secret.owner(), question: draft };
        let asked = self.tasks.apply(task, ask, Actor::Agent { attempt: secret.attempt() }).await?;
        // Asking leaves it pending; were it not, nobody would own the cycle any more.
        let pending = asked.pending_question().map(|question| question.id);
        pending.ok_or_else(|| refused(task, AskRefusal::NotOwner))
    }

    /// Waits for the answer, for as long as it makes sense to keep an agent alive for it.
    pub async fn answer_within(
        &self,
        question: QuestionId,
        patience: Duration,
    ) -> Result<Waited, EngineError> {
        let until = Instant::now() + patience;
        let mut changes = self.tasks.changes();
        loop {
            changes.mark_unchanged();
            let not_found = || NotFound::new(Entity::Question, question);
            match self.tasks.store.question(question).await?.ok_or_else(not_found)?.value.state {
                QuestionState::Answered { answer, answered_by, .. } => {
                    return Ok(Waited::Answered { answer, answered_by });
                }
                QuestionState::Withdrawn { reason, .. } => return Ok(Waited::Withdrawn { reason }),
                QuestionState::Pending => {}
            }
            match timeout_at(until, changes.changed()).await {
                Ok(Ok(())) => {}
                // The store is closing, or the time is up: either way it is not now.
                Ok(Err(_)) | Err(_) => return Ok(Waited::Later),
            }
        }
    }

    async fn task_of(&self, secret: &AttemptSecret) -> Result<Task, EngineError> {
        let found = self.tasks.store.attempt(secret.attempt()).await?;
        // A stranger learns nothing, not even whether there is such an attempt.
        let record = found.ok_or_else(|| refused(TaskId::from_bits(0), AskRefusal::NotOwner))?;
        Ok(self.tasks.task(record.task_id).await?.value)
    }

    /// How long an agent of the task is kept alive for an answer.
    pub async fn patience(&self, task: TaskId) -> Result<Duration, EngineError> {
        let task = self.tasks.task(task).await?.value;
        Ok(self.asking_of(&task).await.patience())
    }

    /// Of the task's project. Settings that cannot be read keep no agent from asking: the next attempt reports them.
    async fn asking_of(&self, task: &Task) -> AskingSettings {
        match self.projects.settings_for(task).await {
            Ok(settings) => settings.asking.clone(),
            Err(error) => {
                tracing::warn!(task = %task.id(), %error, "the project's settings cannot be read");
                AskingSettings::default()
            }
        }
    }

    async fn expiry(&self, task: &Task) -> Result<Option<Timestamp>, EngineError> {
        let Some(after) = self.asking_of(task).await.expires_after() else { return Ok(None) };
        let now = self.tasks.store.now().await?;
        let after_ms = i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
        Ok(Some(Timestamp::from_ms(now.ms().saturating_add(after_ms))))
    }
}

fn refused(task: TaskId, refusal: AskRefusal) -> EngineError {
    CommandRefusal::MayNotAsk { task, refusal }.into()
}
