//! Why accepted work could not be merged yet.

use baton_core::base::explanation::Explanation;
use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::TaskId;
use baton_core::explained;

use crate::base::error::ErrorKind;
use crate::base::refusals::failure;
use crate::landing::foundations::UnmetFoundation;

#[derive(Debug, thiserror::Error)]
pub enum LandingError {
    /// Its machine could not reach the remote when the attempt ended; it keeps trying.
    #[error("the work of {task} is still on {worker} and has not been pushed to the remote")]
    NotPushed { task: TaskId, worker: String },
    #[error("the branch of {task} has moved since it was verified; the task is back in the queue")]
    Moved { task: TaskId },
    #[error("the set-up of a clone for the checks failed: {output}")]
    SetupFailed { output: String },
    /// Nobody's work is at fault.
    #[error("{branch} itself fails its checks (at {tip}); accepted tasks that wait for it: {tasks}")]
    BranchFails { branch: BranchName, tip: CommitId, tasks: usize },
    /// Nobody's work is at fault here either.
    #[error(
        "accepted work for {branch} started from commits of your own branch that fail its checks or do not fit it; tasks that wait: {tasks}"
    )]
    StartFails { branch: BranchName, tasks: usize },
    #[error("the lane is empty")]
    EmptyLane,
    /// Nobody but its author could review it.
    #[error(
        "{task} waits for a review, and the agent of the role verify is the one that did the work, or there is none"
    )]
    NoReviewer { task: TaskId },
    #[error("the review of {task} ({review}) ended without AGREE or DISAGREE")]
    ReviewUnclear { task: TaskId, review: TaskId },
    #[error("{task} was started on the work of {on}, which has not landed")]
    RestsOn { task: TaskId, on: TaskId },
    #[error("{task} was started on the work of {on} and contains it, and {on} was cancelled")]
    RestsOnCancelled { task: TaskId, on: TaskId },
    #[error("{task} contains commits that were withdrawn, and the work of {on}, which is still to land")]
    StandsOn { task: TaskId, on: TaskId },
    /// A later message of a conversation starts on the work of the earlier ones.
    #[error("{task} contains the work of {on}, which was refused")]
    OnRefused { task: TaskId, on: TaskId },
    #[error("the changes of {task} are too long for another agent to review whole ({bytes} bytes)")]
    TooLongToReview { task: TaskId, bytes: usize },
}

impl LandingError {
    pub(super) const fn rests_on(task: TaskId, found: UnmetFoundation) -> Self {
        let on = found.task;
        if found.is_cancelled { Self::RestsOnCancelled { task, on } } else { Self::RestsOn { task, on } }
    }
}

failure! {
    LandingError { |it|
        kind: match it {
            Self::NotPushed { .. } | Self::Moved { .. } | Self::EmptyLane | Self::ReviewUnclear { .. } | Self::TooLongToReview { .. }
            | Self::RestsOn { .. } | Self::StandsOn { .. } | Self::RestsOnCancelled { .. } | Self::OnRefused { .. } | Self::BranchFails { .. } | Self::StartFails { .. } => {
                ErrorKind::Conflict
            },
            Self::SetupFailed { .. } | Self::NoReviewer { .. } => ErrorKind::Internal,
        },
        hint: match it {
            Self::NotPushed { .. } => "check that the machine is running (baton workers), and try again",
            Self::SetupFailed { .. } => "repair the user task that worktree.setup names; it is tried again",
            Self::RestsOn { .. } => "merging it would merge that work too; accept it without --force, and it lands after the other",
            Self::StandsOn { .. } => "accept the other first; when that has landed, this one goes back to its agent, which puts it on what is there then",
            Self::RestsOnCancelled { .. } => "bring that one back: baton task retry; or cancel this one and add it anew",
            Self::OnRefused { .. } => "look at all that it would merge: baton task diff TASK; then merge it with --force, or reject it and say what to leave out",
            Self::BranchFails { .. } => "repair the branch, and what waits lands; or take a task past the checks: baton accept TASK --force",
            Self::StartFails { .. } => "repair your branch by another commit and merge the other into it: git merge baton/next; what waits then lands. A commit that you replace (git commit --amend) sends the work back to its agent, which puts it on your branch",
            Self::EmptyLane => "nothing waits to land there any more",
            Self::NoReviewer { .. } => "name another agent under [roles.verify], or accept the task yourself",
            Self::TooLongToReview { .. } => "look at the work and accept or reject it yourself",
            Self::ReviewUnclear { .. } => "look at the work and accept or reject it yourself",
            Self::Moved { .. } => "its agent looks at the branch as it is now; accept it when that is done",
        },
        explained: it.explained(),
    }
}

