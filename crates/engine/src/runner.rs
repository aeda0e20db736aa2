//! The runner: one claimed task, from its worktree to the settled attempt.
//!
//! Work is driven through its recipe by the [`Executor`]; a breakdown has one prompt and one deliverable, a plan.
//! What goes wrong on Baton's side (no worktree, no agent set up) is not the task's fault and is settled as a
//! failure of the system.

use baton_agents::ended::{Ended, How};
use baton_core::actor::Actor;
use baton_core::attempt::{AttemptEnd, AttemptResult, ErrorCause, Evidence, Reported};
use baton_core::change::Change;
use baton_core::command::Command;
use baton_core::effect::{Effect, Timer};
use baton_core::event::{Event, EventBody};
use baton_core::id::AttemptId;
use baton_core::refusal::Refusal;
use baton_core::task::{Purpose, Task};
use baton_core::text::{AgentName, NonBlank};
use baton_core::time::Timestamp;
use baton_store::Store;
use baton_store::claim::Claimed;
use tokio::sync::watch;

use crate::error::EngineError;
use crate::executor::shift::Shift;
use crate::executor::{Executed, Executor, Spent, measure};
use crate::prompt::BreakdownPrompt;
use crate::running::Place as Seat;
use crate::workshop::Workshop;
use crate::worktree::{Checkout, CheckoutSpec, Setup, Worktrees};

pub use crate::executor::shift::{LOG_FILE, PROCESS_FILE};

pub struct Runner<S> {
    shop: Workshop<S>,
}

impl<S: Store> Runner<S> {
    pub fn new(shop: Workshop<S>) -> Self {
        Self { shop }
    }

    /// Runs the attempt to its end and settles it. Only the store can make this fail.
    pub async fn run(&self, claimed: Claimed, seat: Seat) -> Result<(), EngineError> {
        let task = claimed.task.value;
        let attempt = claimed.lease.attempt;
        let executed = match self.attempt(&task, attempt, seat.stop_signal()).await {
            Ok(executed) => executed,
            Err(error) => self.settle(&task, attempt, systemic(&error)).await?,
        };
        match executed {
            Executed::Settled(result) => self.note_intake(&task, &result).await,
            // Cancelled, or Baton is going down. Nobody's fault either way.
            Executed::Stopped => {
                let expire = Command::ExpireLease { attempt };
                match self.shop.desk.apply(task.id(), expire, Actor::Baton).await {
                    Ok(_) | Err(EngineError::Refused(Refusal::Stale { .. })) => Ok(()),
                    Err(error) => Err(error),
                }
            }
            Executed::Stale => Ok(()),
        }
    }

    async fn settle(
        &self,
        task: &Task,
        attempt: AttemptId,
        end: AttemptEnd,
    ) -> Result<Executed, EngineError> {
        let result = end.reported.result.clone();
        match self.shop.desk.apply(task.id(), Command::Settle { attempt, end }, Actor::Baton).await {
            Ok(_) => Ok(Executed::Settled(result)),
            // The task moved on without this attempt; its work is kept and its result discarded (I16).
            Err(EngineError::Refused(Refusal::Stale { .. })) => Ok(Executed::Stale),
            Err(error) => Err(error),
        }
    }

    /// How the agent fared decides whether it takes more work.
    async fn note_intake(&self, task: &Task, result: &AttemptResult) -> Result<(), EngineError> {
        let Some(live) = task.state().live_attempt() else { return Ok(()) };
        match result {
            AttemptResult::Error { cause: ErrorCause::Systemic, message } => {
                let now = self.shop.desk.store.now().await?;
                if let Some(until) = self.shop.intakes.systemic_failure(&live.agent, now) {
                    self.shop.desk.write(rests(&live.agent, now, until, message)).await?;
                    (self.shop.say)(&format!("agent {} rests until {until}: {message}", live.agent));
                }
            }
            AttemptResult::Complete
            | AttemptResult::Incomplete
            | AttemptResult::NoEvidence
            | AttemptResult::NoChanges { .. }
            | AttemptResult::Asked { .. }
            | AttemptResult::Blocked { .. }
            | AttemptResult::Error { cause: ErrorCause::Own, .. }
            | AttemptResult::TurnLimit => self.shop.intakes.success(&live.agent),
        }
        Ok(())
    }

