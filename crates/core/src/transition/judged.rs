//! From a claim to the end of its attempt: the guard's verdict becomes the task's next state.

use crate::ask::fallback::{Fallback, dangerous_again, nothing_at_all};
use crate::base::id::AttemptId;
use crate::base::text::{AgentName, NonBlank};
use crate::records::effect::{Effect, Notification};
use crate::records::event::EventBody;
use crate::recycle::{CONTINUATIONS_MAX, TRIES_MAX, escalation};
use crate::task::Purpose;
use crate::task::attempt::{Attempt, AttemptEnd, AttemptResult};
use crate::task::attempt_record::AttemptClosing;
use crate::task::guard::{AttemptVerdict, Judgement, RequeueReason, judge, judge_breakdown, judge_run};
use crate::task::ledger::TaskNote;
use crate::task::state::{AcceptedBy, Provisional, ReviewMark, TaskState};
use crate::transition::refusal::CommandRefusal;

use crate::transition::step::TransitionBuilder;

/// A person asked for changes and there are none: only a person who knows that may accept it.
fn unchanged(mark: ReviewMark) -> ReviewMark {
    let mut reasons = vec!["it came back unchanged after changes were requested".to_owned()];
    match mark {
        ReviewMark::Ready => {}
        ReviewMark::NoChanges { reason } => reasons.push(format!("the agent says: {reason}")),
        ReviewMark::NeedsReview { reasons: others } => reasons.extend(others),
        ReviewMark::BurnedOut | ReviewMark::NotConverging | ReviewMark::Plan => return mark,
    }
    ReviewMark::NeedsReview { reasons }
}

