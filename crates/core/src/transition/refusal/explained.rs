//! The refusals of a task's state machine, explained.

use crate::ask::refusal::explained::{AUTOMATION_STOPPED, HUMAN_ONLY};
use crate::base::explanation::Explanation;
use crate::explained;
use crate::transition::refusal::Refusal;

explained! { Refusal {
    Self::WrongState { .. } => Explanation {
        code: "wrong_state",
        means: "The task is in a state from which this is not possible.",
        cause: "It moved on before your command came (an agent finished, somebody else decided), or the command is \
                meant for another state: only work that waits to be accepted can be accepted, only a failed task can \
                be tried again. Nothing leaves Done.",
        next: "`baton task show TASK` says where it stands; `baton explain states` says what each state allows.",
    },
    Self::Stale { .. } => Explanation {
        code: "stale",
        means: "A result came from an attempt that is no longer the task's current one, and was discarded.",
        cause: "The attempt was given up (its lease ran out, the task was cancelled or taken back), another one has \
                started since, and the first one still answered.",
        next: "Nothing has to be done. What it wrote is kept; `baton task restore ATTEMPT FOLDER` brings it back.",
    },
    Self::WaitingOn { .. } => Explanation {
        code: "waiting_on",
        means: "The task cannot start: tasks it depends on are not done.",
        cause: "It was added with `--after`, or a plan made it wait. A recycled task counts as done only when \
                everything that replaced it is.",
        next: "`baton task show TASK` lists what it waits on, and says where that can never be met.",
    },
    Self::NotReleased { .. } => Explanation {
        code: "not_released",
        means: "The task is held back, and no agent may take it yet.",
        cause: "Breakdowns start when a person says so, and what a loop plans is held back until the plan is through \
                its gate.",
        next: "`baton breakdown run TASK` gives a breakdown to an agent; in `baton loop`, answer the gate with YES.",
    },
    Self::SplitByHand { .. } => Explanation {
        code: "split_by_hand",
        means: "You chose to split this task yourself, so no agent plans it.",
        cause: "An escalation was answered with SPLIT.",
        next: "Write the plan: `baton breakdown edit TASK`, then `baton breakdown approve TASK`.",
    },
    Self::OtherQuestion { .. } => Explanation {
        code: "other_question",
        means: "The answer names a question the task does not wait on.",
        cause: "The question was answered or withdrawn in the meantime, and the task has asked another one since.",
        next: "`baton questions` shows the one that is pending now.",
    },
    Self::HumanOnly { .. } => HUMAN_ONLY,
    Self::AutomationStopped { .. } => AUTOMATION_STOPPED,
    Self::NotPending { .. } => Explanation {
        code: "not_pending",
        means: "The question waits for no answer any more.",
        cause: "It was answered, or withdrawn because the work that asked it ended.",
        next: "`baton questions` shows what is still open.",
    },
    Self::MayNotAsk { .. } => Explanation {
        code: "may_not_ask",
        means: "An agent of this task may not ask now. The refusal inside says why, with a code of its own.",
        cause: "Only the agent at work may ask, one question at a time, and not after its attempt is over.",
        next: "Look up the code inside, for example with `baton explain question_pending`.",
    },
    Self::UnreadableChoice { .. } => Explanation {
        code: "unreadable_choice",
        means: "The answer is none of the choices this question offers.",
        cause: "Escalations and gates need one of their words. Case and blanks do not matter, and an unambiguous \
                beginning is enough.",
        next: "Answer again with one of the words shown: `baton answer QUESTION TEXT`.",
    },
    Self::TooLarge { .. } => Explanation {
        code: "too_large",
        means: "The task used up its turns or its attempts with too little to show, so it is not accepted by itself.",
        cause: "It burned out (four fifths of its turns without a commit), or three attempts were not accepted.",
        next: "`baton recycle TASK` has it broken down into smaller ones; `baton accept TASK --force` takes it as it is.",
    },
    Self::NeedsHuman { .. } => Explanation {
        code: "needs_human",
        means: "A person has to look at this work before it is accepted.",
        cause: "The agent says that nothing had to be changed, it left a question beside its work, or the task is a \
                part of one that was broken down already.",
        next: "Look at it with `baton task show TASK` and `baton task diff TASK`, then `baton accept TASK` yourself.",
    },
    Self::NotYours { .. } => Explanation {
        code: "not_yours",
        means: "Only a person, or a policy a person has set, may do this to the task.",
        cause: "An agent or one of Baton's own services tried what is for people to decide.",
        next: "Do it yourself, on the page or with `baton`.",
    },
    Self::IsPlan { .. } => Explanation {
        code: "is_plan",
        means: "What waits here is a plan, not work: it is approved or rejected.",
        cause: "The task is a breakdown, and its agent or a person has handed in a plan.",
        next: "`baton breakdown show TASK`, then `baton breakdown approve TASK` or `baton breakdown reject TASK --reason TEXT`.",
    },
    Self::NotBreakdown { .. } => Explanation {
        code: "not_breakdown",
        means: "The task is not a breakdown, so it has no plan.",
        cause: "A command about plans was given the id of ordinary work.",
        next: "`baton breakdown list` shows the breakdowns. `baton recycle TASK` makes one of a task that is too large.",
    },
    Self::NotTooLarge { .. } => Explanation {
        code: "not_too_large",
        means: "Nothing shows that the task is too large, so Baton does not recycle it by itself.",
        cause: "It has commits, turns left or attempts left.",
        next: "If you think otherwise, recycle it yourself: `baton recycle TASK`.",
    },
    Self::BadReplacement { .. } => Explanation {
        code: "bad_replacement",
        means: "A task can only be replaced by at least one task other than itself.",
        cause: "A plan without items would let everything that waits on the task start on work nobody did.",
        next: "Give the plan at least one item: `baton breakdown edit TASK`.",
    },
    Self::HasBegun { .. } => Explanation {
        code: "has_begun",
        means: "What a task waits for cannot be changed any more: somebody has worked on it.",
        cause: "An agent has begun on what was there then, and a new dependency would come too late.",
        next: "Cancel it, and add it again with the dependency: `baton task add TITLE --after TASK`.",
    },
} }
