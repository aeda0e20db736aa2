//! Questions of the running agent. The cycle in the task's ledger decides who may ask (I6).

use crate::ask::answer_source::AnsweredBy;
use crate::ask::cycle::{AskCycle, GateRule};
use crate::ask::question::{QuestionDraft, QuestionKind};
use crate::ask::question_record::QuestionState;
use crate::ask::refusal::{AnswerRefusal, AskRefusal};
use crate::base::id::{AttemptId, CycleId, QuestionId};
use crate::base::text::NonBlank;
use crate::people::owner_token::OwnerToken;
use crate::records::effect::{Effect, Notification};
use crate::records::event::EventBody;
use crate::task::attempt::Attempt;
use crate::task::attempt_record::AttemptClosing;
use crate::task::ledger::Asking;
use crate::task::state::TaskState;
use crate::transition::refusal::CommandRefusal;

use crate::transition::reply::{stop_reason, stops_work};
use crate::transition::step::TransitionBuilder;

impl TransitionBuilder<'_> {
    /// From here on only the new attempt's secret may ask.
    pub(super) fn start(
        &mut self,
        attempt: AttemptId,
        cycle: CycleId,
        owner: OwnerToken,
    ) -> Result<(), CommandRefusal> {
        let (cycle, asked_at) = match &self.before.ledger.asking {
            Asking::Cycle { cycle, asked_at } => {
                (cycle.take_over(owner).map_err(|refusal| self.may_not_ask(refusal))?, *asked_at)
            }
            // The gate rule is unused: a task's execution has no gate.
            Asking::NotStarted { automatic_in_a_row } => {
                (AskCycle::open(cycle, owner, GateRule::YesPasses, *automatic_in_a_row), None)
            }
        };
        self.task.ledger.asking = Asking::Cycle { cycle: Box::new(cycle), asked_at };
        self.say(EventBody::AgentStarted { task: self.task.id(), attempt });
        Ok(())
    }

    pub(super) fn ask_for_agent(
        &mut self,
        owner: &OwnerToken,
        mut draft: QuestionDraft,
    ) -> Result<(), CommandRefusal> {
        // A gate ends a phase, and a task's own execution has none.
        if draft.kind == QuestionKind::Gate {
            draft.kind = QuestionKind::Confirmation;
        }
        let question = draft.with_id(self.context.fresh.question);
        let cycle = self.before.ledger.asking.cycle();
        let cycle = cycle.ok_or_else(|| self.may_not_ask(AskRefusal::NoCycle))?;
        let cycle = cycle.ask_anew(owner, question).map_err(|refusal| self.may_not_ask(refusal))?;
        if let Some(question) = cycle.pending().cloned() {
            self.announce(&question);
        }
        let asked_at = Some(self.task.updated_at);
        self.task.ledger.asking = Asking::Cycle { cycle: Box::new(cycle), asked_at };
        Ok(())
    }

    /// A stranger learns nothing about the task; the former owner learns that its turn is over.
    pub(super) fn nobody_may_ask(&self, owner: &OwnerToken) -> CommandRefusal {
        self.may_not_ask(match self.before.ledger.asking.cycle() {
            Some(cycle) if cycle.owner() == owner => AskRefusal::CycleClosed { cycle: cycle.id() },
            Some(_) | None => AskRefusal::NotOwner,
        })
    }

    /// Nobody may ask any more; a late question is recognised as such.
    pub(super) fn close_asking(&mut self) {
        self.task.ledger.asking.change(AskCycle::close);
    }

    fn may_not_ask(&self, refusal: AskRefusal) -> CommandRefusal {
        CommandRefusal::MayNotAsk { task: self.before.id(), refusal }
    }

    /// The answer arrives while the agent still runs: it is told now, or resumed with it.
    pub(super) fn reply_to_agent(
        &mut self,
        attempt: &Attempt,
        question: QuestionId,
        answer: &NonBlank,
        answered_by: AnsweredBy,
    ) -> Result<(), CommandRefusal> {
        let answer = self.take_answer(question, answer, &answered_by)?;
        let stopped = self.before.pending_question().filter(|pending| stops_work(pending, &answer));
        let stopped = stopped.map(|_| stop_reason(&answer, answered_by.is_automatic()));
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
        if let Some(reason) = stopped {
            let at = self.task.updated_at;
            self.close_attempt(attempt.clone(), AttemptClosing::Stopped { at });
            self.effect(Effect::StopAgent { attempt: attempt.id });
            self.leave_with_person(Some(attempt.id), reason);
        }
        Ok(())
    }

    /// Applies an answer to the cycle the question came from and counts automatic answers. Returns the option's own
    /// wording, if there are options.
    pub(super) fn take_answer(
        &mut self,
        id: QuestionId,
        answer: &NonBlank,
        answered_by: &AnsweredBy,
    ) -> Result<NonBlank, CommandRefusal> {
        let task = self.before.id();
        let pending = self.before.pending_question().ok_or_else(|| CommandRefusal::WrongState {
            task,
            state: self.before.state.name(),
            command: crate::transition::command::CommandName::Reply,
        })?;
        self.is_pending(pending, id)?;
        // Baton's own question is read by the same rules, in a temporary cycle.
        let asking = &self.before.ledger.asking;
        let of_agent = asking.cycle().filter(|_| asking.pending().is_some_and(|asked| asked.id == id));
        let cycle = of_agent
            .cloned()
            .unwrap_or_else(|| AskCycle::holding(pending.clone(), asking.automatic_in_a_row()));
        let answered = cycle.answer(id, answer, answered_by.clone()).map_err(refused)?;
        let is_of_agent = of_agent.is_some();
        let in_a_row = answered.cycle.automatic_in_a_row();
        match &mut self.task.ledger.asking {
            Asking::Cycle { cycle, .. } if is_of_agent => **cycle = answered.cycle,
            Asking::Cycle { cycle, .. } => **cycle = cycle.counting(in_a_row),
            Asking::NotStarted { automatic_in_a_row } => *automatic_in_a_row = in_a_row,
        }
        Ok(answered.answer)
    }

    /// The policy fails the work rather than decide for the human, while the agent still runs.
    pub(super) fn fail_closed_at_work(
        &mut self,
        attempt: Attempt,
        question: QuestionId,
        reason: NonBlank,
    ) -> Result<(), CommandRefusal> {
        if let Some(pending) = self.before.pending_question() {
            self.is_pending(pending, question)?;
            if pending.kind().is_human_only() {
                return Err(CommandRefusal::HumanOnly { question });
            }
        }
        self.withdraw_question(reason.clone());
        let (id, at) = (attempt.id, self.task.updated_at);
        self.close_attempt(attempt, AttemptClosing::Stopped { at });
        self.effect(Effect::StopAgent { attempt: id });
        self.effect(Effect::RetireWorktree { attempt: id });
        self.effect(Effect::Notify { about: Notification::Failed(self.task.id()) });
        self.say(EventBody::TaskFailed { task: self.task.id(), error: reason.clone() });
        self.task.state = TaskState::Failed { error: reason, was_held: false };
        Ok(())
    }
}

fn refused(refusal: AnswerRefusal) -> CommandRefusal {
    match refusal {
        AnswerRefusal::HumanOnly { id } => CommandRefusal::HumanOnly { question: id },
        AnswerRefusal::AutomationStopped { id, limit } => {
            CommandRefusal::AutomationStopped { question: id, limit }
        }
        AnswerRefusal::Unreadable { id, why } => CommandRefusal::UnreadableChoice {
            question: id,
            answer: why.given().to_owned(),
            choices: why.choices(),
        },
        AnswerRefusal::AlreadyAnswered { id }
        | AnswerRefusal::Withdrawn { id }
        | AnswerRefusal::UnknownQuestion { id }
        | AnswerRefusal::IsGate { id } => CommandRefusal::NotPending { question: id },
    }
}
