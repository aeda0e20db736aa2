//! An answer arrives, or the policy gives up on one.

use crate::ask::answer_source::AnsweredBy;
use crate::ask::choice::{SplitRetryCancel, YesNo, split_remark};
use crate::ask::fallback::ENOUGH;
use crate::ask::question::{Question, QuestionKind};
use crate::ask::question_record::QuestionState;
use crate::ask::stop_words::{declines, puts_off_choice, refuses, remark_to_yes, stops};
use crate::base::id::{AttemptId, QuestionId};
use crate::base::text::NonBlank;
use crate::records::effect::{Effect, Notification};
use crate::records::event::EventBody;
use crate::recycle::RecycleReason;
use crate::task::Purpose;
use crate::task::state::{AcceptedBy, TaskState};
use crate::transition::command::CommandName;
use crate::transition::refusal::CommandRefusal;

use crate::transition::step::TransitionBuilder;

impl TransitionBuilder<'_> {
    pub(super) fn reply(
        &mut self,
        pending: &Question,
        after: Option<AttemptId>,
        question: QuestionId,
        answer: &NonBlank,
        answered_by: AnsweredBy,
    ) -> Result<(), CommandRefusal> {
        self.is_pending(pending, question)?;
        let answer = self.take_answer(question, answer, &answered_by)?;
        let choice = match pending.kind() {
            // I22: whatever was offered, a person may put the decision off.
            QuestionKind::Escalation if puts_off(&answer) => Some(Decided::Stopped),
            QuestionKind::Escalation => Some(read_choice(question, &answer)?),
            // I22: an operation that a person refused does not run again before they say so. Another task may go on without
            // what it asked for.
            QuestionKind::Danger
                if matches!(self.before.state, TaskState::Blocked { .. }) && refuses(answer.as_str()) =>
            {
                Some(Decided::Refused)
            }
            _ if stops_work(pending, &answer) => Some(Decided::Stopped),
            QuestionKind::Completion if answer.as_str() == ENOUGH => Some(Decided::Enough),
            QuestionKind::Completion => {
                self.clear_count();
                None
            }
            QuestionKind::Clarification
            | QuestionKind::Confirmation
            | QuestionKind::Gate
            | QuestionKind::Permission
            | QuestionKind::Danger => None,
        };
        let (said, is_automatic) = (answer.clone(), answered_by.is_automatic());
        let at = self.task.updated_at;
        let state = QuestionState::Answered { at, answer: answer.clone(), answered_by: answered_by.clone() };
        self.close_question(pending, state);
        self.say(EventBody::QuestionAnswered {
            session: self.before.spec.session_id.clone(),
            task: Some(self.before.id()),
            question,
            answer,
            answered_by,
        });
        self.task.ledger.conflicts = 0;
        match choice {
            None => self.resume(after),
            Some(Decided::Enough) => self.take_output(after),
            Some(Decided::Refused) => {
                self.task.ledger.resumes = after;
                self.hold_for(NonBlank::led_by("you refused what it asked for: ", said.as_str()));
            }
            Some(Decided::Stopped) => {
                self.leave_with_person(after, stop_reason(&said, is_automatic));
            }
            Some(Decided::Next(SplitRetryCancel::Retry)) => {
                self.clear_count();
                self.resume(None);
            }
            Some(Decided::Next(SplitRetryCancel::Cancel)) => self.end_cancelled(None),
            Some(Decided::Next(SplitRetryCancel::Split)) => self.split_by_hand(),
        }
        Ok(())
    }

    pub(super) fn fail_closed(
        &mut self,
        pending: &Question,
        question: QuestionId,
        reason: NonBlank,
    ) -> Result<(), CommandRefusal> {
        self.is_pending(pending, question)?;
        if pending.kind().is_human_only() {
            return Err(CommandRefusal::HumanOnly { question });
        }
        self.withdraw_question(reason.clone());
        self.effect(Effect::Notify { about: Notification::Failed(self.task.id()) });
        self.say(EventBody::TaskFailed { task: self.task.id(), error: reason.clone() });
        self.task.state = TaskState::Failed { error: reason, was_held: false };
        Ok(())
    }

    /// The run ends while it waits for an answer. A breakdown has no run.
    pub(super) fn leave_run(&mut self, after: Option<AttemptId>) -> Result<(), CommandRefusal> {
        if self.before.is_breakdown() {
            return Err(self.wrong_state(CommandName::LeaveRun));
        }
        self.withdraw_question(NonBlank::fixed("the run was stopped"));
        self.resume(after);
        Ok(())
    }

    pub(super) fn is_pending(&self, pending: &Question, asked: QuestionId) -> Result<(), CommandRefusal> {
        if pending.id == asked {
            Ok(())
        } else {
            Err(CommandRefusal::OtherQuestion { task: self.before.id(), asked, pending: pending.id })
        }
    }

    /// Back to the queue, ahead of other work, keeping history, worktree and agent session.
    pub(super) fn resume(&mut self, after: Option<AttemptId>) {
        self.task.ledger.is_ahead = true;
        self.task.ledger.resumes = after;
        self.send_home();
    }

    /// I22: nobody works on it until a person lets somebody. What was done so far is kept.
    pub(super) fn leave_with_person(&mut self, after: Option<AttemptId>, reason: NonBlank) {
        match self.before.spec.purpose {
            Purpose::Work | Purpose::Run => {
                self.task.ledger.resumes = after;
                self.hold_for(reason);
            }
            // A breakdown starts by a person's word anyway, also one whose plan was rejected.
            Purpose::Breakdown { .. } => {
                self.task.ledger.is_ahead = false;
                self.task.ledger.held_because = Some(reason);
                self.task.state = TaskState::Breakdown { released: false };
            }
        }
    }

    /// What the agent wrote is the result, without the question that was appended to it.
    fn take_output(&mut self, attempt: Option<AttemptId>) {
        let written = self.before.ledger.last_end.as_ref().map(|end| end.reported.output.clone());
        self.task.ledger.output = written.filter(|output| !output.trim().is_empty());
        self.end_done(attempt, AcceptedBy::Actor { actor: self.context.actor.clone() });
    }

    /// The human writes the smaller tasks; no agent breaks work down a second time (I14).
    fn split_by_hand(&mut self) {
        match self.before.spec.purpose {
            Purpose::Work | Purpose::Run => self.recycle_into(RecycleReason::TooLarge, true),
            Purpose::Breakdown { .. } => self.task.state = TaskState::Breakdown { released: false },
        }
    }
}

