//! Where a person's message to a session goes: to the run or the task that is at work there, or into a task of its own.
//!
//! A message to a run or a task at work is read by its agent. One to a run or a task that waits answers what it waits for; in words
//! that are no answer it is a remark, which its agent reads with the answer. It never starts a task beside them.

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::question::QuestionKind;
use baton_core::ask::question_record::QuestionRecord;
use baton_core::ask::stop_words::{agrees, is_unclear, stops};
use baton_core::base::id::{QuestionId, SessionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::recipe::run::{Run, RunState};
use baton_core::records::change::Change;
use baton_core::records::project::Project;
use baton_core::records::receipt::{DeliveredTo, RequestedWork};
use baton_core::records::session::Message;
use baton_core::task::state::QueueName;
use baton_core::task::{Purpose, Task};
use baton_store::model::query::TaskFilter;

use crate::asking::Answers;
use crate::base::error::{ErrorKind, Result};
use crate::runs::error::RunError;
use crate::runs::loops::Loops;
use crate::runs::{Runs, SessionRuns, is_loop};
use crate::tasks::chat::{Posting, Taken};
use crate::tasks::error::TaskError;
use crate::tasks::service::TaskService;

/// Tasks at work that are looked at for the one a message is meant for.
const AT_WORK_MAX: u32 = 50;
/// Messages looked through for the tasks a conversation is about.
const TALK_MAX: u32 = 50;
/// The answer to a gate that keeps its run in the step.
const NO: &str = "NO";

pub struct MessageDelivery {
    tasks: TaskService,
    answers: Answers,
    session_runs: SessionRuns,
    runs: Runs,
    loops: Loops,
}

/// What a message to a session reaches.
#[derive(Debug, Clone)]
pub enum MessageTarget {
    Run(Box<Run>),
    /// A task at work, without a run that people started.
    Task(Box<Task>),
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

    /// Who would get a message to this session.
    pub async fn receiver(&self, session: &SessionId) -> Result<Option<MessageTarget>> {
        let open = self.session_runs.open(session).await?;
        let is_listening = |run: &Run| matches!(run.state(), RunState::Working | RunState::AtGate { .. });
        match open.filter(is_listening) {
            Some(run) => Ok(Some(MessageTarget::Run(Box::new(run)))),
            None => Ok(self.task_at_work(session).await?.map(|task| MessageTarget::Task(Box::new(task)))),
        }
    }

    /// The newest task of the session whose agent works or has asked. A project's own session also has tasks that nobody
    /// talks about there; of those, none counts that no message led to.
    async fn task_at_work(&self, session: &SessionId) -> Result<Option<Task>> {
        let filter = TaskFilter {
            session: Some(session.clone()),
            queue: Some(QueueName::Claimed),
            newest_first: true,
            ..TaskFilter::default()
        };
        let page = self.tasks.store.tasks(&filter, None, AT_WORK_MAX).await?;
        let mut at_work: Vec<Task> = page.items.into_iter().map(|stored| stored.value).collect();
        at_work.retain(|task| task.spec().purpose == Purpose::Work);
        let project = at_work.first().and_then(|task| task.spec().project_id);
        if project.is_some_and(|project| SessionId::for_project(project) == *session) {
            let talk = self.tasks.store.last_messages(session, None, TALK_MAX).await?;
            let talked_about: Vec<TaskId> = talk.iter().filter_map(|message| message.task_id).collect();
            at_work.retain(|task| talked_about.contains(&task.id()));
        }
        Ok(at_work.into_iter().next())
    }

    /// The question that a message would answer.
    pub async fn pending_question(&self, receiver: &MessageTarget) -> Result<Option<QuestionRecord>> {
        let pending = match receiver {
            MessageTarget::Run(run) => self.question_of_run(run).await?,
            MessageTarget::Task(task) => task.pending_question().map(|asked| asked.id),
        };
        match pending {
            Some(id) => self.tasks.question(id).await,
            None => Ok(None),
        }
    }

    async fn question_of_run(&self, run: &Run) -> Result<Option<QuestionId>> {
        Ok(if is_loop(run) {
            let stored = self.loops.phase_loop(run.session()).await?;
            stored.and_then(|stored| stored.value.pending().map(|question| question.id))
        } else {
            match run.task() {
                Some(task) => self.tasks.task(task).await?.value.pending_question().map(|asked| asked.id),
                None => None,
            }
        })
    }

    /// Takes a message in, once for each key. A message with a type or a recipe is to be a task of its own, and only a person
    /// steers or answers an agent (I19).
    pub async fn post(
        &self,
        project: Option<&Project>,
        posting: &Posting,
        sender: MessageSender,
    ) -> Result<Taken> {
        if let Some(taken) = self.tasks.taken_before(posting).await? {
            return Ok(taken);
        }
        let is_to_agent = sender.actor.is_human() && posting.wanted == RequestedWork::default();
        let receiver = if is_to_agent { self.receiver(&posting.session).await? } else { None };
        let Some(receiver) = receiver else {
            return self.tasks.take_in(project, posting, sender.actor).await;
        };
        self.refuse_other_project(project, &posting.session).await?;
        let error = match self.deliver(&receiver, posting, &sender).await {
            Ok(taken) => return Ok(taken),
            Err(error) => error,
        };
        if let Some(taken) = self.tasks.taken_before(posting).await? {
            return Ok(taken);
        }
        // It ended meanwhile, and nobody reads what is sent to it.
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

    async fn deliver(
        &self,
        receiver: &MessageTarget,
        posting: &Posting,
        sender: &MessageSender,
    ) -> Result<Taken> {
        match self.pending_question(receiver).await? {
            Some(record) if !receiver.is_answered_by(&record, &posting.text) => {
                self.say(receiver, posting, sender).await
            }
            Some(record) => self.answer(receiver, &record, posting, sender).await,
            None => self.say(receiver, posting, sender).await,
        }
    }

    async fn say(
        &self,
        receiver: &MessageTarget,
        posting: &Posting,
        sender: &MessageSender,
    ) -> Result<Taken> {
        let to = receiver.delivered(None, &posting.text);
        let receipt = |message: &Message| posting.receipt(message.task_id, &to, message.at);
        let (session, text) = (&posting.session, &posting.text);
        let message = match receiver {
            MessageTarget::Run(_) => {
                self.session_runs.say_with(session, text.clone(), sender.actor.clone(), &receipt).await?
            }
            MessageTarget::Task(task) => {
                self.tasks.say_with(task.id(), text, &sender.actor, &receipt).await?
            }
        };
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
        receiver: &MessageTarget,
        record: &QuestionRecord,
        posting: &Posting,
        sender: &MessageSender,
    ) -> Result<Taken> {
        let to = receiver.delivered(Some(record), &posting.text);
        let now = self.tasks.store.now().await?;
        let receipt = posting.receipt(receiver.task(), &to, now);
        let refused = match self.give(record, posting.text.clone(), sender, receipt.clone()).await {
            Ok(()) => None,
            // Not one of the offered words. A word that cannot be followed is not a remark.
            Err(error) if error.kind() == ErrorKind::InvalidInput && !error.is::<RunError>() => Some(error),
            Err(error) => return Err(error),
        };
        if let Some(error) = refused {
            let MessageTarget::Run(run) = receiver else { return Err(error) };
            let text = posting.text.as_str();
            if is_loop(run) {
                let remark = self.loops.remark_as_answer(run.session(), &posting.text).await?;
                self.give(record, remark.ok_or(error)?, sender, receipt).await?;
            } else if self.runs.stays_after_no(run)? && !is_unclear(text) && !agrees(text) {
                let (_, said) = self.runs.said(run, &posting.text, &sender.actor).await?;
                self.give(record, NonBlank::new(NO)?, sender, receipt.and(said)).await?;
            } else {
                return Err(error);
            }
        }
        Ok(Taken { session: posting.session.clone(), task: receiver.task(), delivered: Some(to) })
    }
}

impl MessageTarget {
    /// The task whose agent reads the message; none for a run between two tasks.
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::Run(run) => run.task(),
            Self::Task(task) => Some(task.id()),
        }
    }

    /// Whether the words can be meant as the answer. A task's question that offers answers is answered by one of these, and
    /// what only a person may decide never by the way.
    fn is_answered_by(&self, record: &QuestionRecord, text: &NonBlank) -> bool {
        let draft = &record.question.draft;
        let is_offered =
            |option: &NonBlank| option.as_str().trim().eq_ignore_ascii_case(text.as_str().trim());
        match self {
            Self::Run(_) => true,
            // It says that one may write what should be done.
            Self::Task(_) if draft.kind == QuestionKind::Completion => true,
            Self::Task(_) if draft.options.is_empty() => !draft.kind.is_human_only(),
            // I22: a stop is one, whatever was offered.
            Self::Task(_) => draft.options.iter().any(is_offered) || stops(text.as_str()),
        }
    }

    fn delivered(&self, question: Option<&QuestionRecord>, text: &NonBlank) -> DeliveredTo {
        let run = match self {
            Self::Run(run) => Some(run),
            Self::Task(_) => None,
        };
        DeliveredTo {
            run_id: run.map(|run| run.id()),
            recipe_id: run.map(|run| run.recipe().clone()),
            question_id: question.map(|record| record.question.id),
            text: text.clone(),
        }
    }
}
