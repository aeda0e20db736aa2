//! The work of the plan phase: choose a task, let agents plan it, and ask the human about the plan.

use serde::{Deserialize, Serialize};

use crate::base::id::TaskId;
use crate::base::text::NonBlank;
use crate::phase::handoff::NamedTask;
use crate::phase::vagueness::Rubric;
use crate::phase::work::{NextAction, PHASE_TRIES_MAX, QuestionTopic};
use crate::recycle::plan::Plan;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredPlanWork", into = "StoredPlanWork")]
pub struct PlanWork {
    stage: PlanStage,
    /// The last plan that the human wanted to be different.
    earlier: Option<Plan>,
    vague: VagueTasks,
    /// The errors of the last submitted plan.
    faults: String,
    /// What the human said in this phase, for the next planning agent.
    said: Vec<NonBlank>,
    /// The tasks of all planning agents of this phase. What they were answered holds for the next one too.
    agents: Vec<TaskId>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum PlanStage {
    #[default]
    Choosing,
    Chosen {
        subject: NamedTask,
        step: PlanStep,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PlanStep {
    /// An agent has to be started.
    ToPlan { tries: u32, draft: PlanParts },
    /// Even with a plan: the agent may still get an answer and plan again.
    Planning { agent: TaskId, tries: u32, draft: PlanParts },
    /// The human decides about the plan.
    Planned { rubric: Rubric, plan: Plan },
    /// The gate was declined, and the human has not said yet what should change.
    Declined { rubric: Rubric, plan: Plan },
}

/// What the planning agents have submitted so far. Both parts make a plan to decide about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct PlanParts {
    rubric: Option<Rubric>,
    plan: Option<Plan>,
}

impl PlanParts {
    fn missing(&self) -> Option<&'static str> {
        match (&self.rubric, &self.plan) {
            (Some(_), Some(_)) => None,
            (None, Some(_)) => Some("the line {\"baton\":\"vagueness\",…} was missing or could not be read"),
            (Some(_), None) => Some("the line {\"baton\":\"plan\",…} was missing or could not be read"),
            (None, None) => Some("neither a vagueness line nor a plan line was handed in"),
        }
    }
}

/// What happens if the task turns out to be vague.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum VagueTasks {
    #[default]
    AskFirst,
    /// The human wants a plan however vague the task is.
    PlanAnyway,
}

impl PlanStep {
    fn begin() -> Self {
        Self::ToPlan { tries: 0, draft: PlanParts::default() }
    }

    fn after_agent(tries: u32, draft: PlanParts) -> Self {
        match draft {
            PlanParts { rubric: Some(rubric), plan: Some(plan) } => Self::Planned { rubric, plan },
            draft => Self::ToPlan { tries, draft },
        }
    }
}

impl PlanWork {
    /// The work of planning this task.
    pub fn on(subject: NamedTask) -> Self {
        let mut work = Self::default();
        work.choose(subject);
        work
    }

    pub fn choose(&mut self, subject: NamedTask) {
        self.stage = PlanStage::Chosen { subject, step: PlanStep::begin() };
    }

    /// The task being planned.
    pub fn subject(&self) -> Option<&NamedTask> {
        match &self.stage {
            PlanStage::Choosing => None,
            PlanStage::Chosen { subject, .. } => Some(subject),
        }
    }

    fn step(&self) -> Option<&PlanStep> {
        match &self.stage {
            PlanStage::Choosing => None,
            PlanStage::Chosen { step, .. } => Some(step),
        }
    }

    /// The task of the planning agent.
    pub fn agent(&self) -> Option<TaskId> {
        match self.step()? {
            PlanStep::Planning { agent, .. } => Some(*agent),
            PlanStep::ToPlan { .. } | PlanStep::Planned { .. } | PlanStep::Declined { .. } => None,
        }
    }

    pub fn rubric(&self) -> Option<&Rubric> {
        match self.step()? {
            PlanStep::ToPlan { draft, .. } | PlanStep::Planning { draft, .. } => draft.rubric.as_ref(),
            PlanStep::Planned { rubric, .. } | PlanStep::Declined { rubric, .. } => Some(rubric),
        }
    }

    pub fn plan(&self) -> Option<&Plan> {
        match self.step()? {
            PlanStep::ToPlan { draft, .. } | PlanStep::Planning { draft, .. } => draft.plan.as_ref(),
            PlanStep::Planned { plan, .. } | PlanStep::Declined { plan, .. } => Some(plan),
        }
    }

    /// The errors of the last submitted plan; empty if there are none.
    pub fn faults(&self) -> &str {
        &self.faults
    }

    /// The last plan that the human wanted to be different, for the agent that plans again.
    pub fn earlier(&self) -> Option<&Plan> {
        self.earlier.as_ref()
    }

    pub fn said(&self) -> &[NonBlank] {
        &self.said
    }

    /// The tasks of the planning agents so far.
    pub fn agents(&self) -> &[TaskId] {
        &self.agents
    }

    pub fn start_agent(&mut self, agent: TaskId) {
        self.agents.push(agent);
        if let PlanStage::Chosen { step, .. } = &mut self.stage
            && let PlanStep::ToPlan { tries, draft } = step
        {
            *step = PlanStep::Planning { agent, tries: *tries + 1, draft: std::mem::take(draft) };
        }
    }

