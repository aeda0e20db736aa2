//! What a person does to a loop: starts it, and breaks it off. What its agents hand in is noted here too.

use baton_agents::ended::Ended;
use baton_core::actor::Actor;
use baton_core::breakdown::{Plan, PlanFaults};
use baton_core::change::{Guard, Record};
use baton_core::command::Command;
use baton_core::discovered::Proposal;
use baton_core::exit_reason::ExitReason;
use baton_core::handoff::NamedTask;
use baton_core::id::SessionId;
use baton_core::outcome::Outcome;
use baton_core::phase::{Phase, PhaseStart};
use baton_core::phase_loop::{FreshCycle, PhaseLoop};
use baton_core::phase_work::{ExecuteWork, PhaseWork};
use baton_core::question_record::QuestionState;
use baton_core::recipe::Recipe;
use baton_core::run::{GateAnswer, Observed, Report, Run};
use baton_core::state::Queue;
use baton_core::task::Task;
use baton_core::text::{NonBlank, RecipeId, Role};
use baton_store::Store;
use baton_store::query::TaskFilter;

use super::LOOP_RECIPE;
use super::rows::{closed, handed_off, over, put};
use crate::asking::Secret;
use crate::desk::{Answer, DECISIONS_MAX, Desk};
use crate::error::EngineError;
use crate::runs::{moved, stamp, started};

/// Open subtasks an execute phase takes up from earlier plans.
const LEFT_OVER_MAX: u32 = 50;

impl<S: Store> Desk<S> {
    /// Starts the session's loop at a phase. One that is under way is not started again.
    pub async fn start_loop(&self, session: &SessionId, at: PhaseStart, actor: Actor) -> Answer<PhaseLoop> {
        let recipe = self.recipe(&loop_recipe()?)?;
        for _ in 0..DECISIONS_MAX {
            let now = self.store.now().await?;
            let stored = self.phase_loop(session).await?;
            let version = stored.as_ref().map(|stored| stored.version);
            let current = stored.map_or_else(|| PhaseLoop::new(session.clone()), |stored| stored.value);
            let handed = current.start(at, self.fresh_cycle())?;
            let mut next = handed.next.clone();
            if at == PhaseStart::Execute {
                let work = PhaseWork::Execute(ExecuteWork::of(self.left_over(session).await?));
                next = next.at_work(work, None);
            }
            let run = entered(Run::start(self.ids.run(), &recipe, session.clone(), None), &recipe, at)?;
            let mut events = vec![handed_off(&handed)];
            events.extend(started(&run, &recipe));
            let mut change = put(&next, version).put(Record::Run(Box::new(run)), Guard::New);
            stamp(&mut change, events, now, &actor);
            if self.try_write(change).await? {
                return Ok(next);
            }
        }
        Err(EngineError::Runner { detail: format!("the loop of {session} kept changing") })
    }

    /// Back to the hub, from wherever the loop is. What was done so far counts; nothing of it is lost.
    pub async fn break_off_loop(&self, session: &SessionId, actor: Actor) -> Answer<PhaseLoop> {
        self.leave_loop(session, ExitReason::user_requested(), actor).await
    }

    pub(super) async fn leave_loop(
        &self,
        session: &SessionId,
        reason: ExitReason,
        actor: Actor,
    ) -> Answer<PhaseLoop> {
        for _ in 0..DECISIONS_MAX {
            let now = self.store.now().await?;
            let missing = || EngineError::NotFound { kind: "loop", key: session.to_string() };
            let stored = self.phase_loop(session).await?.ok_or_else(missing)?;
            let so_far = stored.value.work().results();
            let handed = stored.value.break_off(so_far.as_ref())?;
            let (mut change, mut events) = over(self.run_of_loop(session).await?, reason.clone())?;
            change = put(&handed.next, Some(stored.version)).and(change);
            if let Some(pending) = stored.value.pending()
                && let Some(record) = self.question(pending.id).await?
            {
                let reason = NonBlank::new("the loop was broken off")?;
                let withdrawn = QuestionState::Withdrawn { at: now, reason };
                change = change.and(closed(&record, withdrawn, &actor, now));
            }
            events.push(handed_off(&handed));
            stamp(&mut change, events, now, &actor);
            if self.try_write(change).await? {
                self.dismiss(&stored.value, actor).await?;
                return Ok(handed.next);
            }
        }
        Err(EngineError::Runner { detail: format!("the loop of {session} kept changing") })
    }

