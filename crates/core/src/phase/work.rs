//! What a phase of the loop is at: kept with the loop in one row, so that whoever goes on after a crash knows.
//!
//! It says what comes next and takes the human's answers; it asks nobody, starts nobody and creates nothing. It is
//! made anew with every phase, so nothing that was said in one reaches the next.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ask::choice::{Unreadable, YesNoEdit, YesNoFailed, YesNoHelp};
use crate::base::explanation::Explanation;
use crate::base::id::TaskId;
use crate::base::text::NonBlank;
use crate::explained;
use crate::people::actor::Actor;
use crate::phase::Phase;
use crate::phase::discovered::{Approved, Proposal, Verdict};
use crate::phase::handoff::{NamedTask, Results};
use crate::phase::subtask::{OutOfTurn, Subtask, SubtaskEvent, SubtaskResult, SubtaskState};
use crate::phase::vagueness::Rubric;
use crate::recycle::plan::Plan;

/// Agents set on one phase without a usable result, before the loop goes back to the human.
pub const PHASE_TRIES_MAX: u32 = 3;

/// What the pending question of the loop is about, and so what its answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    Gate,
    /// The task is too vague to be planned.
    Vagueness,
    /// The plan was declined; what should be different?
    Revision,
    MayRun,
    IsDone,
    Discovered,
    /// The human writes the list of discovered tasks.
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
    /// The task that is planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<NamedTask>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<TaskId>,
    pub tries: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rubric: Option<Rubric>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// What was wrong with the plan that was handed in last.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub faults: String,
    /// What the human said in this phase, for the agent that plans again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<NonBlank>,
    /// The human wants a plan however vague the task is.
    pub may_be_vague: bool,
    /// The gate was declined and nobody has asked yet what should be different.
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
    /// What the human said of their own accord before an agent was at work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<NonBlank>,
    pub is_editing: bool,
    pub discovered: u32,
    pub duplicates_skipped: u32,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Find the task to plan.
    Choose,
    /// Set an agent on the phase.
    StartAgent,
    /// See how far the task has come; nothing else can happen before it has ended.
    WatchFor {
        task: TaskId,
    },
    Ask {
        topic: Topic,
    },
    /// The phase cannot go on; the loop goes back to the hub.
    GiveUp {
        why: &'static str,
    },
    /// Nothing is to be done here.
    Rest,
}

