//! Where a person's message to a session goes: to the run that is open there, or into a task of its own.
//!
//! A message to a run at work is read by its agent. One to a run that waits answers what it waits for; in words that
//! are no answer it is a remark on it. It never starts a task beside the run.

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::SessionId;
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::recipe::run::{Run, RunState};
use baton_core::records::change::Change;
use baton_core::records::project::Project;
use baton_core::records::receipt::{DeliveredTo, RequestedWork};
use baton_core::records::session::Message;

use crate::asking::Answers;
use crate::base::error::{ErrorKind, Result};
use crate::runs::error::RunError;
use crate::runs::loops::Loops;
use crate::runs::{Runs, SessionRuns, is_loop};
use crate::tasks::chat::{Posting, Taken};
use crate::tasks::error::TaskError;
use crate::tasks::service::TaskService;

/// The answer to a gate that keeps its run in the step.
const NO: &str = "NO";

pub struct MessageDelivery {
    tasks: TaskService,
    answers: Answers,
    session_runs: SessionRuns,
    runs: Runs,
    loops: Loops,
}

/// Who sends a message.
#[derive(Debug, Clone)]
pub struct MessageSender {
    pub actor: Actor,
    pub answers_as: AnsweredBy,
}

impl MessageDelivery {
    pub fn new(tasks: &TaskService) -> Self {
        Self {
            tasks: tasks.clone(),
            answers: Answers::new(tasks),
            session_runs: SessionRuns::new(tasks),
            runs: Runs::new(tasks),
            loops: Loops::new(tasks),
        }
    }

    /// The run that would get a message to this session.
    pub async fn receiver(&self, session: &SessionId) -> Result<Option<Run>> {
        let open = self.session_runs.open(session).await?;
        Ok(open.filter(|run| matches!(run.state(), RunState::Working | RunState::AtGate { .. })))
    }

    /// The question that a message to this run would answer.
    pub async fn pending_question(&self, run: &Run) -> Result<Option<QuestionRecord>> {
        let pending = if is_loop(run) {
            let stored = self.loops.phase_loop(run.session()).await?;
            stored.and_then(|stored| stored.value.pending().map(|question| question.id))
        } else {
            match run.task() {
                Some(task) => self.tasks.task(task).await?.value.pending_question().map(|asked| asked.id),
                None => None,
            }
        };
        match pending {
            Some(id) => self.tasks.question(id).await,
            None => Ok(None),
        }
    }

    /// Takes a message in, once for each key. Whoever names a type or a recipe wants a task of their own, and only a person
    /// answers a run (I19).
    pub async fn post(
        &self,
        project: Option<&Project>,
        posting: &Posting,
        sender: MessageSender,
    ) -> Result<Taken> {
        if let Some(taken) = self.tasks.taken_before(posting).await? {
            return Ok(taken);
        }
        let is_to_run = sender.actor.is_human() && posting.wanted == RequestedWork::default();
        let run = if is_to_run { self.receiver(&posting.session).await? } else { None };
        let Some(run) = run else { return self.tasks.take_in(project, posting, sender.actor).await };
        self.refuse_other_project(project, &posting.session).await?;
        let error = match self.deliver(&run, posting, &sender).await {
            Ok(taken) => return Ok(taken),
            Err(error) => error,
        };
        if let Some(taken) = self.tasks.taken_before(posting).await? {
            return Ok(taken);
        }
        // The run ended meanwhile, and nobody reads what is sent to it.
        if self.receiver(&posting.session).await?.is_none() {
            return self.tasks.take_in(project, posting, sender.actor).await;
        }
        Err(error)
    }

    async fn refuse_other_project(&self, project: Option<&Project>, session: &SessionId) -> Result<()> {
        let known = self.tasks.store.session(session).await?;
        let own = known.and_then(|stored| stored.value.project_id);
        match project {
            Some(project) if !self.tasks.is_same_place(own, Some(project.id)).await? => {
                Err(TaskError::OtherProject { session: session.clone(), project: own }.into())
            }
            Some(_) | None => Ok(()),
        }
    }

    async fn deliver(&self, run: &Run, posting: &Posting, sender: &MessageSender) -> Result<Taken> {
        match self.pending_question(run).await? {
            Some(record) => self.answer(run, &record, posting, sender).await,
            None => self.say(run, posting, sender).await,
        }
    }

    async fn say(&self, run: &Run, posting: &Posting, sender: &MessageSender) -> Result<Taken> {
        let to = delivered_to(run, None, &posting.text);
        let receipt = |message: &Message| posting.receipt(message.task_id, &to, message.at);
        let (session, text) = (&posting.session, posting.text.clone());
        let message = self.session_runs.say_with(session, text, sender.actor.clone(), &receipt).await?;
        Ok(Taken { session: session.clone(), task: message.task_id, delivered: Some(to) })
    }

    async fn give(
        &self,
        record: &QuestionRecord,
        words: NonBlank,
        sender: &MessageSender,
        extra: Change,
    ) -> Result<()> {
        let (by, actor) = (sender.answers_as.clone(), sender.actor.clone());
        self.answers.answer_with(record.question.id, words, by, actor, extra).await?;
        Ok(())
    }

    /// As the answer if it is one, and else as a remark.
    async fn answer(
        &self,
        run: &Run,
        record: &QuestionRecord,
        posting: &Posting,
        sender: &MessageSender,
    ) -> Result<Taken> {
        let to = delivered_to(run, Some(record), &posting.text);
        let now = self.tasks.store.now().await?;
        let receipt = posting.receipt(run.task(), &to, now);
        let refused = match self.give(record, posting.text.clone(), sender, receipt.clone()).await {
            Ok(()) => None,
            // Not one of the offered words. A word that cannot be followed is not a remark.
            Err(error) if error.kind() == ErrorKind::InvalidInput && !error.is::<RunError>() => Some(error),
            Err(error) => return Err(error),
        };
        if let Some(error) = refused {
            if is_loop(run) {
                let remark = self.loops.remark_as_answer(run.session(), &posting.text).await?;
                self.give(record, remark.ok_or(error)?, sender, receipt).await?;
            } else if self.runs.stays_after_no(run)? {
                let (_, said) = self.runs.said(run, &posting.text, &sender.actor).await?;
                self.give(record, NonBlank::new(NO)?, sender, receipt.and(said)).await?;
            } else {
                return Err(error);
            }
        }
        Ok(Taken { session: posting.session.clone(), task: run.task(), delivered: Some(to) })
    }
}

fn delivered_to(run: &Run, question: Option<&QuestionRecord>, text: &NonBlank) -> DeliveredTo {
    DeliveredTo {
        run_id: run.id(),
        recipe_id: run.recipe().clone(),
        question_id: question.map(|record| record.question.id),
        text: text.clone(),
    }
}
