//! Explanations of refused task commands.

use crate::ask::refusal::explained::{AUTOMATION_STOPPED, HUMAN_ONLY};
use crate::base::explanation::Explanation;
use crate::explained;
use crate::transition::refusal::CommandRefusal;

explained! { CommandRefusal {
    Self::WrongState { .. } => Explanation {
        code: "wrong_state",
        means: "The task is in a state from which this is not possible.",
        cause: "It changed before your command arrived (an agent finished, somebody else decided), or the command is \
                for another state: only provisional work can be accepted, only a failed or cancelled task can be \
                retried. Done is final.",
        next: "See its state, and what each state allows.",
    },
    Self::Stale { .. } => Explanation {
        code: "stale",
        means: "A result came from an attempt that is no longer the task's current one, and was discarded.",
        cause: "The attempt was abandoned (its lease expired, the task was cancelled or withdrawn), another one has \
                started since, and the first one still reported.",
        next: "Nothing to do. What it wrote is kept and can be restored into a folder.",
    },
    Self::WaitingOn { .. } => Explanation {
        code: "waiting_on",
        means: "The task cannot start: tasks it depends on are not done.",
        cause: "It was added with `--after`, or a plan made it wait. A recycled task counts as done only when \
                everything that replaced it is.",
        next: "See what it waits on, and which of these can never be met.",
    },
    Self::NotReleased { .. } => Explanation {
        code: "not_released",
        means: "The task is held, and no agent may claim it yet.",
        cause: "Breakdowns start when a person releases them, and tasks planned by a loop are held until the plan passes \
                its gate.",
        next: "Release it: give a breakdown to an agent, or answer the gate of the loop with YES.",
    },
    Self::SplitByHand { .. } => Explanation {
        code: "split_by_hand",
        means: "You chose to split this task yourself, so no agent plans it.",
        cause: "An escalation was answered with SPLIT.",
        next: "Write the plan, then approve it.",
    },
    Self::OtherQuestion { .. } => Explanation {
        code: "other_question",
        means: "The answer is for a question the task does not wait on.",
        cause: "The question was answered or withdrawn meanwhile, and the task has asked another one.",
        next: "See the question that is pending now, and answer that one.",
    },
    Self::HumanOnly { .. } => HUMAN_ONLY,
    Self::AutomationStopped { .. } => AUTOMATION_STOPPED,
    Self::NotPending { .. } => Explanation {
        code: "not_pending",
        means: "The question is no longer pending.",
        cause: "It was answered, or withdrawn because the work that asked it ended.",
        next: "See the questions that are still open.",
    },
    Self::MayNotAsk { .. } => Explanation {
        code: "may_not_ask",
        means: "An agent of this task may not ask now. The nested refusal says why, with its own code.",
        cause: "Only the running agent may ask, one question at a time, and not after its attempt has ended.",
        next: "Look up the nested code.",
    },
    Self::UnreadableChoice { .. } => Explanation {
        code: "unreadable_choice",
        means: "The answer is not one of the choices of this question.",
        cause: "Escalations and gates need one of their words. Case and spaces do not matter, and an unambiguous \
                abbreviation is enough.",
        next: "Answer again with one of the words shown.",
    },
    Self::TooLarge { .. } => Explanation {
        code: "too_large",
        means: "The task used up its turns or its attempts with too little to show, so it is not accepted automatically.",
        cause: "It burned out (four fifths of its turns without a commit), or three attempts were not accepted.",
        next: "Recycle it, which breaks it down into smaller tasks, or accept it as it is with force.",
    },
    Self::NeedsReview { .. } => Explanation {
        code: "needs_review",
        means: "Something about this work is odd, so it is not merged without a person's look.",
        cause: "It contains conflict markers, a file that is very large, a link out of the repository or a changed submodule, or \
                the agent left a merge unfinished, rewrote the history it started from or broke its repository.",
        next: "Look at the diff, then send the work back or accept it as it is.",
    },
    Self::NeedsHuman { .. } => Explanation {
        code: "needs_human",
        means: "A person has to look at this work before it is accepted.",
        cause: "The agent says that nothing had to be changed, it left a question with its work, or the task is part of \
                one that was already broken down.",
        next: "Look at the task and at its changes, then accept it yourself.",
    },
    Self::NotYours { .. } => Explanation {
        code: "not_yours",
        means: "Only a person, or a policy a person has set, may do this to the task.",
        cause: "An agent or one of Baton's services tried something only people may decide.",
        next: "A person has to do it.",
    },
    Self::NoReader { .. } => Explanation {
        code: "no_reader",
        means: "The task is over, so no agent will read a message to it.",
        cause: "It is done, cancelled, or was split into other tasks.",
        next: "Add a task for what is left to do, send the message to one of the tasks that replaced it, or retry it if it was \
               cancelled.",
    },
    Self::IsPlan { .. } => Explanation {
        code: "is_plan",
        means: "What waits here is a plan, not work: it is approved or rejected.",
        cause: "The task is a breakdown, and its agent or a person has submitted a plan.",
        next: "Read the plan, then approve or reject it.",
    },
    Self::NotBreakdown { .. } => Explanation {
        code: "not_breakdown",
        means: "The task is not a breakdown, so it has no plan.",
        cause: "A command about plans was given the id of ordinary work.",
        next: "See which tasks are breakdowns. Recycling a task that is too large creates one.",
    },
    Self::NotTooLarge { .. } => Explanation {
        code: "not_too_large",
        means: "Nothing shows that the task is too large, so Baton does not recycle it automatically.",
        cause: "It has commits, turns left or attempts left.",
        next: "If you think otherwise, recycle it yourself.",
    },
    Self::BadReplacement { .. } => Explanation {
        code: "bad_replacement",
        means: "A task can only be replaced by at least one task other than itself.",
        cause: "With an empty plan, the task's dependents would start without its work.",
        next: "Give the plan at least one item.",
    },
    Self::HasBegun { .. } => Explanation {
        code: "has_begun",
        means: "The dependencies of a task cannot be changed once somebody has worked on it.",
        cause: "An agent has already started, and a new dependency would come too late.",
        next: "Cancel it, and add it again with the dependency.",
    },
} }