/// What an answer asks for beside the new state.
#[derive(Debug, PartialEq, Eq)]
pub enum Wanted {
    Nothing,
    /// I9: these were approved.
    Create(Approved),
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
    Unreadable(#[from] Unreadable),
    #[error(transparent)]
    OutOfTurn(#[from] OutOfTurn),
    #[error("nothing of that kind was asked in the {0} phase")]
    NotAsked(Phase),
}

explained! { WorkRefusal {
    Self::OutOfTurn(_) => Explanation {
        code: "out_of_turn",
        means: "The answer does not fit where the subtask stands: whether it may run is asked before, whether it is done \
                after it ran.",
        cause: "Something moved on between the question and the answer.",
        next: "See what is asked now: `baton questions`.",
    },
    Self::NotAsked(_) => Explanation {
        code: "not_asked",
        means: "Nothing of that kind was asked in this phase of the loop.",
        cause: "The answer is for a question of another phase.",
        next: "See what is asked now: `baton questions`.",
    },
} else {
    Self::Unreadable(unreadable) => unreadable.explained(),
} }

/// The word that skips the clarification.
pub const SKIP: &str = "SKIP";

impl PhaseWork {
    /// What the receiving phase begins with.
    pub fn begin(phase: Phase, results: &Results) -> Self {
        match phase {
            Phase::Hub => Self::Hub,
            Phase::Plan => Self::Plan(PlanWork::default()),
            Phase::Execute => {
                let subtasks = match results {
                    Results::Planned { subtasks } => subtasks.clone(),
                    Results::Started
                    | Results::Executed { .. }
                    | Results::Reviewed { .. }
                    | Results::Ended { .. } => Vec::new(),
                };
                Self::Execute(ExecuteWork::of(subtasks.into_iter().map(|task| (task, String::new()))))
            }
            Phase::Review => Self::Review(ReviewWork::default()),
        }
    }

    pub fn next(&self) -> Next {
        match self {
            Self::Hub => Next::Rest,
            Self::Plan(work) => work.next(),
            Self::Execute(work) => work.next(),
            Self::Review(work) => work.next(),
        }
    }

    /// What the phase has come to. The tasks of a plan are not there yet; whoever creates them says so.
    pub fn results(&self) -> Option<Results> {
        match self {
            Self::Hub => None,
            Self::Plan(_) => Some(Results::Planned { subtasks: Vec::new() }),
            Self::Execute(work) => Some(work.results()),
            Self::Review(work) => Some(Results::Reviewed {
                discovered: work.discovered,
                duplicates_skipped: work.duplicates_skipped,
            }),
        }
    }

    /// The task whose agent is at work for the phase, as far as the phase knows.
    pub fn at_work(&self) -> Option<TaskId> {
        match self {
            Self::Hub => None,
            Self::Plan(work) => work.agent,
            Self::Execute(work) => work.current().map(|subtask| subtask.task.id),
            Self::Review(work) => work.agent,
        }
    }

    /// The human says something while nobody is at work. False where nobody will be who could hear it.
    pub fn heard(&mut self, text: &NonBlank) -> bool {
        match self {
            Self::Plan(work) => work.said.push(text.clone()),
            Self::Review(work) if work.findings.is_empty() => work.said.push(text.clone()),
            Self::Hub | Self::Execute(_) | Self::Review(_) => return false,
        }
        true
    }

    /// Takes the answer to a question about `topic`. A gate's answer only comes here when it stays in the phase.
    pub fn answered(&mut self, topic: Topic, answer: &NonBlank) -> Result<Wanted, WorkRefusal> {
        match (self, topic) {
            (Self::Plan(work), Topic::Gate) => work.is_declined = true,
            (Self::Plan(work), Topic::Vagueness) if answer.as_str() == SKIP => work.may_be_vague = true,
            (Self::Plan(work), Topic::Vagueness | Topic::Revision) => work.hear(answer),
            (Self::Execute(work), Topic::Gate) => work.again(),
            (Self::Execute(work), Topic::MayRun | Topic::IsDone) => return work.answered(topic, answer),
            (Self::Review(work), Topic::Discovered) => {
                return work.decided(YesNoEdit::read(answer.as_str())?);
            }
            (Self::Review(work), Topic::List) => work.list(answer),
            (work, _) => return Err(WorkRefusal::NotAsked(work.phase())),
        }
        Ok(Wanted::Nothing)
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
    fn next(&self) -> Next {
        if self.subject.is_none() {
            return Next::Choose;
        }
        if self.is_declined {
            return Next::Ask { topic: Topic::Revision };
        }
        match (self.agent, &self.rubric, &self.plan) {
            // Even with a plan in hand: it may still hear something from the human and plan anew.
            (Some(task), _, _) => Next::WatchFor { task },
            (None, Some(rubric), Some(_)) => {
                let is_vague = rubric.assess().must_clarify && !self.may_be_vague;
                Next::Ask { topic: if is_vague { Topic::Vagueness } else { Topic::Gate } }
            }
            (None, _, _) if self.tries >= PHASE_TRIES_MAX => {
                Next::GiveUp { why: "the agents that were to plan handed in no rubric or no plan" }
            }
            (None, _, _) => Next::StartAgent,
        }
    }

    /// Said in this phase: a new agent plans with it.
    fn hear(&mut self, answer: &NonBlank) {
        self.said.push(answer.clone());
        (self.agent, self.rubric, self.plan) = (None, None, None);
        (self.tries, self.is_declined) = (0, false);
    }
}

impl ExecuteWork {
    pub fn of(tasks: impl IntoIterator<Item = (NamedTask, String)>) -> Self {
        let subtasks = tasks.into_iter().map(|(task, description)| Subtask::begin(task, description).0);
        Self { subtasks: subtasks.collect(), ..Self::default() }
    }

    pub fn current(&self) -> Option<&Subtask> {
        self.subtasks.iter().find(|subtask| !matches!(subtask.state(), SubtaskState::Finished(_)))
    }

    fn next(&self) -> Next {
        let Some(current) = self.current() else { return Next::Ask { topic: Topic::Gate } };
        match current.state() {
            SubtaskState::AskingToRun => Next::Ask { topic: Topic::MayRun },
            SubtaskState::Running => Next::WatchFor { task: current.task.id },
            SubtaskState::AskingWhetherDone => Next::Ask { topic: Topic::IsDone },
            SubtaskState::Finished(_) => Next::Rest,
        }
    }

    /// The current subtask cannot run while these are not done, so nobody is asked about it. It is skipped; the gate
    /// says why.
    pub fn pass_over(&mut self, waits_on: Vec<NamedTask>) {
        let unfinished =
            self.subtasks.iter_mut().find(|subtask| !matches!(subtask.state(), SubtaskState::Finished(_)));
        if let Some(current) = unfinished {
            *current = current.passed_over(waits_on);
        }
    }

    /// The agent is through with the current subtask.
    pub fn ran(&mut self) -> Result<(), OutOfTurn> {
        self.step(SubtaskEvent::Ran)
    }

    fn answered(&mut self, topic: Topic, answer: &NonBlank) -> Result<Wanted, WorkRefusal> {
        let event = match topic {
            Topic::MayRun => SubtaskEvent::MayRun(YesNoHelp::read(answer.as_str())?),
            _ => SubtaskEvent::IsDone(YesNoFailed::read(answer.as_str())?),
        };
        let task = self.current().map(|subtask| subtask.task.id);
        self.wants_help = event == SubtaskEvent::MayRun(YesNoHelp::Help);
        self.step(event)?;
        Ok(match (task, event) {
            (Some(task), SubtaskEvent::IsDone(YesNoFailed::Yes)) => Wanted::Accept { task },
            (Some(task), SubtaskEvent::IsDone(YesNoFailed::Failed)) => Wanted::Fail { task },
            _ => Wanted::Nothing,
        })
    }

    fn step(&mut self, event: SubtaskEvent) -> Result<(), OutOfTurn> {
        let unfinished =
            self.subtasks.iter_mut().find(|subtask| !matches!(subtask.state(), SubtaskState::Finished(_)));
        if let Some(current) = unfinished {
            *current = current.after(event)?.0;
        }
        Ok(())
    }

    /// The human is not through yet: what was skipped or left open is asked about once more.
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

    fn results(&self) -> Results {
        let with = |result| {
            let finished = move |subtask: &&Subtask| subtask.state() == SubtaskState::Finished(result);
            self.subtasks.iter().filter(finished).map(|subtask| subtask.task.clone()).collect()
        };
        Results::Executed { completed: with(SubtaskResult::Completed), failed: with(SubtaskResult::Failed) }
    }
}

impl ReviewWork {
    fn next(&self) -> Next {
        match (self.agent, self.findings.is_empty()) {
            (Some(task), true) => Next::WatchFor { task },
            (None, true) if self.tries >= PHASE_TRIES_MAX => {
                Next::GiveUp { why: "the agents that were to review found nothing to say" }
            }
            (None, true) => Next::StartAgent,
            (_, false) if self.is_editing => Next::Ask { topic: Topic::List },
            (_, false) if self.proposal.is_some() => Next::Ask { topic: Topic::Discovered },
            (_, false) => Next::Ask { topic: Topic::Gate },
        }
    }

    fn decided(&mut self, answer: YesNoEdit) -> Result<Wanted, WorkRefusal> {
        let proposal = self.proposal.take().ok_or(WorkRefusal::NotAsked(Phase::Review))?;
        Ok(match proposal.answered(answer) {
            Verdict::Approved(approved) => Wanted::Create(approved),
            Verdict::Dropped => Wanted::Nothing,
            Verdict::Editing(editing) => {
                self.proposal = Some(editing.proposal().clone());
                self.is_editing = true;
                Wanted::Nothing
            }
        })
    }

    /// One task on each line: its title, and behind a colon what it is about. Nothing but blank lines adds none.
    fn list(&mut self, answer: &NonBlank) {
        self.is_editing = false;
        self.proposal = Proposal::from_lines(answer.as_str()).ok();
    }
}
