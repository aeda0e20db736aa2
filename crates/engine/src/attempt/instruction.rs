//! The one instruction for work that came back: what is to be done about it, instead of the whole task again.

use baton_core::ask::question_record::QuestionState;
use baton_core::base::git_name::CommitId;
use baton_core::base::task_type::Deliverable;
use baton_core::base::text::NonBlank;
use baton_core::recipe::RecipeStep;
use baton_core::recipe::outcome::COMMITTED;
use baton_core::recipe::run::RunOrigin;
use baton_core::task::guard::RequeueReason;
use baton_core::task::ledger::TaskNote;
use baton_core::task::not_landed::NotLanded;

use crate::attempt::prompt::StepPrompt;
use crate::base::fenced::fenced;
use crate::landing::withdrawn::MoveOrder;
use crate::projects::trunk::BranchTip;

impl StepPrompt<'_> {
    /// What to do about accepted work that was sent back, if nothing has been said about it since.
    pub(super) fn fit_instruction(&self) -> Option<String> {
        match self.task.ledger().notes.iter().rev().find(|note| note.is_about_work())? {
            TaskNote::NotLanded { reason, .. } => match &**reason {
                NotLanded::ChecksFailed { met, base, .. } if met.is_empty() && self.started_from(base) => {
                    Some(ALONE.to_owned())
                }
                NotLanded::ChecksFailed { into, .. } | NotLanded::Conflict { into, .. } => {
                    Some(resolve(&format!("Run `git merge {into}` here, in this clone")))
                }
                NotLanded::Moved { .. } => Some(
                    "Look at what is on your branch now, make it do what the task asks, and commit what is missing.".to_owned(),
                ),
                NotLanded::StartWithdrawn { .. } => Some(self.order.map_or_else(|| FREE.to_owned(), move_work)),
                // Nothing the agent could do about.
                NotLanded::BranchFails { .. }
                | NotLanded::StartFails { .. }
                | NotLanded::ProvesNothing { .. }
                | NotLanded::RestsOnCancelled { .. } => None,
            },
            TaskNote::Conflict { .. } => {
                Some(resolve("Merge that branch into yours (`git merge`) here, in this clone"))
            }
            // A recipe of the human's own has its own way from its first step on.
            TaskNote::Rejected { .. } | TaskNote::Requeued { .. } if self.run.origin() != RunOrigin::Default => {
                None
            }
            TaskNote::Rejected { .. } => Some(self.fix(REJECTED)),
            TaskNote::Requeued { reason: RequeueReason::CheckFailed { .. }, .. } => Some(self.fix(CHECK_FAILED)),
            TaskNote::Requeued { .. } => None,
        }
    }

    /// In place of the first paragraph, which asks for the whole task; how to work and how to end stay.
    fn fix(&self, what: &str) -> String {
        let commit = match self.task.spec().task_type.deliverable() {
            Deliverable::Output => "",
            Deliverable::Code | Deliverable::Danger => " Commit the result.",
        };
        let rest = self.step.prompt().as_str().trim_end().split_once("\n\n").map_or("", |(_, rest)| rest);
        format!("{what}{commit}\n\n{rest}").trim_end().to_owned()
    }

    /// What to do for an agent that has ended the step and is at it again, because somebody wrote to it or its report could not
    /// be used: not the whole step once more.
    pub(super) fn instruction_to_go_on(&self) -> Option<String> {
        if !self.has_ended_step() {
            return None;
        }
        let is_told = self.run.memory().pending_reminder().is_some();
        let what = match (is_told, self.messages.is_empty()) {
            (true, true) => "Do what stands under \"Your last answer\" below, and end the step.",
            (false, false) => "Do what has come in since, which stands below, and end the step.",
            (true, false) => {
                "Do what has come in since, and what stands under \"Your last answer\"; both stand below. Then end the step."
            }
            (false, true) => return None,
        };
        Some(format!(
            "{GOES_ON} {what} For reference, the step was:\n\n{}",
            fenced(self.step.prompt().as_str())
        ))
    }

    /// Whether the agent has said something at the end of this step, and no other step has been entered since.
    pub(super) fn has_ended_step(&self) -> bool {
        let last = self.run.memory().turns().iter().rev().find_map(|turn| turn.step.as_ref());
        last == Some(self.step.name())
    }

    /// Whether what this step changes is committed by a later one.
    pub(super) fn is_committed_later(&self) -> bool {
        let commits = |step: &RecipeStep| step.outcomes().iter().any(|name| name.as_str() == COMMITTED);
        !commits(self.step) && self.recipe.steps().iter().any(commits)
    }

    /// The answer to Baton's question about work that could not land, if it came after that.
    pub(super) fn said_about_it(&self) -> Option<&NonBlank> {
        let Some(TaskNote::NotLanded { at: since, .. }) =
            self.task.ledger().notes.iter().rev().find(|note| note.is_about_work())
        else {
            return None;
        };
        self.questions.iter().rev().find_map(|record| match &record.state {
            QuestionState::Answered { answer, at, .. } if at >= since => Some(answer),
            QuestionState::Answered { .. } | QuestionState::Pending | QuestionState::Withdrawn { .. } => None,
        })
    }

    /// Whether the branch stands where the work began: then there is nothing to merge.
    fn started_from(&self, tip: &CommitId) -> bool {
        let end = self.task.ledger().last_end.as_ref();
        end.is_some_and(|end| end.verified.base.as_ref() == Some(tip))
    }
}

