//! What the agent of a phase hands in with its work, noted where the loop finds it.

use baton_agents::driver::run_result::RunResult;
use baton_agents::report::{AgentReport, ParsedLine, read};
use baton_core::base::text::{NonBlank, Role};
use baton_core::phase::discovered::{DiscoveredTask, Proposal};
use baton_core::phase::vagueness::Rubric;
use baton_core::phase::work::PhaseWork;
use baton_core::recycle::plan::{Plan, PlanDraft, PlanErrors};
use baton_core::task::Task;

use crate::base::error::Result;
use crate::runs::loops::Loops;
use crate::runs::loops::commands::loop_recipe;
use crate::runs::loops::rows::put;

/// As an agent hands it in: by lines of its output or, where it is only talked with, by lines of its message.
struct HandedIn {
    rubric: Option<Rubric>,
    plan: Option<PlanDraft>,
    discovered: Option<Vec<DiscoveredTask>>,
}

impl HandedIn {
    fn of(ended: &RunResult) -> Self {
        let mut handed = Self { rubric: None, plan: None, discovered: None };
        for line in ended.reported.output.lines() {
            match read(line) {
                ParsedLine::Report(AgentReport::Vagueness(rubric)) => handed.rubric = Some(*rubric),
                ParsedLine::Report(AgentReport::Plan(plan)) => handed.plan = Some(plan),
                ParsedLine::Report(AgentReport::Discovered(tasks)) => handed.discovered = Some(tasks),
                // Anything else a message says is not meant for the loop.
                ParsedLine::Report(_) | ParsedLine::Text | ParsedLine::Unreadable(_) => {}
            }
        }
        Self {
            rubric: ended.rubric.clone().or(handed.rubric),
            plan: ended.plan.clone().or(handed.plan),
            discovered: ended.discovered.clone().or(handed.discovered),
        }
    }

    fn is_empty(&self) -> bool {
        self.rubric.is_none() && self.plan.is_none() && self.discovered.is_none()
    }
}

impl Loops {
    /// What the loop's recipe tells the agents of the phase the task belongs to; none for a task that is no loop's.
    pub(crate) fn phase_prompt(&self, task: &Task) -> Result<Option<NonBlank>> {
        let role = &task.spec().role;
        if !Role::loop_phases().contains(role) {
            return Ok(None);
        }
        let recipe = self.tasks.recipes.find(&loop_recipe()?)?;
        let step = recipe.steps().iter().find(|step| step.name().as_str() == role.as_str());
        Ok(step.map(|step| step.prompt().clone()))
    }

    pub(crate) async fn hear_phase(&self, task: &Task, ended: &RunResult) -> Result<()> {
        if !Role::loop_phases().contains(&task.spec().role) {
            return Ok(());
        }
        let handed = HandedIn::of(ended);
        if handed.is_empty() {
            return Ok(());
        }
        let mut decision = self.tasks.decision(task.id());
        loop {
            let Some(stored) = self.phase_loop(&task.spec().session_id).await? else { return Ok(()) };
            let mut work = stored.value.work().clone();
            match &mut work {
                PhaseWork::Plan(plan) if plan.agent() == Some(task.id()) => {
                    let checked = handed.plan.clone().map(Plan::check);
                    let checked =
                        checked.map(|checked| checked.map_err(|faults| PlanErrors(faults).to_string()));
                    plan.submit(handed.rubric.clone(), checked);
                }
                PhaseWork::Review(review) if review.agent() == Some(task.id()) => {
                    let found = handed.discovered.clone().unwrap_or_default();
                    review.submit(Proposal::new(found).ok());
                }
                // The phase went on without this agent; what it brings is not wanted any more.
                PhaseWork::Hub | PhaseWork::Plan(_) | PhaseWork::Execute(_) | PhaseWork::Review(_) => {
                    return Ok(());
                }
            }
            let next = stored.value.at_work(work, stored.value.topic());
            if decision.commit(put(&next, Some(stored.version))).await? {
                return Ok(());
            }
        }
    }
}
