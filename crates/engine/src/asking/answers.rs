//! One path for every answer, from any surface to what asked: a task, a recipe at its gate, or the loop.

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::{QuestionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::records::change::Change;
use baton_core::task::Task;
use baton_core::transition::command::Command;

use crate::base::error::{Entity, NotFound, Result};
use crate::runs::Runs;
use crate::runs::loops::{LoopAnswer, Loops};
use crate::tasks::error::TaskError;
use crate::tasks::service::TaskService;

#[derive(Clone)]
pub struct Answers {
    tasks: TaskService,
    runs: Runs,
    loops: Loops,
}

impl Answers {
    pub fn new(tasks: &TaskService) -> Self {
        Self { tasks: tasks.clone(), runs: Runs::new(tasks), loops: Loops::new(tasks) }
    }

    /// Answers the question a task waits on.
    pub async fn reply(
        &self,
        id: TaskId,
        answer: NonBlank,
        answered_by: AnsweredBy,
        actor: Actor,
    ) -> Result<Task> {
        let task = self.tasks.task(id).await?.value;
        let question = task.pending_question().ok_or(TaskError::NotWaiting { task: id })?.id;
        self.apply(id, question, answer, answered_by, actor, Change::new()).await
    }

    /// Answers a question by its own id; the first answer wins. The task is none where the loop asked.
    pub async fn answer(
        &self,
        id: QuestionId,
        answer: NonBlank,
        answered_by: AnsweredBy,
        actor: Actor,
    ) -> Result<Option<Task>> {
        self.answer_with(id, answer, answered_by, actor, Change::new()).await
    }

    /// The same, with what else is to be written in the same transaction.
    pub(crate) async fn answer_with(
        &self,
        id: QuestionId,
        answer: NonBlank,
        answered_by: AnsweredBy,
        actor: Actor,
        extra: Change,
    ) -> Result<Option<Task>> {
        let not_found = || NotFound::new(Entity::Question, id);
        let question = self.tasks.store.question(id).await?.ok_or_else(not_found)?.value;
        refuse_settled(&question)?;
        let Some(task) = question.task_id else {
            let given =
                LoopAnswer { record: &question, answer: &answer, answered_by: &answered_by, actor: &actor };
            self.loops.answer_in_loop(&given, extra).await?;
            return Ok(None);
        };
        self.apply(task, id, answer, answered_by, actor, extra).await.map(Some)
    }

    /// The answer to a gate moves its run in the same transaction (I7).
    async fn apply(
        &self,
        task: TaskId,
        question: QuestionId,
        answer: NonBlank,
        answered_by: AnsweredBy,
        actor: Actor,
        extra: Change,
    ) -> Result<Task> {
        if !answered_by.is_automatic() && self.runs.stop_by_answer(task, &answer, &actor, &extra).await? {
            return Ok(self.tasks.task(task).await?.value);
        }
        let gate = self.runs.gate_change(task, &answer, &actor).await?.and(extra);
        let reply = Command::Reply { question, answer, answered_by };
        self.tasks.apply_with(task, actor, |_| Ok((reply.clone(), gate.clone()))).await
    }
}

fn refuse_settled(question: &QuestionRecord) -> Result<()> {
    let by = match &question.state {
        QuestionState::Pending => return Ok(()),
        QuestionState::Answered { answered_by, .. } => answered_by.to_string(),
        QuestionState::Withdrawn { reason, .. } => format!("nobody: {reason}"),
    };
    Err(TaskError::AlreadyAnswered { by }.into())
}