/// An answer that decides more than how to go on.
enum Decided {
    Next(SplitRetryCancel),
    Enough,
    Refused,
    Stopped,
}

pub(super) fn stop_reason(said: &NonBlank, is_automatic: bool) -> NonBlank {
    match split_remark(said.as_str()).1 {
        _ if is_automatic => NonBlank::led_by("its question got an automatic answer: ", said.as_str()),
        Some(remark) => NonBlank::led_by("stopped by you: ", remark),
        None => NonBlank::fixed("stopped by you"),
    }
}

/// I22: "stop" is no instruction to an agent, unless it was one of the answers offered; nor is NO to a question of
/// Baton's that says it holds the task.
pub(super) fn stops_work(pending: &Question, answer: &NonBlank) -> bool {
    let decides_itself = match pending.kind() {
        QuestionKind::Gate | QuestionKind::Escalation => true,
        QuestionKind::Clarification
        | QuestionKind::Confirmation
        | QuestionKind::Permission
        | QuestionKind::Danger
        | QuestionKind::Completion => false,
    };
    let options = &pending.draft.options;
    // In words of one's own, "no new files" may begin an instruction.
    let is_plain_no =
        YesNo::read(split_remark(answer.as_str()).0) == Ok(YesNo::No) || declines(answer.as_str());
    let goes_on = remark_to_yes(answer.as_str()).is_some();
    let is_no = pending.draft.no_holds
        && !goes_on
        && (is_plain_no || (!options.is_empty() && refuses(answer.as_str())));
    !decides_itself && (is_no || (!options.contains(answer) && stops(answer.as_str())))
}

/// Neither of an escalation's choices, but no, or not now.
fn puts_off(answer: &NonBlank) -> bool {
    SplitRetryCancel::read(answer.as_str()).is_err() && puts_off_choice(answer.as_str())
}

fn read_choice(question: QuestionId, answer: &NonBlank) -> Result<Decided, CommandRefusal> {
    SplitRetryCancel::read(answer.as_str()).map(Decided::Next).map_err(|_| CommandRefusal::UnreadableChoice {
        question,
        answer: answer.to_string(),
        choices: "SPLIT, RETRY, CANCEL".to_owned(),
    })
}
