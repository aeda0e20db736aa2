//! The work of a loop's phase, stored with the loop in one row so that it survives a crash.
//!
//! It says what comes next and applies the human's answers; it asks nobody, starts nobody and creates nothing. Each
//! phase starts with a new one, so nothing said in one phase reaches the next.

mod execute;
mod plan;
mod review;

use serde::{Deserialize, Serialize};

use crate::ask::choice::{UnreadableAnswer, YesNo, YesNoEdit, is_one_of};
use crate::ask::stop_words::{declines, is_unclear, wants_nothing};
use crate::base::explanation::Explanation;
use crate::base::id::TaskId;
use crate::base::text::NonBlank;
use crate::explained;
use crate::phase::Phase;
use crate::phase::discovered::{ApprovedTasks, InvalidProposal};
use crate::phase::handoff::PhaseResults;
use crate::phase::subtask::UnexpectedSubtaskEvent;

pub use execute::ExecuteWork;
pub use plan::PlanWork;
pub use review::ReviewWork;

/// Agents that may fail to produce a usable result for one phase before the loop returns to the human.
pub const PHASE_TRIES_MAX: u32 = 3;

/// What the loop's pending question is about, and so what its answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionTopic {
    Gate,
    /// The task is too vague to plan.
    Vagueness,
    /// The plan was declined; what should change?
    Revision,
    MayRun,
    IsDone,
    Discovered,
    /// The human edits the list of discovered tasks.
    List,
    /// Everything was executed and the human wants more; what?
    MoreWork,
    /// No review could be made; try again?
    ReviewFailed,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum PhaseWork {
    #[default]
    Hub,
    Plan(PlanWork),
    Execute(ExecuteWork),
    Review(ReviewWork),
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextAction {
    /// Choose the task to plan.
    Choose,
    /// Start an agent for the phase.
    StartAgent,
    /// Wait for the task to end; nothing else can happen before.
    WatchFor {
        task: TaskId,
    },
    Ask {
        topic: QuestionTopic,
    },
    /// The phase cannot continue; the loop returns to the hub.
    GiveUp {
        why: String,
    },
    /// Nothing to do.
    Rest,
}

/// What an answer requires besides the new state.
#[derive(Debug, PartialEq, Eq)]
pub enum FollowUp {
    Nothing,
    /// I9: create these approved tasks.
    Create(ApprovedTasks),
    /// The human lets an agent work on the subtask.
    Run {
        task: TaskId,
    },
    /// The human wants another subtask.
    AddSubtask {
        text: NonBlank,
    },
    /// The human says the subtask is done.
    Accept {
        task: TaskId,
    },
    /// The human says the subtask failed.
    Fail {
        task: TaskId,
    },
}

/// Why an answer does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkRefusal {
    #[error(transparent)]
    Unreadable(#[from] UnreadableAnswer),
    #[error(transparent)]
    OutOfTurn(#[from] UnexpectedSubtaskEvent),
    #[error("nothing of that kind was asked in the {0} phase")]
    NotAsked(Phase),
    #[error("that is no list of tasks: {0}")]
    NoList(#[from] InvalidProposal),
}

explained! { WorkRefusal {
    Self::OutOfTurn(_) => Explanation {
        code: "out_of_turn",
        means: "The answer does not fit the state of the subtask: whether it may run is asked before, whether it is done \
                after its run.",
        cause: "The subtask changed between the question and the answer.",
        next: "See the current question.",
    },
    Self::NotAsked(_) => Explanation {
        code: "not_asked",
        means: "Nothing of that kind was asked in this phase of the loop.",
        cause: "The answer is for a question of another phase.",
        next: "See the current question.",
    },
    Self::NoList(_) => Explanation {
        code: "no_list",
        means: "The answer has no task in it, or too many.",
        cause: "Each task needs a title: one task on each line, or separated by semicolons; its description follows a colon.",
        next: "Write the list again, or NONE to add no task.",
    },
} else {
    Self::Unreadable(unreadable) => unreadable.explained(),
} }

/// The answer that skips the clarification, or wants nothing more.
pub const SKIP: &str = "SKIP";
/// What may be answered to the question what is missing, as listed after an answer that is none of them.
const VAGUENESS_ANSWERS: [&str; 3] = ["what is missing", SKIP, "STOP"];

/// Whether an answer wants nothing more.
fn is_nothing(answer: &NonBlank) -> bool {
    is_one_of(answer.as_str(), &[SKIP]) || wants_nothing(answer.as_str()) || declines(answer.as_str())
}

/// I22: "no" says nothing that another plan could follow, and starts no agent.
fn is_no_instruction(answer: &NonBlank) -> bool {
    wants_nothing(answer.as_str()) || declines(answer.as_str())
}

impl PhaseWork {
    /// The initial work of a phase.
    pub fn begin(phase: Phase, results: &PhaseResults) -> Self {
        match phase {
            Phase::Hub => Self::Hub,
            Phase::Plan => Self::Plan(PlanWork::default()),
            Phase::Execute => {
                let subtasks = match results {
                    PhaseResults::Planned { subtasks } => subtasks.clone(),
                    PhaseResults::Started
                    | PhaseResults::Executed { .. }
                    | PhaseResults::Reviewed { .. }
                    | PhaseResults::Ended { .. } => Vec::new(),
                };
                Self::Execute(ExecuteWork::new(subtasks.into_iter().map(|task| (task, String::new()))))
            }
            Phase::Review => Self::Review(ReviewWork::default()),
        }
    }

    pub fn next(&self) -> NextAction {
        match self {
            Self::Hub => NextAction::Rest,
            Self::Plan(work) => work.next(),
            Self::Execute(work) => work.next(),
            Self::Review(work) => work.next(),
        }
    }

    /// The results of the phase. A plan's tasks do not exist yet; the code that creates them adds them.
    pub fn results(&self) -> Option<PhaseResults> {
        match self {
            Self::Hub => None,
            Self::Plan(_) => Some(PhaseResults::Planned { subtasks: Vec::new() }),
            Self::Execute(work) => Some(work.results()),
            Self::Review(work) => Some(work.results()),
        }
    }

    /// The task of the phase's running agent, as far as the phase knows.
    pub fn at_work(&self) -> Option<TaskId> {
        match self {
            Self::Hub => None,
            Self::Plan(work) => work.agent(),
            Self::Execute(work) => work.current().map(|subtask| subtask.task.id),
            Self::Review(work) => work.agent(),
        }
    }

    /// Records what the human said while no agent is running. False if no later agent could be told.
    pub fn add_remark(&mut self, text: &NonBlank) -> bool {
        match self {
            Self::Plan(work) => {
                work.add_remark(text);
                true
            }
            Self::Review(work) => work.add_remark(text),
            Self::Hub | Self::Execute(_) => false,
        }
    }

    /// Applies the answer to a question about `topic`. A gate's answer comes here only if it stays in the phase.
    pub fn apply_answer(&mut self, topic: QuestionTopic, answer: &NonBlank) -> Result<FollowUp, WorkRefusal> {
        match (self, topic) {
            (Self::Plan(work), QuestionTopic::Gate) => work.decline(),
            (Self::Plan(work), QuestionTopic::Vagueness) if answer.as_str() == SKIP => work.plan_anyway(),
            (Self::Plan(_), QuestionTopic::Vagueness | QuestionTopic::Revision)
                if is_unclear(answer.as_str()) =>
            {
                return Err(UnreadableAnswer::may_stop(answer.as_str()).into());
            }
            (Self::Plan(_), QuestionTopic::Vagueness) if is_no_instruction(answer) => {
                return Err(UnreadableAnswer::none_of(answer.as_str(), &VAGUENESS_ANSWERS).into());
            }
            (Self::Plan(work), QuestionTopic::Revision) if is_no_instruction(answer) => {
                work.take_back_decline();
            }
            (Self::Plan(work), QuestionTopic::Vagueness | QuestionTopic::Revision) => {
                work.plan_again(answer);
            }
            (Self::Execute(work), QuestionTopic::Gate) => work.again(),
            (Self::Execute(work), QuestionTopic::MayRun | QuestionTopic::IsDone) => {
                return work.apply_answer(topic, answer);
            }
            (Self::Review(work), QuestionTopic::Discovered) => {
                return work.decide(YesNoEdit::read(answer.as_str())?);
            }
            (Self::Execute(work), QuestionTopic::MoreWork) => {
                work.wants_more = false;
                if !is_nothing(answer) {
                    return Ok(FollowUp::AddSubtask { text: answer.clone() });
                }
            }
            (Self::Review(work), QuestionTopic::List) => {
                if is_nothing(answer) {
                    work.drop_list();
                } else {
                    work.rewrite_list(answer)?;
                }
            }
            (Self::Review(work), QuestionTopic::ReviewFailed) => match YesNo::read(answer.as_str())? {
                YesNo::Yes => work.review_again(None),
                YesNo::No => work.go_on_without(),
            },
            (work, _) => return Err(WorkRefusal::NotAsked(work.phase())),
        }
        Ok(FollowUp::Nothing)
    }

    const fn phase(&self) -> Phase {
        match self {
            Self::Hub => Phase::Hub,
            Self::Plan(_) => Phase::Plan,
            Self::Execute(_) => Phase::Execute,
            Self::Review(_) => Phase::Review,
        }
    }
}
