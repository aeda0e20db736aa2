//! Answers in other words than the offered ones: a remark behind the word, a review that is sent back, the end of the loop.

use baton_core::ask::choice::{UnreadableAnswer, YesNo, is_one_of, split_remark};
use baton_core::ask::question_record::QuestionState;
use baton_core::ask::stop_words::{agrees, declines, is_unclear, stops};
use baton_core::base::id::SessionId;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::phase::Phase;
use baton_core::phase::phase_loop::PhaseLoop;
use baton_core::phase::work::{PhaseWork, QuestionTopic};
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::records::change::{Change, Versioned};

use crate::base::error::Result;
use crate::runs::loops::Loops;
use crate::runs::loops::answers::{LoopAnswer, ONCE_MORE};
use crate::runs::loops::rows::{closed, put};

/// Words that end the loop wherever it is, beside those that stop any work. DONE means something else where the question is whether a subtask is done.
const BREAK: [&str; 4] = ["BREAK LOOP", "BREAK OFF", "END LOOP", "STOP LOOP"];
const DONE: &str = "DONE";
/// Words that let an agent work once more.
const SEND_BACK: &str = "AGAIN";
const AGAIN: [&str; 4] = [SEND_BACK, "REDO", "RETRY", "SEND BACK"];

/// What such an answer means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LoopReply {
    BreakOff,
    /// The plan is declined, with what should be different.
    Replan(NonBlank),
    /// Everything was executed, and this is to be done too.
    MoreWork(NonBlank),
    /// An agent works on the current subtask again.
    Redo(NonBlank),
    /// The review is sent back.
    SendBack(Option<NonBlank>),
}

impl LoopReply {
    /// `None` for an answer that is one of the offered words, or none that is known.
    pub(crate) fn parse(current: &PhaseLoop, answer: &NonBlank) -> Option<Self> {
        let topic = current.topic()?;
        let (word, remark) = split_remark(answer.as_str());
        let remark = remark.and_then(|remark| NonBlank::new(remark).ok());
        // DONE at the last gate is its NO: the loop ends with its summary.
        let at_last_gate = topic == QuestionTopic::Gate && current.phase() == Phase::Review;
        let is_done = is_one_of(answer.as_str(), &[DONE]) && topic != QuestionTopic::IsDone && !at_last_gate;
        // I22: what may be meant as a stop is no reason to start somebody.
        let is_no = YesNo::read(word) == Ok(YesNo::No) && !is_unclear(answer.as_str());
        if is_done || is_one_of(answer.as_str(), &BREAK) || stops(answer.as_str()) {
            return Some(Self::BreakOff);
        }
        match (current.work(), topic, remark) {
            (PhaseWork::Plan(_), QuestionTopic::Gate, Some(remark)) if is_no => Some(Self::Replan(remark)),
            (PhaseWork::Execute(_), QuestionTopic::Gate, Some(remark)) if is_no => {
                Some(Self::MoreWork(remark))
            }
            (PhaseWork::Execute(_), QuestionTopic::IsDone, Some(remark))
                if is_no || is_one_of(word, &AGAIN) =>
            {
                Some(Self::Redo(remark))
            }
            (PhaseWork::Execute(_), QuestionTopic::IsDone, None) if is_one_of(word, &AGAIN) => {
                NonBlank::new(ONCE_MORE).ok().map(Self::Redo)
            }
            (PhaseWork::Review(_), QuestionTopic::Gate | QuestionTopic::Discovered, remark)
                if is_one_of(word, &AGAIN) =>
            {
                Some(Self::SendBack(remark))
            }
            _ => None,
        }
    }
}

impl Loops {
    /// The answer that a message in other words stands for, where the loop waits for a decision on some work: not yet,
    /// and this is why. `None` where no agent could follow the remark.
    pub(crate) async fn remark_as_answer(
        &self,
        session: &SessionId,
        text: &NonBlank,
    ) -> Result<Option<NonBlank>> {
        let Some(stored) = self.phase_loop(session).await? else { return Ok(None) };
        if is_unclear(text.as_str()) {
            return Err(UnreadableAnswer::may_stop(text.as_str()).into());
        }
        // Whoever agrees and says more may agree to the work, and does not ask for other.
        if agrees(text.as_str()) {
            return Ok(None);
        }
        if declines(text.as_str()) && stored.value.topic().is_some_and(takes_no) {
            return Ok(Some(NonBlank::new(YesNo::No.as_str())?));
        }
        let word = match (stored.value.work(), stored.value.topic()) {
            (PhaseWork::Plan(_) | PhaseWork::Execute(_), Some(QuestionTopic::Gate))
            | (PhaseWork::Execute(_), Some(QuestionTopic::IsDone)) => YesNo::No.as_str(),
            (PhaseWork::Review(_), Some(QuestionTopic::Gate | QuestionTopic::Discovered)) => SEND_BACK,
            _ => return Ok(None),
        };
        Ok(Some(NonBlank::new(format!("{word}: {text}"))?))
    }

