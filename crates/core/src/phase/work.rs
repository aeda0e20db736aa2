//! The work of a loop's phase, stored with the loop in one row so that it survives a crash.
//!
//! It says what comes next and applies the human's answers; it asks nobody, starts nobody and creates nothing. Each
//! phase starts with a new one, so nothing said in one phase reaches the next.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ask::choice::{UnreadableAnswer, YesNoEdit, YesNoFailed, YesNoHelp};
use crate::base::explanation::Explanation;
use crate::base::id::TaskId;
use crate::base::text::NonBlank;
use crate::explained;
use crate::people::actor::Actor;
use crate::phase::Phase;
use crate::phase::discovered::{ApprovedTasks, Proposal, ProposalDecision};
use crate::phase::handoff::{NamedTask, PhaseResults};
use crate::phase::subtask::{Subtask, SubtaskEvent, SubtaskResult, SubtaskState, UnexpectedSubtaskEvent};
use crate::phase::vagueness::Rubric;
use crate::recycle::plan::Plan;

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

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanWork {
    /// The task being planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<NamedTask>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<TaskId>,
    pub tries: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rubric: Option<Rubric>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// The errors of the last submitted plan.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub faults: String,
    /// What the human said in this phase, for the next planning agent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<NonBlank>,
    /// The human wants a plan however vague the task is.
    pub may_be_vague: bool,
    /// The gate was declined, and the human has not been asked yet what should change.
    pub is_declined: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecuteWork {
    pub subtasks: Vec<Subtask>,
    /// The human asked for help with the current subtask.
    pub wants_help: bool,
    /// Who called each subtask done, and so accepts its work.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub done_by: BTreeMap<TaskId, Actor>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewWork {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<TaskId>,
    pub tries: u32,
    /// What the agent found, in its own words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub findings: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Proposal>,
    /// What the human said before an agent started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<NonBlank>,
    pub is_editing: bool,
    pub discovered: u32,
    pub duplicates_skipped: u32,
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
        why: &'static str,
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
}

explained! { WorkRefusal {
    Self::OutOfTurn(_) => Explanation {
        code: "out_of_turn",
        means: "The answer does not fit the state of the subtask: whether it may run is asked before, whether it is done \
                after its run.",
        cause: "The subtask changed between the question and the answer.",
        next: "See the current question: `baton questions`.",
    },
    Self::NotAsked(_) => Explanation {
        code: "not_asked",
        means: "Nothing of that kind was asked in this phase of the loop.",
        cause: "The answer is for a question of another phase.",
        next: "See the current question: `baton questions`.",
    },
} else {
    Self::Unreadable(unreadable) => unreadable.explained(),
} }

/// The answer that skips the clarification.
pub const SKIP: &str = "SKIP";

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

    /// The results of the phase. A plan's tasks do not exist yet; whoever creates them adds them.
    pub fn results(&self) -> Option<PhaseResults> {
        match self {
            Self::Hub => None,
            Self::Plan(_) => Some(PhaseResults::Planned { subtasks: Vec::new() }),
            Self::Execute(work) => Some(work.results()),
            Self::Review(work) => Some(PhaseResults::Reviewed {
                discovered: work.discovered,
                duplicates_skipped: work.duplicates_skipped,
            }),
        }
    }

    /// The task of the phase's running agent, as far as the phase knows.
    pub fn at_work(&self) -> Option<TaskId> {
        match self {
            Self::Hub => None,
            Self::Plan(work) => work.agent,
            Self::Execute(work) => work.current().map(|subtask| subtask.task.id),
            Self::Review(work) => work.agent,
        }
    }

    /// Records what the human said while no agent is running. False if no later agent could be told.
    pub fn add_remark(&mut self, text: &NonBlank) -> bool {
        match self {
            Self::Plan(work) => work.said.push(text.clone()),
            Self::Review(work) if work.findings.is_empty() => work.said.push(text.clone()),
            Self::Hub | Self::Execute(_) | Self::Review(_) => return false,
        }
        true
    }

    /// Applies the answer to a question about `topic`. A gate's answer comes here only if it stays in the phase.
    pub fn apply_answer(&mut self, topic: QuestionTopic, answer: &NonBlank) -> Result<FollowUp, WorkRefusal> {
        match (self, topic) {
            (Self::Plan(work), QuestionTopic::Gate) => work.is_declined = true,
            (Self::Plan(work), QuestionTopic::Vagueness) if answer.as_str() == SKIP => {
                work.may_be_vague = true;
            }
            (Self::Plan(work), QuestionTopic::Vagueness | QuestionTopic::Revision) => work.hear(answer),
            (Self::Execute(work), QuestionTopic::Gate) => work.again(),
            (Self::Execute(work), QuestionTopic::MayRun | QuestionTopic::IsDone) => {
                return work.apply_answer(topic, answer);
            }
            (Self::Review(work), QuestionTopic::Discovered) => {
                return work.decided(YesNoEdit::read(answer.as_str())?);
            }
            (Self::Review(work), QuestionTopic::List) => work.list(answer),
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

impl PlanWork {
    fn next(&self) -> NextAction {
        if self.subject.is_none() {
            return NextAction::Choose;
        }
        if self.is_declined {
            return NextAction::Ask { topic: QuestionTopic::Revision };
        }
        match (self.agent, &self.rubric, &self.plan) {
            // Even with a plan: the agent may still get an answer and plan again.
            (Some(task), _, _) => NextAction::WatchFor { task },
            (None, Some(rubric), Some(_)) => {
                let is_vague = rubric.assess().must_clarify && !self.may_be_vague;
                NextAction::Ask {
                    topic: if is_vague { QuestionTopic::Vagueness } else { QuestionTopic::Gate },
                }
            }
            (None, _, _) if self.tries >= PHASE_TRIES_MAX => {
                NextAction::GiveUp { why: "the planning agents submitted no rubric or no plan" }
            }
            (None, _, _) => NextAction::StartAgent,
        }
    }

    /// Recorded for the next planning agent.
    fn hear(&mut self, answer: &NonBlank) {
        self.said.push(answer.clone());
        (self.agent, self.rubric, self.plan) = (None, None, None);
        (self.tries, self.is_declined) = (0, false);
    }
}

impl ExecuteWork {
    pub fn new(tasks: impl IntoIterator<Item = (NamedTask, String)>) -> Self {
        let subtasks = tasks.into_iter().map(|(task, description)| Subtask::begin(task, description).0);
        Self { subtasks: subtasks.collect(), ..Self::default() }
    }

    pub fn current(&self) -> Option<&Subtask> {
        self.subtasks.iter().find(|subtask| !matches!(subtask.state(), SubtaskState::Finished(_)))
    }

    fn next(&self) -> NextAction {
        let Some(current) = self.current() else { return NextAction::Ask { topic: QuestionTopic::Gate } };
        match current.state() {
            SubtaskState::AskingToRun => NextAction::Ask { topic: QuestionTopic::MayRun },
            SubtaskState::Running => NextAction::WatchFor { task: current.task.id },
            SubtaskState::AskingWhetherDone => NextAction::Ask { topic: QuestionTopic::IsDone },
            SubtaskState::Finished(_) => NextAction::Rest,
        }
    }

    /// The current subtask cannot run while these are not done, so nobody is asked about it. It is skipped; the gate
    /// says why.
    pub fn skip_blocked(&mut self, waits_on: Vec<NamedTask>) {
        let unfinished =
            self.subtasks.iter_mut().find(|subtask| !matches!(subtask.state(), SubtaskState::Finished(_)));
        if let Some(current) = unfinished {
            *current = current.passed_over(waits_on);
        }
    }

    /// The agent finished the current subtask.
    pub fn finish_run(&mut self) -> Result<(), UnexpectedSubtaskEvent> {
        self.step(SubtaskEvent::Ran)
    }

    fn apply_answer(&mut self, topic: QuestionTopic, answer: &NonBlank) -> Result<FollowUp, WorkRefusal> {
        let event = match topic {
            QuestionTopic::MayRun => SubtaskEvent::MayRun(YesNoHelp::read(answer.as_str())?),
            _ => SubtaskEvent::IsDone(YesNoFailed::read(answer.as_str())?),
        };
        let task = self.current().map(|subtask| subtask.task.id);
        self.wants_help = event == SubtaskEvent::MayRun(YesNoHelp::Help);
        self.step(event)?;
        Ok(match (task, event) {
            (Some(task), SubtaskEvent::IsDone(YesNoFailed::Yes)) => FollowUp::Accept { task },
            (Some(task), SubtaskEvent::IsDone(YesNoFailed::Failed)) => FollowUp::Fail { task },
            _ => FollowUp::Nothing,
        })
    }

    fn step(&mut self, event: SubtaskEvent) -> Result<(), UnexpectedSubtaskEvent> {
        let unfinished =
            self.subtasks.iter_mut().find(|subtask| !matches!(subtask.state(), SubtaskState::Finished(_)));
        if let Some(current) = unfinished {
            *current = current.after(event)?.0;
        }
        Ok(())
    }

    /// The human is not finished: subtasks that were skipped or left open are asked about once more.
    fn again(&mut self) {
        for subtask in &mut self.subtasks {
            match subtask.state() {
                SubtaskState::Finished(SubtaskResult::Skipped | SubtaskResult::LeftOpen) => {
                    *subtask = Subtask::begin(subtask.task.clone(), subtask.description.clone()).0;
                }
                SubtaskState::Finished(SubtaskResult::Completed | SubtaskResult::Failed)
                | SubtaskState::AskingToRun
                | SubtaskState::Running
                | SubtaskState::AskingWhetherDone => {}
            }
        }
    }

    fn results(&self) -> PhaseResults {
        let with = |result| {
            let finished = move |subtask: &&Subtask| subtask.state() == SubtaskState::Finished(result);
            self.subtasks.iter().filter(finished).map(|subtask| subtask.task.clone()).collect()
        };
        PhaseResults::Executed {
            completed: with(SubtaskResult::Completed),
            failed: with(SubtaskResult::Failed),
        }
    }
}

impl ReviewWork {
    fn next(&self) -> NextAction {
        match (self.agent, self.findings.is_empty()) {
            (Some(task), true) => NextAction::WatchFor { task },
            (None, true) if self.tries >= PHASE_TRIES_MAX => {
                NextAction::GiveUp { why: "the review agents reported no findings" }
            }
            (None, true) => NextAction::StartAgent,
            (_, false) if self.is_editing => NextAction::Ask { topic: QuestionTopic::List },
            (_, false) if self.proposal.is_some() => NextAction::Ask { topic: QuestionTopic::Discovered },
            (_, false) => NextAction::Ask { topic: QuestionTopic::Gate },
        }
    }

    fn decided(&mut self, answer: YesNoEdit) -> Result<FollowUp, WorkRefusal> {
        let proposal = self.proposal.take().ok_or(WorkRefusal::NotAsked(Phase::Review))?;
        Ok(match proposal.apply_answer(answer) {
            ProposalDecision::Approved(approved) => FollowUp::Create(approved),
            ProposalDecision::Dropped => FollowUp::Nothing,
            ProposalDecision::Editing(editing) => {
                self.proposal = Some(editing.proposal().clone());
                self.is_editing = true;
                FollowUp::Nothing
            }
        })
    }

    /// One task per line: its title and, after a colon, its description. Only blank lines adds none.
    fn list(&mut self, answer: &NonBlank) {
        self.is_editing = false;
        self.proposal = Proposal::from_lines(answer.as_str()).ok();
    }
}
