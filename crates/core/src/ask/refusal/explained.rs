//! Explanations of refused questions and answers.

use crate::ask::refusal::{AnswerRefusal, AskRefusal};
use crate::base::explanation::Explanation;
use crate::explained;

/// Shared with the refusals of task commands.
pub const HUMAN_ONLY: Explanation = Explanation {
    code: "human_only",
    means: "Only a person may answer this question.",
    cause: "It is an escalation, asks for approval of something dangerous, or asks whether the project's own commands \
            may run. No default, queued answer or policy may answer it.",
    next: "Answer it yourself.",
};

pub const AUTOMATION_STOPPED: Explanation = Explanation {
    code: "automation_stopped",
    means: "Too many answers in a row were given without a person, so this question waits for one.",
    cause: "Five automatic answers in a row (a policy, a default, a queued answer) look like an unattended loop.",
    next: "Answer it yourself. After that, automation resumes.",
};

pub const ALREADY_ANSWERED: Explanation = Explanation {
    code: "already_answered",
    means: "The question is already answered, and the first answer counts.",
    cause: "Somebody else was faster, or a policy or the question's own default answered it.",
    next: "See what was answered, and by whom, and which questions are still open.",
};

explained! { AskRefusal {
    Self::NotOwner => Explanation {
        code: "not_owner",
        means: "The agent that asks does not own the ask cycle.",
        cause: "The token is missing, is not that of the running attempt, or belongs to an agent started by another agent.",
        next: "An agent: do not ask; tell the agent that started you, or end your turn. A person has nothing to do.",
    },
    Self::NoCycle => Explanation {
        code: "no_cycle",
        means: "No phase is running, so no agent may ask.",
        cause: "The loop is at its hub.",
        next: "Start a phase of the loop.",
    },
    Self::CycleClosed { .. } => Explanation {
        code: "cycle_closed",
        means: "The attempt or the phase that wants to ask is over.",
        cause: "Its result was recorded, it was stopped, or its lease expired, and the process kept running.",
        next: "An agent: report the outcome and end the turn. A person has nothing to do.",
    },
    Self::GatePassed { .. } => Explanation {
        code: "gate_passed",
        means: "The gate of this phase was answered, and a gate is the last question of its phase.",
        cause: "The agent kept asking after the question that ends its phase.",
        next: "An agent: end the turn; the next phase has taken over.",
    },
    Self::QuestionPending { .. } => Explanation {
        code: "question_pending",
        means: "The agent has already asked a question that is still pending. One question at a time.",
        cause: "A second question came before the first was answered. It was discarded.",
        next: "Answer the first. The agent is resumed with the answer and can ask the next.",
    },
    Self::LimitReached { .. } => Explanation {
        code: "limit_reached",
        means: "This work has asked the maximum number of questions.",
        cause: "The limit protects you from an agent that never stops asking.",
        next: "An agent: continue with what is known and note the assumptions. A person: add a task with a more \
               complete description.",
    },
    Self::IdTaken { .. } => Explanation {
        code: "id_taken",
        means: "The question has the id of an earlier one.",
        cause: "The client gave two questions the same id; Baton's own ids are unique.",
        next: "Ask again under a new id.",
    },
} }

explained! { AnswerRefusal {
    Self::AlreadyAnswered { .. } => ALREADY_ANSWERED,
    Self::Withdrawn { .. } => Explanation {
        code: "withdrawn",
        means: "The question was withdrawn; no answer is needed any more.",
        cause: "The work that asked it was cancelled or ended, or its phase was aborted.",
        next: "See the questions that are still open.",
    },
    Self::UnknownQuestion { .. } => Explanation {
        code: "unknown_question",
        means: "There is no question with this id.",
        cause: "The id is mistyped, or belongs to another repository or namespace.",
        next: "See the ids of the open questions; the beginning of one is enough.",
    },
    Self::HumanOnly { .. } => HUMAN_ONLY,
    Self::AutomationStopped { .. } => AUTOMATION_STOPPED,
    Self::Unreadable { .. } => Explanation {
        code: "unreadable_answer",
        means: "The answer matches none of the offered words, or more than one.",
        cause: "A question with choices needs one of them.",
        next: "Answer with one of the words shown.",
    },
    Self::IsGate { .. } => Explanation {
        code: "is_gate",
        means: "The question is the gate of a phase: its answer passes on the results of the phase.",
        cause: "It was answered through a path that cannot carry those results.",
        next: "Answer it in the loop, or as you answer any other question.",
    },
} }