impl TransitionBuilder<'_> {
    pub(super) fn claim(
        &mut self,
        attempt: AttemptId,
        agent: AgentName,
        open_blockers: u32,
        worker: Option<String>,
    ) -> Result<(), CommandRefusal> {
        let task = self.before.id();
        if let Purpose::Breakdown { by_hand: true, .. } = self.before.spec.purpose {
            return Err(CommandRefusal::SplitByHand { task });
        }
        if !self.before.state.is_claimable() {
            return Err(CommandRefusal::NotReleased { task });
        }
        if open_blockers > 0 {
            return Err(CommandRefusal::WaitingOn { task, open_blockers });
        }
        if let TaskState::NeedsContinuation { after } = self.before.state {
            self.task.ledger.resumes = Some(after);
        }
        self.open_attempt(attempt, agent, worker);
        Ok(())
    }

    pub(super) fn settle(&mut self, attempt: Attempt, end: AttemptEnd) {
        let Judgement { verdict, output } = match self.before.spec.purpose {
            Purpose::Work => judge(self.before.spec.task_type, &end),
            Purpose::Run => judge_run(&end),
            Purpose::Breakdown { .. } => judge_breakdown(&end),
        };
        let id = attempt.id;
        let is_stopped = matches!(end.reported.result, AttemptResult::Stopped { .. });
        let is_answered = self.was_answered(&attempt, &end.reported.result);
        self.task.ledger.is_ahead = false;
        self.task.ledger.submitted_by = None;
        // A plan that was handed in without a word replaces what was wrong with the last one.
        let is_plan = self.before.is_breakdown() && end.reported.plan_submitted;
        if is_plan || !output.trim().is_empty() {
            self.task.ledger.output = Some(output).filter(|output| !output.trim().is_empty());
        }
        self.task.ledger.last_end = Some(end.clone());
        self.say(EventBody::AttemptEnded { task: self.task.id(), attempt: id, end: Box::new(end.clone()) });
        let at = self.task.updated_at;
        self.close_attempt(attempt, AttemptClosing::Ended { at, end: Box::new(end) });
        let asked = self.before.ledger.asking.pending().cloned();
        match (verdict, asked) {
            // The answer arrived before the attempt that asked had ended.
            (AttemptVerdict::Await { .. }, None) if is_answered => self.resume(Some(id)),
            (AttemptVerdict::Fail { error }, Some(_)) => {
                self.withdraw_question(NonBlank::fixed("the attempt that asked it failed"));
                self.fail(id, error);
            }
            // I22: a person who stopped the work does not wait for its answer.
            (verdict, Some(_)) if is_stopped => {
                self.withdraw_question(NonBlank::fixed("the work was stopped"));
                self.carry_out(id, verdict);
            }
            // However the attempt ended, its question must be answered before anybody continues.
            (_, Some(question)) => {
                let asked_at = self.before.ledger.asking.asked_at().unwrap_or(at);
                self.wait_on(question, asked_at, id);
            }
            (verdict, None) => self.carry_out(id, verdict),
        }
    }

    /// Whether the human answered the attempt's last question before it ended. What an earlier attempt asked is another
    /// question, even in the same words.
    fn was_answered(&self, attempt: &Attempt, result: &AttemptResult) -> bool {
        let asking = &self.before.ledger.asking;
        let (AttemptResult::Asked { question }, Some(cycle)) = (result, asking.cycle()) else {
            return false;
        };
        let is_of_attempt = asking.asked_at().is_some_and(|at| at >= attempt.started_at);
        is_of_attempt && cycle.is_undelivered(&question.text)
    }

    fn carry_out(&mut self, id: AttemptId, verdict: AttemptVerdict) {
        match verdict {
            AttemptVerdict::Done => self.done(id),
            AttemptVerdict::Provisional { mark, question } => self.provisional(id, mark, question),
            AttemptVerdict::Await { question } => self.ask(question, Some(id)),
            AttemptVerdict::Block { question } => self.block(question, Some(id)),
            AttemptVerdict::Continue => self.go_on(id),
            AttemptVerdict::Requeue { reason } => self.requeue(id, reason),
            AttemptVerdict::Fail { error } => self.fail(id, error),
            AttemptVerdict::Stop { reason } => self.stop(id, reason),
        }
    }

    /// I22: somebody stopped it, so only a person continues it. A task that was made for a run without a word of what to
    /// do has nothing to continue.
    fn stop(&mut self, attempt: AttemptId, reason: NonBlank) {
        if self.before.is_for_run_alone() {
            self.effect(Effect::RetireWorktree { attempt });
            self.end_cancelled(Some(reason));
        } else {
            self.task.ledger.resumes = Some(attempt);
            self.hold_for(reason);
        }
    }

    pub(super) fn expire_lease(&mut self, attempt: Attempt) {
        let id = attempt.id;
        let at = self.task.updated_at;
        self.close_attempt(attempt, AttemptClosing::Lost { at });
        self.effect(Effect::StopAgent { attempt: id });
        match self.before.pending_question().cloned() {
            // A question outlives the agent that asked it.
            Some(question) => {
                let (task, reason) = (self.task.id(), RequeueReason::LeaseExpired);
                self.say(EventBody::TaskRequeued { task, attempt: id, reason });
                self.wait_on(question, self.before.ledger.asking.asked_at().unwrap_or(at), id);
            }
            // Nobody knows how far it got, so a person says whether it may run once more. Planning it destroys nothing.
            None if self.must_not_run_again() => self.block(Fallback::Dangerous.question(), Some(id)),
            None => self.requeue(id, RequeueReason::LeaseExpired),
        }
    }

    fn done(&mut self, attempt: AttemptId) {
        self.task.state = TaskState::Done { accepted_by: AcceptedBy::Output };
        self.close_asking();
        self.say(EventBody::TaskDone {
            task: self.task.id(),
            accepted_by: AcceptedBy::Output,
            despite: None,
        });
        self.effect(Effect::RetireWorktree { attempt });
    }

    fn provisional(&mut self, attempt: AttemptId, mark: ReviewMark, question: Option<NonBlank>) {
        self.task.ledger.tries += 1;
        // A breakdown without a plan is not split further; a human decides (I14).
        if self.before.is_breakdown() && mark.is_too_large() {
            let what_happened = match self.task.ledger.notes.last() {
                Some(TaskNote::Requeued {
                    reason: reason @ RequeueReason::NoPlan { fault: Some(_) },
                    ..
                }) => {
                    format!("It ended without a plan: {reason}.")
                }
                Some(_) | None => "It ended without a plan.".to_owned(),
            };
            self.escalate(Some(attempt), &what_happened);
            return;
        }
        let mark = if self.is_as_rejected() { unchanged(mark) } else { mark };
        self.say(EventBody::TaskProvisional {
            task: self.task.id(),
            mark: mark.clone(),
            question: question.clone(),
        });
        self.task.state = TaskState::Provisional(Provisional { attempt: Some(attempt), mark, question });
    }

    /// Whether the work is at the commit at which a person asked for changes.
    fn is_as_rejected(&self) -> bool {
        let ledger = &self.task.ledger;
        let head = ledger.last_end.as_ref().and_then(|end| end.verified.head.as_ref());
        head.is_some() && head == ledger.rejected_head.as_ref()
    }

    fn go_on(&mut self, attempt: AttemptId) {
        if self.task.ledger.continuations >= CONTINUATIONS_MAX {
            self.provisional(attempt, ReviewMark::NotConverging, None);
        } else {
            self.task.ledger.continuations += 1;
            self.task.state = TaskState::NeedsContinuation { after: attempt };
            self.say(EventBody::TaskContinues { task: self.task.id(), after: attempt });
        }
    }

    fn requeue(&mut self, attempt: AttemptId, reason: RequeueReason) {
        let at = self.task.updated_at;
        let is_blamed = reason.is_blamed();
        if self.must_not_run_again() {
            self.keep_from_running(attempt, reason);
            return;
        }
        // An agent that broke its worktree starts afresh; so does a planner, who has nothing to go on from.
        let is_sound = self.task.ledger.last_end.as_ref().is_none_or(|end| end.verified.findings.is_empty());
        let goes_on = match &reason {
            RequeueReason::NoCommits | RequeueReason::CheckFailed { .. } => is_sound,
            RequeueReason::NoPlan { .. } => false,
            RequeueReason::Systemic { .. } | RequeueReason::LeaseExpired => true,
        };
        if is_blamed && self.task.ledger.tries + 1 >= TRIES_MAX {
            // An agent that keeps claiming to be done was not beaten by the size of the task; one that breaks its worktree may be.
            if reason == RequeueReason::NoCommits && is_sound {
                self.task.ledger.tries += 1;
                self.task.ledger.note(TaskNote::Requeued { at, reason });
                self.ask(nothing_at_all(self.task.ledger.tries), Some(attempt));
                return;
            }
            self.task.ledger.note(TaskNote::Requeued { at, reason });
            self.provisional(attempt, ReviewMark::NotConverging, None);
            return;
        }
        self.say(EventBody::TaskRequeued { task: self.task.id(), attempt, reason: reason.clone() });
        self.task.ledger.note(TaskNote::Requeued { at, reason });
        self.task.ledger.tries += u32::from(is_blamed);
        if goes_on {
            self.task.ledger.resumes = Some(attempt);
        } else {
            self.effect(Effect::RetireWorktree { attempt });
        }
        self.send_home();
    }

    /// What would be done again by itself, if it could not destroy anything.
    fn keep_from_running(&mut self, attempt: AttemptId, reason: RequeueReason) {
        let at = self.task.updated_at;
        let why = reason.to_string();
        let is_judged = matches!(reason, RequeueReason::CheckFailed { .. });
        self.task.ledger.note(TaskNote::Requeued { at, reason });
        if is_judged {
            self.provisional(attempt, ReviewMark::NeedsReview { reasons: vec![why] }, None);
        } else {
            self.block(dangerous_again(&why), Some(attempt));
        }
    }

    fn fail(&mut self, attempt: AttemptId, error: NonBlank) {
        self.task.ledger.tries += 1;
        self.effect(Effect::RetireWorktree { attempt });
        self.effect(Effect::Notify { about: Notification::Failed(self.task.id()) });
        self.say(EventBody::TaskFailed { task: self.task.id(), error: error.clone() });
        self.task.state = TaskState::Failed { error, was_held: false };
    }

    /// I14: a human decides.
    pub(super) fn escalate(&mut self, after: Option<AttemptId>, what_happened: &str) {
        let draft = escalation(self.before.id(), self.before.spec.title.as_str(), what_happened);
        self.ask(draft, after);
    }
}