    /// The agent of a phase that is over has nothing more to do. Subtasks stay: their work is the human's.
    async fn dismiss(&self, left: &PhaseLoop, actor: Actor) -> Answer<()> {
        let agent = match left.work() {
            PhaseWork::Plan(work) => work.agent,
            PhaseWork::Review(work) => work.agent,
            PhaseWork::Hub | PhaseWork::Execute(_) => None,
        };
        let Some(task) = agent else { return Ok(()) };
        let reason = NonBlank::new("the loop was broken off").ok();
        match self.apply(task, Command::Cancel { reason }, actor).await {
            // It is over by itself.
            Ok(_) | Err(EngineError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) fn fresh_cycle(&self) -> FreshCycle {
        FreshCycle { id: self.ids.cycle(), owner: Secret::draw(self.ids.attempt()).owner() }
    }

    /// Subtasks of earlier plans that nobody has let run yet.
    async fn left_over(&self, session: &SessionId) -> Answer<Vec<(NamedTask, String)>> {
        let filter = TaskFilter {
            queue: Some(Queue::Incoming),
            session: Some(session.clone()),
            ..TaskFilter::default()
        };
        let tasks = self.store.tasks(&filter, None, LEFT_OVER_MAX).await?.items;
        let open = tasks.into_iter().map(|stored| stored.value).filter(|task| task.ledger().is_held);
        Ok(open.map(|task| (named(&task), task.spec().description.clone())).collect())
    }

    /// What the agent of a phase handed in with its work, noted where the loop finds it.
    pub(crate) async fn hear_phase(&self, task: &Task, ended: &Ended) -> Answer<()> {
        if ended.rubric.is_none() && ended.plan.is_none() && ended.discovered.is_none() {
            return Ok(());
        }
        if !Role::of_loop().contains(&task.spec().role) {
            return Ok(());
        }
        for _ in 0..DECISIONS_MAX {
            let Some(stored) = self.phase_loop(&task.spec().session_id).await? else { return Ok(()) };
            let mut work = stored.value.work().clone();
            match &mut work {
                PhaseWork::Plan(plan) if plan.agent == Some(task.id()) => {
                    plan.rubric = ended.rubric.clone().or_else(|| plan.rubric.clone());
                    match ended.plan.clone().map(Plan::check) {
                        Some(Ok(checked)) => (plan.plan, plan.faults) = (Some(checked), String::new()),
                        Some(Err(faults)) => plan.faults = PlanFaults(faults).to_string(),
                        None => {}
                    }
                }
                PhaseWork::Review(review) if review.agent == Some(task.id()) => {
                    let found = ended.discovered.clone().unwrap_or_default();
                    review.proposal = Proposal::new(found).ok();
                }
                // The phase went on without this agent; what it brings is not wanted any more.
                PhaseWork::Hub | PhaseWork::Plan(_) | PhaseWork::Execute(_) | PhaseWork::Review(_) => {
                    return Ok(());
                }
            }
            let next = stored.value.at_work(work, stored.value.topic());
            if self.try_write(put(&next, Some(stored.version))).await? {
                return Ok(());
            }
        }
        Err(EngineError::Restless { task: task.id() })
    }
}

pub(super) fn loop_recipe() -> Answer<RecipeId> {
    LOOP_RECIPE.parse().map_err(|_| EngineError::NotFound { kind: "recipe", key: LOOP_RECIPE.to_owned() })
}

pub(super) fn named(task: &Task) -> NamedTask {
    NamedTask { id: task.id(), title: task.spec().title.clone() }
}

/// The run as it is when its loop starts at this phase.
fn entered(mut run: Run, recipe: &Recipe, at: PhaseStart) -> Answer<Run> {
    let passed: &[Phase] = match at {
        PhaseStart::Plan => &[],
        PhaseStart::Execute => &[Phase::Plan],
        PhaseStart::Review => &[Phase::Plan, Phase::Execute],
    };
    for _ in passed {
        run = passed_gate(&run, recipe, GateAnswer::Yes)?.0;
    }
    Ok(run)
}

/// The run beyond the gate of its step, and what is told of it. The outcome is the one the gate stands for: what its
/// agents brought is in the loop.
pub(super) fn passed_gate(
    run: &Run,
    recipe: &Recipe,
    answer: GateAnswer,
) -> Answer<(Run, Vec<baton_core::event::EventBody>)> {
    let gate = recipe.step(run.step()).and_then(|step| step.gate());
    let Some(gate) = gate else { return Ok((run.clone(), Vec::new())) };
    let name = match answer {
        GateAnswer::Yes => gate.yes(),
        GateAnswer::No => gate.no().unwrap_or(gate.yes()),
    };
    let outcome = Outcome { name: name.clone(), description: None };
    let (at_gate, _) = run.advance(recipe, &Report::Outcome(outcome), &Observed::default())?;
    let (beyond, advance) = at_gate.answer_gate(recipe, answer)?;
    let events = moved(&beyond, &advance, Some(name));
    Ok((beyond, events))
}
