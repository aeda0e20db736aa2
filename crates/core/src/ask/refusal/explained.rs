//! Why a question or an answer was turned away, explained.

use crate::ask::refusal::{AnswerRefusal, AskRefusal};
use crate::base::explanation::Explanation;
use crate::explained;

/// The same wherever it is met.
pub const HUMAN_ONLY: Explanation = Explanation {
    code: "human_only",
    means: "Only a person may answer this question.",
    cause: "It is an escalation, asks leave for something dangerous, or asks whether the project's own commands may \
            run. No default, no answer laid down ahead and no policy may speak for you there.",
    next: "Answer it yourself: `baton answer QUESTION TEXT`, or on the page.",
};

pub const AUTOMATION_STOPPED: Explanation = Explanation {
    code: "automation_stopped",
    means: "Too many answers in a row were given without a person, so this question waits for one.",
    cause: "Five automatic answers in a row (a policy, a default, an answer laid down ahead) look like a loop nobody \
            watches.",
    next: "Answer it yourself: `baton answer QUESTION TEXT`. After that the automation goes on.",
};

pub const ALREADY_ANSWERED: Explanation = Explanation {
    code: "already_answered",
    means: "The question has its answer already, and the first one stands.",
    cause: "Somebody else was faster, or a policy or the question's own default answered it.",
    next: "`baton task show TASK` shows what was answered, and by whom; `baton questions` shows what is still open.",
};

explained! { AskRefusal {
    Self::NotOwner => Explanation {
        code: "not_owner",
        means: "Whoever asks does not own the place it asks from.",
        cause: "The token is none, is not the one of the attempt at work, or belongs to an agent that another agent \
                started.",
        next: "An agent: do not ask; tell the agent that started you, or end your turn. A person need do nothing.",
    },
    Self::NoCycle => Explanation {
        code: "no_cycle",
        means: "No phase is running, so nobody may ask.",
        cause: "The loop is at its hub.",
        next: "Start a phase: `baton loop --from plan`.",
    },
    Self::CycleClosed { .. } => Explanation {
        code: "cycle_closed",
        means: "The attempt or the phase that wants to ask is over.",
        cause: "Its result was taken, it was stopped, or its lease ran out, and the process lived on.",
        next: "An agent: report the outcome and end the turn. A person need do nothing.",
    },
    Self::GatePassed { .. } => Explanation {
        code: "gate_passed",
        means: "The gate of this phase was answered, and a gate is the last question of its phase.",
        cause: "The agent went on asking after the question that hands its work on.",
        next: "An agent: end the turn; the next phase has taken over.",
    },
    Self::QuestionPending { .. } => Explanation {
        code: "question_pending",
        means: "The agent has asked already, and that question still waits. One question at a time.",
        cause: "A second question came before the first was answered. It was not kept.",
        next: "Answer the first: `baton questions`. The agent is started again with the answer and can ask the next.",
    },
    Self::LimitReached { .. } => Explanation {
        code: "limit_reached",
        means: "This piece of work has asked as many questions as one may.",
        cause: "An agent that asks without end would never let you go.",
        next: "An agent: go on with what is known and note the assumptions. A person: write more into the task, with a \
               new one if need be: `baton task add TITLE --description TEXT`.",
    },
    Self::IdTaken { .. } => Explanation {
        code: "id_taken",
        means: "The question carries the id of an earlier one.",
        cause: "Two questions were given the same id by whoever made them; Baton's own are never the same.",
        next: "Ask again under a new id.",
    },
} }

explained! { AnswerRefusal {
    Self::AlreadyAnswered { .. } => ALREADY_ANSWERED,
    Self::Withdrawn { .. } => Explanation {
        code: "withdrawn",
        means: "The question was withdrawn; no answer is needed any more.",
        cause: "The work that asked it was cancelled or ended, or its phase was broken off.",
        next: "`baton questions` shows what is still open.",
    },
    Self::UnknownQuestion { .. } => Explanation {
        code: "unknown_question",
        means: "There is no question of this id.",
        cause: "The id is mistyped, or belongs to another repository or namespace.",
        next: "`baton questions` shows the ids; the beginning of one is enough.",
    },
    Self::HumanOnly { .. } => HUMAN_ONLY,
    Self::AutomationStopped { .. } => AUTOMATION_STOPPED,
    Self::Unreadable { .. } => Explanation {
        code: "unreadable_answer",
        means: "The answer is none of the words the question offers, or could be more than one of them.",
        cause: "A question with choices needs one of them.",
        next: "Answer with one of the words shown: `baton answer QUESTION TEXT`.",
    },
    Self::IsGate { .. } => Explanation {
        code: "is_gate",
        means: "The question is the gate of a phase: its answer hands the results of the phase on.",
        cause: "It was answered by a way that has no place for those results.",
        next: "Answer it in `baton loop`, with `baton answer QUESTION YES`, or on the page.",
    },
} }
