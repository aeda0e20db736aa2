//! The agent at work asks, and is answered or not. The cycle in the task's ledger says who may (I6).

use crate::ask::answer_source::AnsweredBy;
use crate::ask::cycle::{AskCycle, GateRule};
use crate::ask::question::{Draft, QuestionKind};
use crate::ask::question_record::QuestionState;
use crate::ask::refusal::{AnswerRefusal, AskRefusal};
use crate::base::id::{AttemptId, CycleId, QuestionId};
use crate::base::text::NonBlank;
use crate::people::owner_token::OwnerToken;
use crate::records::effect::{Effect, Notice};
use crate::records::event::EventBody;
use crate::task::attempt::Attempt;
use crate::task::attempt_record::Closing;
use crate::task::state::TaskState;
use crate::transition::refusal::Refusal;

use crate::transition::step::Step;

impl Step<'_> {
    /// From here on the new attempt's secret asks, and no other does.
    pub(super) fn start(
        &mut self,
        attempt: AttemptId,
        cycle: CycleId,
        owner: OwnerToken,
    ) -> Result<(), Refusal> {
        let taken_over = match &self.before.ledger.asking {
            Some(cycle) => cycle.taken_over_by(owner).map_err(|refusal| self.may_not_ask(refusal))?,
            // Its gate rule is never used: a task's execution has no gate.
            None => AskCycle::open(cycle, owner, GateRule::YesPasses, self.before.ledger.automatic_in_a_row),
        };
        self.task.ledger.asking = Some(taken_over);
        self.say(EventBody::AgentStarted { task: self.task.id(), attempt });
        Ok(())
    }

    pub(super) fn ask_for_agent(&mut self, owner: &OwnerToken, mut draft: Draft) -> Result<(), Refusal> {
        // A gate ends a phase, and a task's own execution has none to end.
        if draft.kind == QuestionKind::Gate {
            draft.kind = QuestionKind::Confirmation;
        }
        let question = draft.with_id(self.context.fresh.question);
        let cycle = self.before.ledger.asking.as_ref();
        let cycle = cycle.ok_or_else(|| self.may_not_ask(AskRefusal::NoCycle))?;
        let cycle = cycle.ask_anew(owner, question).map_err(|refusal| self.may_not_ask(refusal))?;
        if let Some(question) = cycle.pending().cloned() {
            self.announce(&question);
        }
        self.task.ledger.asked_at = Some(self.task.updated_at);
        self.task.ledger.asking = Some(cycle);
        Ok(())
    }

    /// A stranger learns nothing about the task; the owner of before is told that its turn is over.
    pub(super) fn nobody_may_ask(&self, owner: &OwnerToken) -> Refusal {
        self.may_not_ask(match &self.before.ledger.asking {
            Some(cycle) if cycle.owner() == owner => AskRefusal::CycleClosed { cycle: cycle.id() },
            Some(_) | None => AskRefusal::NotOwner,
        })
    }

    /// Nobody asks any more; a late one is known for what it is.
    pub(super) fn close_asking(&mut self) {
        self.task.ledger.asking = self.task.ledger.asking.as_ref().map(AskCycle::close);
    }

    fn may_not_ask(&self, refusal: AskRefusal) -> Refusal {
        Refusal::MayNotAsk { task: self.before.id(), refusal }
    }

    /// The answer is there before the agent's turn is over: it is told it, or resumed with it.
    pub(super) fn reply_to_agent(
        &mut self,
        question: QuestionId,
        answer: &NonBlank,
        answered_by: AnsweredBy,
    ) -> Result<(), Refusal> {
        let answer = self.take_answer(question, answer, &answered_by)?;
        if let Some(pending) = self.before.pending_question() {
            let at = self.task.updated_at;
            let (said, by) = (answer.clone(), answered_by.clone());
            self.close_question(pending, QuestionState::Answered { at, answer: said, answered_by: by });
        }
        self.say(EventBody::QuestionAnswered {
            session: self.before.spec.session_id.clone(),
            task: Some(self.before.id()),
            question,
            answer,
            answered_by,
        });
        Ok(())
    }

    /// Applies an answer to the cycle the question is from, if it is from it, and counts who gave it. The answer
    /// comes back in the question's own word, where it offers words.
    pub(super) fn take_answer(
        &mut self,
        id: QuestionId,
        answer: &NonBlank,
        answered_by: &AnsweredBy,
    ) -> Result<NonBlank, Refusal> {
        let task = self.before.id();
        let pending = self.before.pending_question().ok_or_else(|| Refusal::WrongState {
            task,
            state: self.before.state.name(),
            command: crate::transition::command::CommandName::Reply,
        })?;
        self.is_pending(pending, id)?;
        // A question of Baton's own is read by the same rules, in a cycle made for the occasion.
        let cycle = match &self.before.ledger.asking {
            Some(cycle) if cycle.pending().is_some_and(|of_agent| of_agent.id == id) => cycle.clone(),
            Some(_) | None => AskCycle::holding(pending.clone(), self.before.ledger.automatic_in_a_row),
        };
        let answered = cycle.answer(id, answer, answered_by.clone()).map_err(refused)?;
        self.task.ledger.automatic_in_a_row = answered.cycle.automatic_in_a_row();
        self.task.ledger.asking = match &self.before.ledger.asking {
            Some(of_task) if of_task.id() == answered.cycle.id() => Some(answered.cycle),
            Some(of_task) => Some(of_task.counting(answered.cycle.automatic_in_a_row())),
            None => None,
        };
        Ok(answered.answer)
    }

    /// The policy would rather end the work than decide for the human, and the agent is still at it.
    pub(super) fn fail_closed_at_work(
        &mut self,
        attempt: Attempt,
        question: QuestionId,
        reason: NonBlank,
    ) -> Result<(), Refusal> {
        if let Some(pending) = self.before.pending_question() {
            self.is_pending(pending, question)?;
            if pending.kind().is_human_only() {
                return Err(Refusal::HumanOnly { question });
            }
        }
        self.withdraw_question(reason.clone());
        let (id, at) = (attempt.id, self.task.updated_at);
        self.close_attempt(attempt, Closing::Stopped { at });
        self.effect(Effect::StopAgent { attempt: id });
        self.effect(Effect::RetireWorktree { attempt: id });
        self.effect(Effect::Notify { about: Notice::Failed(self.task.id()) });
        self.say(EventBody::TaskFailed { task: self.task.id(), error: reason.clone() });
        self.task.state = TaskState::Failed { error: reason };
        Ok(())
    }
}

fn refused(refusal: AnswerRefusal) -> Refusal {
    match refusal {
        AnswerRefusal::HumanOnly { id } => Refusal::HumanOnly { question: id },
        AnswerRefusal::AutomationStopped { id, limit } => Refusal::AutomationStopped { question: id, limit },
        AnswerRefusal::Unreadable { id, why } => Refusal::UnreadableChoice {
            question: id,
            answer: why.given().to_owned(),
            choices: why.options().join(", "),
        },
        AnswerRefusal::AlreadyAnswered { id }
        | AnswerRefusal::Withdrawn { id }
        | AnswerRefusal::UnknownQuestion { id }
        | AnswerRefusal::IsGate { id } => Refusal::NotPending { question: id },
    }
}