    async fn attempt(
        &self,
        task: &Task,
        attempt: AttemptId,
        stop: watch::Receiver<bool>,
    ) -> Result<Executed, EngineError> {
        let (worktrees, branch) = self.shop.repository(task).await?;
        let place = self.shop.stand(task, &worktrees, branch).await?;
        let resumes = self.resumes(task, &worktrees).await?;
        let copy = self.shop.settings.copy.iter().map(Into::into).collect();
        let spec = CheckoutSpec { attempt, place, resumes, setup: Setup { copy, submodules: false } };
        let checkout = worktrees.create(&spec).await?;
        match task.spec().purpose {
            Purpose::Work | Purpose::Run => {
                let is_resumed = spec.resumes.is_some();
                let (worktrees, checkout, shop) = (&worktrees, &checkout, &self.shop);
                Executor { shop, task, attempt, worktrees, checkout, is_resumed, stop }.run().await
            }
            Purpose::Breakdown { .. } => self.breakdown(task, attempt, &worktrees, &checkout, stop).await,
        }
    }

    /// The attempt to go on from: the nearest before this one that got as far as a worktree. One that was lost
    /// before that has nothing to go on from, but the one it went on from itself has.
    async fn resumes(&self, task: &Task, worktrees: &Worktrees) -> Result<Option<AttemptId>, EngineError> {
        let mut earlier = task.state().live_attempt().and_then(|live| live.resumes);
        while let Some(attempt) = earlier {
            if worktrees.has_started(attempt).await? {
                return Ok(Some(attempt));
            }
            earlier = self.shop.desk.store.attempt(attempt).await?.and_then(|record| record.attempt.resumes);
        }
        Ok(None)
    }

    async fn breakdown(
        &self,
        task: &Task,
        attempt: AttemptId,
        worktrees: &Worktrees,
        checkout: &Checkout,
        stop: watch::Receiver<bool>,
    ) -> Result<Executed, EngineError> {
        let mut spent = Spent::nothing();
        let shift = Shift {
            shop: &self.shop,
            task,
            attempt,
            worktree: &checkout.folder,
            role: &task.spec().role,
            name: "breakdown".to_owned(),
            prompt: BreakdownPrompt { shop: &self.shop, task }.text(worktrees, checkout).await?,
            variables: Vec::new(),
        };
        let worked = shift.work(stop).await?;
        spent.add(&worked);
        if worked.ended.how == How::Cancelled {
            return Ok(Executed::Stopped);
        }
        let verified = measure(&self.shop, worktrees, checkout, &spent).await?;
        let reported = self.planned(task, attempt, worked.ended).await?;
        self.settle(task, attempt, AttemptEnd { reported, verified }).await
    }

    async fn planned(&self, task: &Task, attempt: AttemptId, ended: Ended) -> Result<Reported, EngineError> {
        let Ended { mut reported, plan, .. } = ended;
        reported.plan_submitted = false;
        if let Some(draft) = plan {
            match self.shop.desk.submit_plan(task.id(), draft, Actor::Agent { attempt }).await {
                Ok(_) => reported.plan_submitted = true,
                // The next attempt reads what was wrong with it.
                Err(EngineError::Plan(faults)) => {
                    reported.output = format!("{}\n\nThe plan could not be used:\n{faults}", reported.output);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(reported)
    }
}

/// The agent takes no more work until then; a timer brings it back.
fn rests(agent: &AgentName, now: Timestamp, until: Timestamp, message: &str) -> Change {
    let agent = agent.clone();
    let mut change = Change::new();
    if let Ok(reason) = NonBlank::new(message) {
        let body = EventBody::IntakePaused { agent: agent.clone(), until, reason };
        change.events.push(Event { at: now, by: Actor::Baton, body });
    }
    change.effects.push(Effect::ScheduleTimer { timer: Timer::IntakeResumes(agent), at: until });
    change
}

fn systemic(error: &EngineError) -> AttemptEnd {
    let message = format!("{error}\n{}", error.hint());
    let result = AttemptResult::Error { cause: ErrorCause::Systemic, message: message.clone() };
    AttemptEnd { reported: Reported::new(result, message), verified: Evidence::default() }
}