/// What comes before the news for an agent that has ended its step once.
const GOES_ON: &str = "You have worked on this step and ended it; what you did is still here. Keep it, and do not do again what \
     is done.";

/// Said to an agent that is not the first at something that may destroy.
pub(super) const NOTHING_TWICE: &str = "\nThis task may destroy something, and an agent has worked on it before. Find out what has \
     been done, also outside this folder, and do nothing twice.\n";

/// What to do about work that somebody looked at and did not accept.
const REJECTED: &str = "Your work was looked at and not accepted. Change it as the last entry of \"What was wrong before\" says, \
     which counts like the task itself. Keep the rest of what you did, and do nothing else.";

/// What to do about work that a check found fault with.
const CHECK_FAILED: &str = "A check failed on your work (see the last entry of \"What was wrong before\"). Find the cause in what \
     you did and fix it; do not change the check. Keep the rest of what you did, and do nothing else.";

/// What to do about work that fails where only its commits are.
const ALONE: &str = "Your work on the task is done, and the checks fail on a fresh clone of it (see \"What was wrong before\"). \
     Nothing else has landed since you began, so there is nothing to merge. Look for what your folder has and your commits do \
     not: files that are ignored or were never added, what a set-up or an earlier run left. Make the checks pass on a fresh clone, and \
     commit the result. Baton lands your branch when you are done.";

/// What to do about work that contained such commits when it was sent back.
const FREE: &str = "Your work on the task is done. It contained commits that were withdrawn or replaced (see \"What was wrong before\"), \
     and contains none now. Make sure that it still does what the task asks and that the checks pass, and commit what is missing. \
     Baton lands your branch when you are done.";

/// What to do about work that contains commits which nobody wants any more.
fn move_work(order: &MoveOrder) -> String {
    let MoveOrder { onto: BranchTip { branch, commit }, after, commits } = order;
    format!(
        "Your work on the task is done, and it contains commits that were withdrawn or replaced since:\n\n{}\nRun \
         `git rebase --onto {commit} {after}` here, in this clone. Your branch then has your own commits on {branch}, and none of \
         those. Make the work fit what is there now so that the checks pass, and commit the result. Baton lands your branch when \
         you are done.",
        fenced(&commits.join("\n"))
    )
}

/// What to do about work that does not go together with its branch. It is the one exception to "do not merge".
fn resolve(merge: &str) -> String {
    format!(
        "Your work on the task is done, and does not fit the branch it is for (see \"What was wrong before\"). {merge}, make the \
         two work together so that the checks pass, and commit the result. Keep what the other tasks did. Baton lands your \
         branch when you are done."
    )
}
