//! Where a task stands, in the words that every surface shows to people: the web UI, the command line, the terminal UI.

use crate::task::state::{QueueName, ReplacedBy, ReviewMark, StateName, TaskState, TaskStatus};

impl StateName {
    pub const fn label(self) -> &'static str {
        match self {
            Self::Incoming => "Queued",
            Self::Held => "Held",
            Self::Breakdown => "Needs a plan",
            Self::Claimed => "Working",
            Self::NeedsContinuation => "Continuing",
            Self::AwaitingResponse => "Waiting for you",
            Self::Blocked => "Blocked",
            Self::Provisional => "Ready for review",
            Self::Landing => "Landing",
            Self::Recycled => "Split",
            Self::Done => "Done",
            Self::Failed => "Failed",
            Self::Cancelled => "Cancelled",
        }
    }
}

impl TaskState {
    /// The label of the state, or a closer one where what it contains matters to a person.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Provisional(provisional) => match provisional.mark {
                ReviewMark::Ready => StateName::Provisional.label(),
                ReviewMark::NoChanges { .. } => "No changes",
                ReviewMark::BurnedOut => "No progress",
                ReviewMark::NotConverging => "Not converging",
                ReviewMark::NeedsReview { .. } => "Needs review",
                ReviewMark::Plan => "Plan to approve",
            },
            Self::Recycled { replaced_by: ReplacedBy::Tasks(_) } => "In parts",
            other => other.name().label(),
        }
    }
}

impl QueueName {
    /// The label of a task of which a list says no more than its queue and its status.
    pub const fn label(self, status: TaskStatus) -> &'static str {
        let state = match (self, status) {
            (_, TaskStatus::AwaitingResponse) | (Self::Escalated, _) => StateName::AwaitingResponse,
            (_, TaskStatus::Blocked) => StateName::Blocked,
            (Self::Incoming, _) => StateName::Incoming,
            (Self::Breakdown, _) => StateName::Breakdown,
            (Self::Claimed, _) => StateName::Claimed,
            (Self::NeedsContinuation, _) => StateName::NeedsContinuation,
            (Self::Provisional, _) => StateName::Provisional,
            (Self::Landing, _) => StateName::Landing,
            (Self::Recycled, _) => StateName::Recycled,
            (Self::Done, _) => StateName::Done,
            (Self::Failed, _) => StateName::Failed,
            (Self::Rejected, _) => StateName::Cancelled,
        };
        state.label()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::state::Provisional;

    #[test]
    fn a_list_and_a_task_use_the_same_words() {
        let reviewed = |mark| TaskState::Provisional(Provisional { attempt: None, mark, question: None });
        let (ready, plan) = (reviewed(ReviewMark::Ready), reviewed(ReviewMark::Plan));
        assert_eq!((ready.label(), plan.label()), ("Ready for review", "Plan to approve"));
        for (state, label) in [(&ready, "Ready for review"), (&TaskState::Incoming, "Queued")] {
            assert_eq!((state.label(), state.queue().label(state.status())), (label, label));
        }
        assert_eq!(QueueName::Claimed.label(TaskStatus::Running), "Working");
        assert_eq!(QueueName::Claimed.label(TaskStatus::AwaitingResponse), "Waiting for you");
        assert_eq!(QueueName::Rejected.label(TaskStatus::Cancelled), "Cancelled");
    }
}
