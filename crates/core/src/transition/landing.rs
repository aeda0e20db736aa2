//! Landing: accepted work enters a lane, and leaves it into its branch or back (I18).

use crate::ask::fallback::dangerous_again;
use crate::ask::question::{QuestionDraft, QuestionKind};
use crate::base::git_name::CommitId;
use crate::base::text::NonBlank;
use crate::landing::evidence::LandingEvidence;
use crate::landing::lane::landing_delay;
use crate::landing::verified::VerifiedCommand;
use crate::people::actor::Actor;
use crate::records::effect::Effect;
use crate::records::event::EventBody;
use crate::task::ledger::TaskNote;
use crate::task::not_landed::NotLanded;
use crate::task::state::{AcceptedBy, LaneEntry, Provisional, TaskState};
use crate::transition::refusal::CommandRefusal;
use crate::transition::step::TransitionBuilder;
use crate::transition::verdicts::overridden;

impl TransitionBuilder<'_> {
    pub(super) fn enter_lane(&mut self, work: &Provisional, force: bool) -> Result<(), CommandRefusal> {
        self.check_acceptable(work, force)?;
        let (accepted_by, since) = (self.context.actor.clone(), self.task.updated_at);
        let despite = overridden(work, force);
        self.say(EventBody::TaskLanding { task: self.task.id(), accepted_by: accepted_by.clone(), despite });
        self.task.state = TaskState::Landing(LaneEntry { work: work.clone(), accepted_by, since });
        Ok(())
    }

    pub(super) fn land(
        &mut self,
        entry: &LaneEntry,
        commit: CommitId,
        verified: Vec<VerifiedCommand>,
        evidence: Option<Box<LandingEvidence>>,
    ) -> Result<(), CommandRefusal> {
        self.require_baton()?;
        self.say(EventBody::TaskLanded { task: self.task.id(), commit, verified, evidence });
        self.end_done(entry.work.attempt, AcceptedBy::Actor { actor: entry.accepted_by.clone() });
        Ok(())
    }

    /// I18: only a person, and by name.
    pub(super) fn force_land(
        &mut self,
        work: &Provisional,
        commit: Option<CommitId>,
        withdrawn: Vec<String>,
    ) -> Result<(), CommandRefusal> {
        self.require_human()?;
        self.check_acceptable(work, true)?;
        self.say(EventBody::TaskForced { task: self.task.id(), commit, withdrawn });
        self.end_done(work.attempt, AcceptedBy::Actor { actor: self.context.actor.clone() });
        Ok(())
    }

    /// Accepted work keeps its place: nobody has to accept it again when the branch is repaired.
    pub(super) fn delay_landing(&mut self, reason: Box<NotLanded>) -> Result<(), CommandRefusal> {
        self.require_baton()?;
        let (task, at) = (self.task.id(), self.task.updated_at);
        self.say(EventBody::TaskLandingDelayed { task, reason: reason.clone() });
        // A branch that stays red for a week is one reason, not one for each look at it.
        if landing_delay(&self.task).is_some() {
            self.task.ledger.notes.pop();
        }
        self.task.ledger.note(TaskNote::NotLanded { at, reason });
        Ok(())
    }

    /// The first time the agent gets to fix it, on the same branch and in the same session; after that a person is asked. What
    /// is not the task's fault is decided again by the person or policy that accepted it. Commits that a person withdraws are no failure of the
    /// agent's, which leaves them out each time.
    pub(super) fn send_back(
        &mut self,
        entry: &LaneEntry,
        reason: Box<NotLanded>,
    ) -> Result<(), CommandRefusal> {
        self.require_baton()?;
        let (task, at) = (self.task.id(), self.task.updated_at);
        self.say(EventBody::TaskSentBack { task, reason: reason.clone() });
        if !reason.is_fault_of_task() {
            self.task.state = TaskState::Provisional(entry.work.clone());
        } else if self.must_not_run_again() {
            self.task.ledger.conflicts += 1;
            self.ask(dangerous_again(&reason.headline()), entry.work.attempt);
        } else if self.can_be_fixed(&reason) {
            if !matches!(*reason, NotLanded::StartWithdrawn { .. }) {
                self.task.ledger.conflicts = 1;
            }
            self.task.ledger.is_ahead = true;
            match (&*reason, entry.work.attempt) {
                // Its folder does not have what somebody put on the branch, and would overwrite it.
                (NotLanded::Moved { .. }, Some(attempt)) => self.effect(Effect::RetireWorktree { attempt }),
                (_, attempt) => self.task.ledger.resumes = attempt,
            }
            self.send_home();
        } else {
            self.task.ledger.conflicts += 1;
            self.ask(cannot_land(&reason), entry.work.attempt);
        }
        self.task.ledger.note(TaskNote::NotLanded { at, reason });
        Ok(())
    }

    /// Whether the agent has not tried yet.
    fn can_be_fixed(&self, reason: &NotLanded) -> bool {
        let NotLanded::StartWithdrawn { commits } = reason else {
            return self.task.ledger.conflicts == 0;
        };
        !self.task.ledger.notes.iter().any(|note| {
            matches!(note, TaskNote::NotLanded { reason, .. }
                if matches!(&**reason, NotLanded::StartWithdrawn { commits: known } if known == commits))
        })
    }

    fn require_baton(&self) -> Result<(), CommandRefusal> {
        match self.context.actor {
            Actor::Baton => Ok(()),
            Actor::Human { .. } | Actor::Policy { .. } | Actor::Agent { .. } => {
                Err(CommandRefusal::NotYours { task: self.before.id() })
            }
        }
    }
}

/// The question when an agent could not make its work land.
pub(crate) fn cannot_land(reason: &NotLanded) -> QuestionDraft {
    let what = match reason {
        NotLanded::ChecksFailed { .. } => {
            "The work was accepted, and the checks failed on its branch together with it"
        }
        NotLanded::Conflict { .. }
        | NotLanded::Moved { .. }
        | NotLanded::ProvesNothing { .. }
        | NotLanded::RestsOnCancelled { .. }
        | NotLanded::BranchFails { .. }
        | NotLanded::StartFails { .. }
        | NotLanded::StartWithdrawn { .. } => "The work was accepted and could not be merged",
    };
    let rest = format!(
        ", again after its agent tried to fix that. How should the agent fix it? What you write is given to it, and it \
         continues on the same branch; NO holds the task until you release it. Nothing that was committed is lost.\n\n{}",
        reason.describe()
    );
    let text = NonBlank::led_by(what, &rest);
    QuestionDraft::new(QuestionKind::Clarification, text).holding_on_no()
}