    /// The loop after such an answer, in one change.
    pub(crate) async fn take_reply(
        &self,
        stored: &Versioned<PhaseLoop>,
        reply: &LoopReply,
        given: &LoopAnswer<'_>,
        now: Timestamp,
    ) -> Result<(PhaseLoop, Change)> {
        let (id, by) = (given.record.question.id, given.answered_by.clone());
        let next = stored.value.answer_freely(id, given.answer, by.clone())?;
        let settled = QuestionState::Answered { at: now, answer: given.answer.clone(), answered_by: by };
        let answer = closed(given.record, settled, given.actor, now);
        let mut work = next.work().clone();
        let mut more = Change::new();
        match (reply, &mut work) {
            (LoopReply::Replan(remark), PhaseWork::Plan(plan)) => plan.plan_again(remark),
            (LoopReply::MoreWork(text), PhaseWork::Execute(execute)) => {
                let (task, change) = self.extra_subtask(&stored.value, text, given.actor, now).await?;
                execute.add(task, text.to_string());
                more = change;
            }
            (LoopReply::Redo(remark), PhaseWork::Execute(execute)) => {
                if let Some(task) = execute.current().map(|current| current.task.id) {
                    more = self.let_run(task, Some(remark), given.actor).await?;
                }
                execute.run_again();
            }
            (LoopReply::SendBack(remark), PhaseWork::Review(review)) => review.review_again(remark.as_ref()),
            (LoopReply::BreakOff, _) => {
                let reason = ExitReason::user_requested();
                return self.left(stored, reason, None, given.actor, Some(answer), now).await;
            }
            // `parse` looked at the same work.
            _ => {}
        }
        let next = next.at_work(work, None);
        Ok((next.clone(), put(&next, Some(stored.version)).and(answer).and(more)))
    }
}

/// Whether NO answers such a question.
const fn takes_no(topic: QuestionTopic) -> bool {
    match topic {
        QuestionTopic::Gate
        | QuestionTopic::MayRun
        | QuestionTopic::IsDone
        | QuestionTopic::Discovered
        | QuestionTopic::ReviewFailed => true,
        QuestionTopic::Vagueness
        | QuestionTopic::Revision
        | QuestionTopic::List
        | QuestionTopic::MoreWork => false,
    }
}

#[cfg(test)]
mod tests {
    use baton_core::ask::question::{QuestionDraft, QuestionKind};
    use baton_core::base::id::{CycleId, QuestionId};
    use baton_core::people::owner_token::OwnerToken;
    use baton_core::phase::PhaseStart;
    use baton_core::phase::phase_loop::FreshCycle;

    use super::*;

    fn at(phase: PhaseStart, topic: QuestionTopic) -> PhaseLoop {
        let owner = OwnerToken::from_digest([1; 32]);
        let fresh = FreshCycle { id: CycleId::from_bits(1), owner };
        let started = PhaseLoop::new("sess_1".parse().unwrap()).start(phase, fresh).unwrap().next;
        let draft = QuestionDraft::new(QuestionKind::Clarification, NonBlank::new("Well?").unwrap());
        let asked = started.ask_anew(&owner, draft.with_id(QuestionId::from_bits(1))).unwrap();
        asked.at_work(asked.work().clone(), Some(topic))
    }

    #[test]
    fn answers_in_other_words() {
        use PhaseStart::{Execute, Plan, Review};
        use QuestionTopic::{Discovered, Gate, IsDone, MayRun, MoreWork, Revision, Vagueness};
        let remark = |text: &str| NonBlank::new(text).unwrap();
        for (phase, topic, answer, expected) in [
            (Plan, Gate, "NO: three parts", Some(LoopReply::Replan(remark("three parts")))),
            (Plan, Gate, "NO", None),
            (Plan, Gate, "YES: three parts", None),
            (Plan, Gate, "NO: not now", Some(LoopReply::BreakOff)),
            (Plan, Gate, "No, not now", Some(LoopReply::BreakOff)),
            (Plan, Gate, "NO. Stop.", Some(LoopReply::BreakOff)),
            (Plan, Gate, "いいえ、後で", Some(LoopReply::BreakOff)),
            (Plan, Gate, "DONE", Some(LoopReply::BreakOff)),
            (Plan, Revision, "Done: the first part", None),
            (Plan, Revision, "stop", Some(LoopReply::BreakOff)),
            (Plan, Vagueness, "Not now.", Some(LoopReply::BreakOff)),
            (Plan, Vagueness, "stop the server first", None),
            (Execute, MoreWork, "cancel", Some(LoopReply::BreakOff)),
            (Execute, Gate, "no - add a test", Some(LoopReply::MoreWork(remark("add a test")))),
            (Execute, MayRun, "break loop", Some(LoopReply::BreakOff)),
            (Execute, IsDone, "DONE", None),
            (Execute, IsDone, "NO: use tabs", Some(LoopReply::Redo(remark("use tabs")))),
            (Execute, IsDone, "redo", Some(LoopReply::Redo(remark(ONCE_MORE)))),
            (Execute, IsDone, "FAILED", None),
            (Review, Gate, "DONE", None),
            (Review, Gate, "AGAIN: and the docs?", Some(LoopReply::SendBack(Some(remark("and the docs?"))))),
            (Review, Discovered, "again", Some(LoopReply::SendBack(None))),
            (Review, Discovered, "EDIT", None),
        ] {
            assert_eq!(LoopReply::parse(&at(phase, topic), &remark(answer)), expected, "{answer}");
        }
    }
}
