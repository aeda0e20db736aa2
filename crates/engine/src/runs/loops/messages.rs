//! What the agent of a phase hands in with its work, noted where the loop finds it.

use baton_agents::driver::run_result::RunResult;
use baton_agents::report::{AgentReport, ParsedLine, read};
use baton_core::ask::question_record::QuestionState;
use baton_core::base::id::TaskId;
use baton_core::base::text::{NonBlank, Role};
use baton_core::base::words::pluralize;
use baton_core::phase::discovered::DiscoveredTask;
use baton_core::phase::vagueness::Rubric;
use baton_core::phase::work::PhaseWork;
use baton_core::recycle::plan::{Plan, PlanDraft, PlanErrors};
use baton_core::task::Task;
use baton_core::task::state::TaskState;

use crate::base::error::Result;
use crate::base::fenced::fenced;
use crate::runs::loops::Loops;
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

    /// For an agent that says nothing else.
    fn summary(&self) -> String {
        let count = |tasks: usize| pluralize(tasks as u64, "task");
        match (&self.plan, &self.discovered) {
            (Some(plan), _) => format!("Planned {}.", count(plan.items.len())),
            (None, Some(tasks)) => format!("Discovered {}.", count(tasks.len())),
            (None, None) => "Judged how clear the task is.".to_owned(),
        }
    }
}

impl Loops {
    /// What the loop's recipe tells the agents of the phase the task belongs to; none for a task that is no loop's.
    pub(crate) async fn phase_prompt(&self, task: &Task) -> Result<Option<NonBlank>> {
        let role = &task.spec().role;
        if !Role::loop_phases().contains(role) {
            return Ok(None);
        }
        let recipe = self.recipe_of_loop(&task.spec().session_id).await?;
        let step = recipe.steps().iter().find(|step| step.name().as_str() == role.as_str());
        Ok(step.map(|step| step.prompt().clone()))
    }

    /// The same with what an execute agent needs of the plan: the goal, and the hand-off with all subtasks.
    pub(crate) async fn phase_prompt_in_context(&self, task: &Task) -> Result<Option<NonBlank>> {
        let Some(prompt) = self.phase_prompt(task).await? else { return Ok(None) };
        let [_, execute, _] = Role::loop_phases();
        if task.spec().role != execute {
            return Ok(Some(prompt));
        }
        let mut text = prompt.to_string();
        if let Some(parent) = task.spec().planned_in
            && let Some(parent) = self.tasks.store.task(parent).await?
        {
            let spec = parent.value.spec();
            text = format!("{text}\n\nThe goal it is a part of: {} {}\n", spec.id, spec.title);
            if !spec.description.trim().is_empty() {
                text.push_str(&fenced(&spec.description));
            }
        }
        if let Some(stored) = self.phase_loop(&task.spec().session_id).await?
            && matches!(stored.value.work(), PhaseWork::Execute(_))
        {
            text = format!("{text}\n\n{}", stored.value.brief());
        }
        Ok(Some(NonBlank::or(&text, prompt)))
    }

    /// What the human answered to the agents of these tasks.
    pub(crate) async fn answered(&self, agents: &[TaskId]) -> Result<Vec<(NonBlank, NonBlank)>> {
        let mut all = Vec::new();
        for agent in agents {
            for record in self.tasks.questions_of(*agent).await? {
                if let QuestionState::Answered { answer, .. } = record.state {
                    all.push((record.question.text().clone(), answer));
                }
            }
        }
        Ok(all)
    }

    /// Takes what the agent of a phase hands in. That is its result, with or without a text.
    pub(crate) async fn hear_phase(&self, task: &Task, ended: &mut RunResult) -> Result<()> {
        if !Role::loop_phases().contains(&task.spec().role) {
            return Ok(());
        }
        let handed = HandedIn::of(ended);
        if handed.is_empty() {
            return Ok(());
        }
        if ended.reported.output.trim().is_empty() {
            ended.reported.output = handed.summary();
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
                    review.submit(found);
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

/// How the agent of a phase failed, if it did.
pub(crate) fn failure_of(task: &Task) -> Option<String> {
    match task.state() {
        TaskState::Failed { error, .. } => Some(format!("the agent failed: {error}")),
        TaskState::Cancelled { .. } => Some("the agent's task was cancelled".to_owned()),
        _ => None,
    }
}
