//! People's decisions about a task: accept, reject, recycle, approve, retry, cancel, revise.

use crate::ask::fallback::dangerous_again;
use crate::ask::question::{QuestionDraft, QuestionKind};
use crate::base::id::{AttemptId, TaskId};
use crate::base::text::{NonBlank, Role};
use crate::people::actor::Actor;
use crate::records::effect::{Effect, Notification};
use crate::records::event::EventBody;
use crate::recycle::{Depth, RecycleReason, TRIES_MAX};
use crate::task::attempt_record::AttemptClosing;
use crate::task::ledger::{Asking, TaskNote};
use crate::task::revision::Revision;
use crate::task::state::{AcceptedBy, Provisional, ReplacedBy, ReviewMark, TaskState};
use crate::task::{Purpose, Task, TaskSpec};
use crate::transition::command::CommandName;
use crate::transition::refusal::CommandRefusal;

use crate::transition::step::TransitionBuilder;

impl TransitionBuilder<'_> {
    pub(super) fn accept(&mut self, work: &Provisional, force: bool) -> Result<(), CommandRefusal> {
        self.check_acceptable(work, force)?;
        let accepted_by = AcceptedBy::Actor { actor: self.context.actor.clone() };
        self.end_done_despite(work.attempt, accepted_by, overridden(work, force));
        Ok(())
    }

    /// Whether this actor may accept the work.
    pub(super) fn check_acceptable(&self, work: &Provisional, force: bool) -> Result<(), CommandRefusal> {
        self.require_human_or_policy()?;
        let task = self.before.id();
        match &work.mark {
            ReviewMark::Plan => return Err(CommandRefusal::IsPlan { task }),
            // I14: never silently. Only a human who forces it.
            ReviewMark::BurnedOut | ReviewMark::NotConverging if !force => {
                return Err(CommandRefusal::TooLarge { task });
            }
            ReviewMark::NeedsReview { reasons } if !force => {
                return Err(CommandRefusal::NeedsReview { task, reasons: reasons.join("; ") });
            }
            ReviewMark::BurnedOut
            | ReviewMark::NotConverging
            | ReviewMark::NeedsReview { .. }
            | ReviewMark::NoChanges { .. } => {
                self.require_human()?;
            }
            // A policy does not answer what the agent still asked.
            ReviewMark::Ready if work.question.is_some() => self.require_human()?,
            ReviewMark::Ready => {}
        }
        Ok(())
    }

    pub(super) fn approve_plan(&mut self, work: &Provisional) -> Result<(), CommandRefusal> {
        self.require_human()?;
        match work.mark {
            ReviewMark::Plan => {}
            ReviewMark::Ready
            | ReviewMark::NoChanges { .. }
            | ReviewMark::BurnedOut
            | ReviewMark::NeedsReview { .. }
            | ReviewMark::NotConverging => {
                return Err(CommandRefusal::NotBreakdown { task: self.before.id() });
            }
        }
        let accepted_by = AcceptedBy::PlanApproved { actor: self.context.actor.clone() };
        self.end_done(work.attempt, accepted_by);
        Ok(())
    }

    pub(super) fn end_done(&mut self, attempt: Option<AttemptId>, accepted_by: AcceptedBy) {
        self.end_done_despite(attempt, accepted_by, None);
    }

    fn end_done_despite(
        &mut self,
        attempt: Option<AttemptId>,
        accepted_by: AcceptedBy,
        despite: Option<NonBlank>,
    ) {
        self.say(EventBody::TaskDone { task: self.task.id(), accepted_by: accepted_by.clone(), despite });
        self.task.state = TaskState::Done { accepted_by };
        self.close_asking();
        self.retire(attempt);
    }

    pub(super) fn reject(&mut self, work: &Provisional, reason: NonBlank) -> Result<(), CommandRefusal> {
        self.require_human_or_policy()?;
        let (task, at) = (self.task.id(), self.task.updated_at);
        let is_out_of_tries = self.task.ledger.tries >= TRIES_MAX;
        self.task.ledger.is_ahead = true;
        self.task.ledger.note(TaskNote::Rejected { at, reason: reason.clone() });
        let end = self.task.ledger.last_end.as_ref();
        self.task.ledger.rejected_head = end.and_then(|end| end.verified.head.clone());
        // Its author goes on in the same session, unless that has led nowhere.
        let goes_on =
            matches!(work.mark, ReviewMark::Ready | ReviewMark::NoChanges { .. }) && !is_out_of_tries;
        if goes_on {
            self.task.ledger.resumes = work.attempt;
        } else {
            self.retire(work.attempt);
        }
        match work.mark {
            ReviewMark::Plan => {
                self.say(EventBody::PlanRejected { task, reason });
                if is_out_of_tries {
                    self.escalate(work.attempt, "Its plans were rejected too often.");
                } else {
                    self.task.state = TaskState::Breakdown { released: false };
                }
            }
            ReviewMark::Ready
            | ReviewMark::NoChanges { .. }
            | ReviewMark::BurnedOut
            | ReviewMark::NeedsReview { .. }
            | ReviewMark::NotConverging => {
                self.say(EventBody::TaskRejected { task, reason });
                if is_out_of_tries {
                    self.recycle_or_escalate(work.attempt, RecycleReason::CumulativeFailures);
                } else {
                    self.send_home();
                }
            }
        }
        Ok(())
    }

    pub(super) fn recycle(
        &mut self,
        work: &Provisional,
        reason: RecycleReason,
    ) -> Result<(), CommandRefusal> {
        let task = self.before.id();
        let looks_too_large = work.mark.is_too_large() || self.before.ledger.tries >= TRIES_MAX;
        match (&self.context.actor, &work.mark) {
            (_, ReviewMark::Plan) => return Err(CommandRefusal::IsPlan { task }),
            (Actor::Agent { .. }, _) => return Err(CommandRefusal::NotYours { task }),
            (Actor::Baton | Actor::Policy { .. }, _) if !looks_too_large => {
                return Err(CommandRefusal::NotTooLarge { task });
            }
            (Actor::Human { .. } | Actor::Policy { .. } | Actor::Baton, _) => {}
        }
        // What Baton found out about the work is the reason, whatever the caller takes for it.
        let reason = match work.mark {
            ReviewMark::BurnedOut => RecycleReason::TooLarge,
            ReviewMark::NotConverging => RecycleReason::CumulativeFailures,
            ReviewMark::Ready
            | ReviewMark::NoChanges { .. }
            | ReviewMark::NeedsReview { .. }
            | ReviewMark::Plan => reason,
        };
        self.retire(work.attempt);
        self.recycle_or_escalate(work.attempt, reason);
        Ok(())
    }

    fn recycle_or_escalate(&mut self, attempt: Option<AttemptId>, reason: RecycleReason) {
        match self.before.spec.depth {
            Depth::Original => self.recycle_into(reason, false),
            Depth::BrokenDown => {
                let what_happened = match reason {
                    RecycleReason::TooLarge => "It used up its turns and has too little to show.",
                    RecycleReason::CumulativeFailures => "It was tried too often without being accepted.",
                };
                self.escalate(attempt, what_happened);
            }
        }
    }

    /// A breakdown takes over and plans the task's replacements.
    pub(super) fn recycle_into(&mut self, reason: RecycleReason, by_hand: bool) {
        let old = &self.before.spec;
        let breakdown = TaskSpec {
            id: self.context.fresh.breakdown,
            title: NonBlank::led_by("Re-breakdown: ", old.title.as_str()),
            role: Role::breakdown(),
            recipe: None,
            purpose: Purpose::Breakdown { replaces_task_id: Some(old.id), reason: Some(reason), by_hand },
            depth: Depth::BrokenDown,
            planned_in: None,
            created_at: self.task.updated_at,
            ..old.clone()
        };
        self.say(EventBody::TaskRecycled { task: old.id, reason, breakdown: breakdown.id });
        self.say(EventBody::TaskCreated { spec: Box::new(breakdown.clone()), depends_on: Vec::new() });
        self.task.state = TaskState::Recycled { replaced_by: ReplacedBy::Planning(breakdown.id) };
        self.created.push(Task::create(breakdown).with_requester(self.before.asked_by.clone()));
    }

    /// I13: from now on the subtasks replace the task. Only once.
    pub(super) fn replace(
        &mut self,
        replaced_by: &ReplacedBy,
        by: Vec<TaskId>,
    ) -> Result<(), CommandRefusal> {
        self.require_human()?;
        match replaced_by {
            ReplacedBy::Planning(_) if by.is_empty() || by.contains(&self.before.id()) => {
                Err(CommandRefusal::BadReplacement { task: self.before.id() })
            }
            ReplacedBy::Planning(_) => {
                self.say(EventBody::TaskReplaced { task: self.task.id(), replaced_by: by.clone() });
                self.task.state = TaskState::Recycled { replaced_by: ReplacedBy::Tasks(by) };
                Ok(())
            }
            ReplacedBy::Tasks(_) => Err(self.wrong_state(CommandName::Replace)),
        }
    }

    /// The agent resolves a first conflict, on the same branch; a second one becomes a question. No commit is lost.
    pub(super) fn report_conflict(
        &mut self,
        work: &Provisional,
        detail: &NonBlank,
    ) -> Result<(), CommandRefusal> {
        let (task, at) = (self.task.id(), self.task.updated_at);
        if work.mark == ReviewMark::Plan {
            return Err(CommandRefusal::IsPlan { task });
        }
        self.say(EventBody::TaskConflicted { task, detail: detail.clone() });
        self.task.ledger.note(TaskNote::Conflict { at, detail: detail.clone() });
        self.task.ledger.conflicts += 1;
        if self.must_not_run_again() {
            self.ask(dangerous_again("its work conflicts with the branch"), work.attempt);
        } else if self.task.ledger.conflicts == 1 {
            self.task.ledger.is_ahead = true;
            self.task.ledger.resumes = work.attempt;
            self.send_home();
        } else {
            self.ask(merge_conflict(detail), work.attempt);
        }
        Ok(())
    }

    pub(super) fn release(&mut self) -> Result<(), CommandRefusal> {
        self.require_human_or_policy()?;
        match self.before.spec.purpose {
            Purpose::Breakdown { by_hand: true, .. } => {
                return Err(CommandRefusal::SplitByHand { task: self.before.id() });
            }
            Purpose::Breakdown { by_hand: false, .. } | Purpose::Work | Purpose::Run => {}
        }
        self.say(EventBody::BreakdownReleased { task: self.task.id() });
        self.task.ledger.held_because = None;
        self.task.state = TaskState::Breakdown { released: true };
        Ok(())
    }

    /// Ends the hold: an agent may claim it now.
    pub(super) fn let_go(&mut self) -> Result<(), CommandRefusal> {
        self.require_human_or_policy()?;
        self.task.state = TaskState::Incoming;
        self.task.ledger.held_because = None;
        self.task.ledger.taken = None;
        self.task.ledger.is_ahead = true;
        self.say(EventBody::TaskLetGo { task: self.task.id() });
        Ok(())
    }

    /// What was done so far is kept: a release continues after the last attempt.
    pub(super) fn hold_back(&mut self, reason: NonBlank) -> Result<(), CommandRefusal> {
        self.require_human_or_policy()?;
        if self.before.is_breakdown() {
            return Err(self.wrong_state(CommandName::Hold));
        }
        self.withdraw_question(reason.clone());
        let after = match &self.before.state {
            TaskState::Claimed { attempt } => {
                let at = self.task.updated_at;
                self.close_attempt(attempt.clone(), AttemptClosing::Stopped { at });
                self.effect(Effect::StopAgent { attempt: attempt.id });
                Some(attempt.id)
            }
            TaskState::NeedsContinuation { after } => Some(*after),
            TaskState::AwaitingResponse { waiting } => waiting.after,
            TaskState::Blocked { waiting } => waiting.after,
            TaskState::Incoming
            | TaskState::Held
            | TaskState::Breakdown { .. }
            | TaskState::Provisional(_)
            | TaskState::Landing(_)
            | TaskState::Recycled { .. }
            | TaskState::Done { .. }
            | TaskState::Failed { .. }
            | TaskState::Cancelled { .. } => self.before.ledger.resumes,
        };
        self.task.ledger.resumes = after;
        self.hold_for(reason);
        Ok(())
    }

    /// I22: nobody works on it until somebody releases it.
    pub(super) fn hold_for(&mut self, reason: NonBlank) {
        self.task.state = TaskState::Held;
        self.task.ledger.held_because = Some(reason.clone());
        self.task.ledger.taken = None;
        self.task.ledger.submitted_by = None;
        self.say(EventBody::TaskHeldBack { task: self.task.id(), reason: Some(reason) });
    }

    pub(super) fn mark_failed(&mut self, reason: NonBlank) -> Result<(), CommandRefusal> {
        self.require_human_or_policy()?;
        if let TaskState::Provisional(work) = &self.before.state {
            self.retire(work.attempt);
        }
        self.say(EventBody::TaskFailed { task: self.task.id(), error: reason.clone() });
        self.effect(Effect::Notify { about: Notification::Failed(self.task.id()) });
        let was_held = self.before.state == TaskState::Held;
        self.task.state = TaskState::Failed { error: reason, was_held };
        Ok(())
    }

    /// The human approved a plan before anybody worked on the task: its subtasks replace it.
    pub(super) fn split_into(&mut self, by: Vec<TaskId>) -> Result<(), CommandRefusal> {
        self.require_human_or_policy()?;
        if by.is_empty() || by.contains(&self.before.id()) {
            return Err(CommandRefusal::BadReplacement { task: self.before.id() });
        }
        self.say(EventBody::TaskReplaced { task: self.task.id(), replaced_by: by.clone() });
        self.task.state = TaskState::Recycled { replaced_by: ReplacedBy::Tasks(by) };
        Ok(())
    }

    pub(super) fn submit_plan(&mut self) -> Result<(), CommandRefusal> {
        self.require_human()?;
        self.say(EventBody::TaskProvisional { task: self.task.id(), mark: ReviewMark::Plan, question: None });
        self.task.state =
            TaskState::Provisional(Provisional { attempt: None, mark: ReviewMark::Plan, question: None });
        Ok(())
    }

    pub(super) fn retry(&mut self, was_held: bool) -> Result<(), CommandRefusal> {
        self.require_human()?;
        self.clear_count();
        self.say(EventBody::TaskRetried { task: self.task.id() });
        if was_held {
            self.task.state = TaskState::Held;
        } else {
            self.send_home();
        }
        Ok(())
    }

    /// A person takes their cancellation back. The branch is still there, and work goes on from it.
    pub(super) fn bring_back(&mut self) -> Result<(), CommandRefusal> {
        // A task made for a run ended with that run.
        if self.before.spec.purpose == Purpose::Run {
            return Err(self.wrong_state(CommandName::Retry));
        }
        self.retry(false)?;
        let automatic_in_a_row = self.before.ledger.asking.automatic_in_a_row();
        self.task.ledger.asking = Asking::NotStarted { automatic_in_a_row };
        Ok(())
    }

    /// A human's retry grants the full number of tries again.
    pub(super) fn clear_count(&mut self) {
        self.task.ledger.tries = 0;
        self.task.ledger.continuations = 0;
        self.task.ledger.resumes = None;
    }

    pub(super) fn cancel(&mut self, reason: Option<NonBlank>) -> Result<(), CommandRefusal> {
        self.require_human_or_maker()?;
        self.withdraw_question(NonBlank::fixed("the task was cancelled"));
        match &self.before.state {
            TaskState::Claimed { attempt } => {
                let at = self.task.updated_at;
                self.close_attempt(attempt.clone(), AttemptClosing::Stopped { at });
                self.effect(Effect::StopAgent { attempt: attempt.id });
                self.retire(Some(attempt.id));
            }
            TaskState::Provisional(work) => self.retire(work.attempt),
            TaskState::Landing(entry) => self.retire(entry.work.attempt),
            TaskState::NeedsContinuation { after } => self.retire(Some(*after)),
            TaskState::AwaitingResponse { waiting } => self.retire(waiting.after),
            TaskState::Blocked { waiting } => self.retire(waiting.after),
            // Nothing runs and nothing is checked out for these.
            TaskState::Incoming
            | TaskState::Held
            | TaskState::Breakdown { .. }
            | TaskState::Recycled { .. }
            | TaskState::Done { .. }
            | TaskState::Failed { .. }
            | TaskState::Cancelled { .. } => self.retire(self.before.ledger.resumes),
        }
        self.end_cancelled(reason);
        Ok(())
    }

    pub(super) fn revise(&mut self, revision: Revision) -> Result<(), CommandRefusal> {
        self.require_human_or_maker()?;
        let needs_start = !revision.after.is_empty() || !revision.starts_on.is_empty();
        if needs_start && self.before.ledger.started > 0 {
            return Err(CommandRefusal::HasBegun { task: self.task.id() });
        }
        if !revision.starts_on.is_empty() {
            self.require_policy()?;
            self.task.ledger.rests_on.extend(&revision.starts_on);
        }
        self.say(EventBody::TaskRevised { task: self.task.id(), revision: revision.clone() });
        self.task.spec = revision.apply_to(&self.before.spec);
        Ok(())
    }

    pub(super) fn end_cancelled(&mut self, reason: Option<NonBlank>) {
        self.say(EventBody::TaskCancelled { task: self.task.id(), reason: reason.clone() });
        self.task.state = TaskState::Cancelled { by: self.context.actor.clone(), reason };
        self.close_asking();
    }

    fn retire(&mut self, attempt: Option<AttemptId>) {
        if let Some(attempt) = attempt {
            self.effect(Effect::RetireWorktree { attempt });
        }
    }
}

/// The question when an agent could not resolve a conflict.
pub(crate) fn merge_conflict(detail: &NonBlank) -> QuestionDraft {
    let text = NonBlank::led_by(
        "The work conflicts with the branch it is to be merged into, and an attempt to resolve the conflict failed. \
         How should the agent resolve it? What you write is given to it, and it continues on the same branch; NO holds the \
         task until you release it. Nothing that was committed is lost.\n\n",
        detail.as_str(),
    );
    QuestionDraft::new(QuestionKind::Clarification, text).holding_on_no()
}

/// The warning that a person overrode by accepting this work with force.
pub(super) fn overridden(work: &Provisional, force: bool) -> Option<NonBlank> {
    let warned = match &work.mark {
        ReviewMark::BurnedOut => "no progress".to_owned(),
        ReviewMark::NotConverging => "not converging".to_owned(),
        ReviewMark::NeedsReview { reasons } => reasons.join("; "),
        ReviewMark::Ready | ReviewMark::NoChanges { .. } | ReviewMark::Plan => return None,
    };
    NonBlank::new(warned).ok().filter(|_| force)
}