    /// If it submitted less than both parts, another agent tries, and is told why. `failure` says how the agent failed,
    /// if it did.
    pub fn end_agent(&mut self, failure: Option<&str>) {
        if let PlanStage::Chosen { step, .. } = &mut self.stage
            && let PlanStep::Planning { tries, draft, .. } = step
        {
            let missing = draft.missing();
            if let Some(failure) = failure.filter(|_| missing.is_some()) {
                failure.clone_into(&mut self.faults);
            } else if let Some(missing) = missing.filter(|_| self.faults.is_empty()) {
                missing.clone_into(&mut self.faults);
            }
            *step = PlanStep::after_agent(*tries, std::mem::take(draft));
        }
    }

    /// Records what the running agent submitted: a rubric, and a plan or what is wrong with it.
    pub fn submit(&mut self, rubric: Option<Rubric>, plan: Option<Result<Plan, String>>) {
        let PlanStage::Chosen { step: PlanStep::Planning { draft, .. }, .. } = &mut self.stage else {
            return;
        };
        if rubric.is_some() {
            draft.rubric = rubric;
        }
        match plan {
            Some(Ok(plan)) => (draft.plan, self.faults) = (Some(plan), String::new()),
            Some(Err(faults)) => self.faults = faults,
            None => {}
        }
    }

    pub(super) fn next(&self) -> NextAction {
        let Some(step) = self.step() else { return NextAction::Choose };
        match step {
            PlanStep::ToPlan { tries, .. } if *tries >= PHASE_TRIES_MAX => {
                let why = match self.faults.trim() {
                    "" => String::new(),
                    faults => format!(": {faults}"),
                };
                NextAction::GiveUp { why: format!("the planning agents submitted no rubric or no plan{why}") }
            }
            PlanStep::ToPlan { .. } => NextAction::StartAgent,
            PlanStep::Planning { agent, .. } => NextAction::WatchFor { task: *agent },
            PlanStep::Planned { rubric, .. } => {
                let must_clarify = rubric.assess().must_clarify && self.vague == VagueTasks::AskFirst;
                let topic = if must_clarify { QuestionTopic::Vagueness } else { QuestionTopic::Gate };
                NextAction::Ask { topic }
            }
            PlanStep::Declined { .. } => NextAction::Ask { topic: QuestionTopic::Revision },
        }
    }

    pub(super) fn add_remark(&mut self, text: &NonBlank) {
        self.said.push(text.clone());
    }

    pub(super) fn decline(&mut self) {
        if let PlanStage::Chosen { step, .. } = &mut self.stage
            && let PlanStep::Planned { rubric, plan } = step
        {
            *step = PlanStep::Declined { rubric: rubric.clone(), plan: plan.clone() };
        }
    }

    /// Back to the question whether to take the plan.
    pub(super) fn take_back_decline(&mut self) {
        if let PlanStage::Chosen { step, .. } = &mut self.stage
            && let PlanStep::Declined { rubric, plan } = step
        {
            *step = PlanStep::Planned { rubric: rubric.clone(), plan: plan.clone() };
        }
    }

    pub(super) fn plan_anyway(&mut self) {
        self.vague = VagueTasks::PlanAnyway;
    }

    /// Recorded for the next planning agent, which starts over.
    pub fn plan_again(&mut self, answer: &NonBlank) {
        self.add_remark(answer);
        self.earlier = self.plan().cloned().or_else(|| self.earlier.take());
        if let PlanStage::Chosen { step, .. } = &mut self.stage {
            *step = PlanStep::begin();
        }
    }
}

/// The stored form: every field of every step beside each other.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredPlanWork {
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<NamedTask>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<TaskId>,
    tries: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    rubric: Option<Rubric>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Plan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    earlier: Option<Plan>,
    #[serde(skip_serializing_if = "String::is_empty")]
    faults: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    said: Vec<NonBlank>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agents: Vec<TaskId>,
    may_be_vague: bool,
    is_declined: bool,
}

impl From<StoredPlanWork> for PlanWork {
    fn from(stored: StoredPlanWork) -> Self {
        let StoredPlanWork { subject, agent, tries, rubric, plan, earlier, faults, said, agents, .. } =
            stored;
        let draft = PlanParts { rubric, plan };
        let step = match (agent, draft) {
            (Some(agent), draft) => PlanStep::Planning { agent, tries, draft },
            (None, PlanParts { rubric: Some(rubric), plan: Some(plan) }) if stored.is_declined => {
                PlanStep::Declined { rubric, plan }
            }
            (None, draft) => PlanStep::after_agent(tries, draft),
        };
        let stage = subject.map_or(PlanStage::Choosing, |subject| PlanStage::Chosen { subject, step });
        let vague = if stored.may_be_vague { VagueTasks::PlanAnyway } else { VagueTasks::AskFirst };
        Self { stage, earlier, vague, faults, said, agents }
    }
}

impl From<PlanWork> for StoredPlanWork {
    fn from(work: PlanWork) -> Self {
        let PlanWork { stage, earlier, vague, faults, said, agents } = work;
        let may_be_vague = vague == VagueTasks::PlanAnyway;
        let stored = Self { earlier, faults, said, agents, may_be_vague, ..Self::default() };
        let PlanStage::Chosen { subject, step } = stage else { return stored };
        let stored = Self { subject: Some(subject), ..stored };
        match step {
            PlanStep::ToPlan { tries, draft } => {
                Self { tries, rubric: draft.rubric, plan: draft.plan, ..stored }
            }
            PlanStep::Planning { agent, tries, draft } => {
                Self { agent: Some(agent), tries, rubric: draft.rubric, plan: draft.plan, ..stored }
            }
            PlanStep::Planned { rubric, plan } => Self { rubric: Some(rubric), plan: Some(plan), ..stored },
            PlanStep::Declined { rubric, plan } => {
                Self { rubric: Some(rubric), plan: Some(plan), is_declined: true, ..stored }
            }
        }
    }
}