explained! { LandingError {
    Self::NotPushed { .. } => Explanation {
        code: "not_arrived",
        means: "The work is still on the machine that did it and not on the shared remote.",
        cause: "That machine could not reach the remote when its agent finished. It keeps trying.",
        next: "Check that the machine is running (`baton workers`), and accept again later: `baton accept TASK`.",
    },
    Self::SetupFailed { .. } => Explanation {
        code: "landing_setup_failed",
        means: "The checks could not run, because the project's own set-up failed in the clone they run in.",
        cause: "The user task that `worktree.setup` names ended with an error.",
        next: "Run it yourself (`baton do NAME`) and repair it. What waits to land is checked again by itself.",
    },
    Self::RestsOn { .. } => Explanation {
        code: "rests_on_unlanded_work",
        means: "The task contains the work of another one, which has not landed. Merging it would merge that work too, and nobody has decided that.",
        cause: "`start_on = \"landing\"` lets a task start on accepted work before it has landed.",
        next: "Accept it without `--force`: it waits and lands after the other. If that one was cancelled, bring it back with `baton task retry`, or cancel this one and add it anew.",
    },
    Self::StandsOn { .. } => Explanation {
        code: "stands_on_open_work",
        means: "The task contains commits that were withdrawn, and the work of another task that has not landed yet. It waits in its lane.",
        cause: "Its agent is to leave the withdrawn commits out. Before the other task has landed, it would make a second copy of that one's work.",
        next: "Accept the other task (`baton accept OTHER`), or cancel it. The task then goes back to its agent by itself. `baton accept TASK --force` takes it with everything it contains.",
    },
    Self::RestsOnCancelled { .. } => Explanation {
        code: "rests_on_cancelled_work",
        means: "The task contains the work of another one that was cancelled before it landed. Merging it would merge that work too.",
        cause: "`start_on = \"landing\"` lets a task start on accepted work before it has landed.",
        next: "Bring the other one back (`baton task retry OTHER`), or cancel this one and add it anew.",
    },
    Self::OnRefused { .. } => Explanation {
        code: "contains_refused_work",
        means: "The task was started on the work of an earlier message of its conversation, and that work was cancelled or rejected since. Merging the task would merge it too.",
        cause: "A later message starts from what the earlier ones have done so far.",
        next: "See all that would be merged (`baton task diff TASK`). Take it whole with `baton accept TASK --force`, or send it back and say what to leave out: `baton reject TASK --reason TEXT`.",
    },
    Self::BranchFails { .. } => Explanation {
        code: "branch_fails",
        means: "The checks fail on the branch even without the accepted work, so they say nothing about that work. Nothing is sent back; what was accepted waits.",
        cause: "Somebody changed the branch past the checks, or what the checks need is missing on this machine.",
        next: "Repair the branch or what its checks need. Baton checks a branch again when it has moved, after some minutes, and when you accept again: `baton accept TASK`. `baton accept TASK --force` takes a task past the checks.",
    },
    Self::StartFails { .. } => Explanation {
        code: "start_fails",
        means: "The accepted work started from commits of your own branch that have not landed, and the checks fail with those commits even without the work, or the commits conflict with the branch. Nothing is sent back; what was accepted waits.",
        cause: "Agents start from your newest commits. Those fail the checks, or fail them or conflict together with what has landed since; or their settings cannot be read.",
        next: "Repair your branch by another commit and run `git merge baton/next` on it: what waits then lands together with your repair. If you replace the commit (`git commit --amend`, `git rebase`) or take it back, the task goes back to its agent, which puts the work on your branch. `baton accept TASK --force` takes a task past the checks.",
    },
    Self::EmptyLane => Explanation {
        code: "empty_lane",
        means: "Nothing waits to land on that branch any more.",
        cause: "Everything that waited has landed, was sent back or was taken back meanwhile.",
        next: "Nothing: `baton landing` shows what waits now.",
    },
    Self::Moved { .. } => Explanation {
        code: "moved_since_verified",
        means: "The task's branch leads to another commit than the one that was measured and checked. Nothing was merged.",
        cause: "Somebody committed on the branch, or moved it, after the agent had finished.",
        next: "Nothing: the task is back with its agent, and what is on the branch now is measured and checked. `git log` shows who moved it.",
    },
    Self::NoReviewer { .. } => Explanation {
        code: "no_reviewer",
        means: "`accept_when = \"reviewed\"` asks for another agent's opinion, and there is no other agent.",
        cause: "The role `verify` has no agent of its own, so the one that did the work would judge itself.",
        next: "Name another agent: `[roles.verify] agent = \"NAME\"`. Or decide yourself: `baton accept TASK`.",
    },
    Self::ReviewUnclear { .. } => Explanation {
        code: "review_unclear",
        means: "The agent that reviewed the work said neither AGREE nor DISAGREE, or its review failed or was cancelled.",
        cause: "The reviewer did not follow its instructions, or could not run.",
        next: "Read its words (`baton task show REVIEW`) and decide yourself: `baton accept TASK` or `baton reject TASK`.",
    },
    Self::TooLongToReview { .. } => Explanation {
        code: "too_long_to_review",
        means: "The diff is too long to be shown to another agent whole, so no agent was asked about it.",
        cause: "The task changed a lot, or added generated files. What a reviewer does not see could be anything.",
        next: "Look at it (`baton task diff TASK`) and decide yourself: `baton accept TASK` or `baton reject TASK`.",
    },
} }
