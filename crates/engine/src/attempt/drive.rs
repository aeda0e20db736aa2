//! Drives one run: passes events on, and ends the run when a budget is used up or nothing moves any more.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs;
use std::path::Path;

use baton_agents::driver::run_result::{EndReason, RunResult};
use baton_agents::driver::{AgentEvent, Driver, EVENTS_MAX, Launch};
use baton_agents::process::identity::ProcessIdentity;
use baton_agents::report::tool_call::{EndedCall, ToolOutcome};
use baton_core::limits::budget::{BudgetMeasure, BudgetReached, BudgetScope};
use baton_core::limits::stall::{ObservedCall, Stall, StallWatch};
use baton_core::people::actor::Actor;
use baton_core::task::attempt::{AgentSession, AttemptResult, ErrorCause, SessionUse};
use baton_core::transition::command::Command;
use tokio::sync::{mpsc, watch};
use tracing::Instrument;

use crate::attempt::agent_run::{AgentRun, PROCESS_FILE};
use crate::attempt::agent_trace::AgentTrace;
use crate::attempt::assignment::Assignment;
use crate::attempt::memory_quota::MemoryQuota;
use crate::attempt::progress::Progress;
use crate::attempt::run_usage::RunUsage;
use crate::attempt::size_quota::SizeQuota;
use crate::attempt::steering::Steering;
use crate::base::error::EngineError;
use crate::limits::budgets::day_is_over;
use crate::limits::room::Room;

/// What is kept an eye on while the agent works.
pub(crate) struct Watched<'a> {
    pub room: &'a Room,
    pub steering: &'a Steering<'a>,
    pub trace: &'a mut AgentTrace,
}

/// Why Baton may have ended a run before its agent did.
struct StopReasons {
    /// Its processes used up their memory.
    starving: Option<BudgetReached>,
    /// A budget or a quota is used up.
    reached: Option<BudgetReached>,
    stalled: Option<Stall>,
}

impl AgentRun<'_> {
    /// Runs the agent. Its process and its session are recorded before anything else happens.
    pub(crate) async fn drive(
        &self,
        driver: &dyn Driver,
        launch: Launch,
        who: &Assignment<'_>,
        watched: Watched<'_>,
        stop: watch::Receiver<bool>,
    ) -> Result<RunResult, EngineError> {
        let Watched { room, steering, trace } = watched;
        let process_file = self.context.place.attempt_folder(self.attempt).join(PROCESS_FILE);
        let (sender, mut events) = mpsc::channel(EVENTS_MAX);
        let (quit, quitting) = watch::channel(*stop.borrow());
        let resumed = launch.session.resume.as_ref().map(|resume| resume.agent_session.clone());
        let mut usage = RunUsage::new(self.session_use(who, &launch).await?);
        let idle_turns = self.idle_turns(room);
        let mut progress = Progress::begin(self.worktrees, self.checkout, idle_turns).await;
        let allowed = &self.context.settings.worktree;
        let disk = SizeQuota::of_worktree(self.checkout.folder.clone(), allowed.max_mb);
        let log = SizeQuota::of_log(launch.printed.clone(), allowed.max_log_mb);
        let memory = MemoryQuota::new(self.context, self.attempt, launch.limits.memory_bytes_max);
        let mut stall = StallWatch::new(self.context.settings.progress.stall_limits());
        let (mut noted, mut reached, mut stalled) = (None, None, None);
        let span = trace.span().clone();
        let (calls, open_calls) = watch::channel(BTreeSet::new());
        let listening = async {
            let mut heard = Ok(());
            while let Some(event) = events.recv().await {
                trace.note(&event);
                note_call(&calls, &event);
                if is_sign_of_work(&event) {
                    steering.note_prompt().await;
                }
                if usage.note(&event) && room.is_limited() && reached.is_none() && heard.is_ok() {
                    match self.context.limits.reached(room, self.attempt, usage.amount()).await {
                        Ok(used_up) => reached = used_up.filter(is_over_now),
                        Err(error) => heard = Err(error),
                    }
                }
                match event {
                    AgentEvent::Started(identity) => record_process(&process_file, &identity),
                    AgentEvent::Turn(turn) => {
                        self.context.running.note_turn(self.attempt, turn);
                        if reached.is_none() && progress.is_missing(turn).await {
                            let (scope, measure) = (BudgetScope::Task, BudgetMeasure::Progress);
                            let allowed = idle_turns.unwrap_or(turn).into();
                            reached = Some(BudgetReached { scope, measure, used: turn.into(), allowed });
                        }
                    }
                    AgentEvent::ToolEnded(ended) if stalled.is_none() && reached.is_none() => {
                        stalled = stall.note(observed(ended));
                    }
                    AgentEvent::MessagesDelivered(count) => steering.note_delivered(count).await,
                    AgentEvent::Session(id) if heard.is_ok() => {
                        if resumed.as_ref() != Some(&id) {
                            usage.begin_session();
                        }
                        heard = self.note_session(who, &id, false, usage.before()).await;
                        noted = Some(id);
                    }
                    _ => {}
                }
                if reached.is_some() || stalled.is_some() {
                    let _ = quit.send(true);
                }
            }
            heard
        };
        let stopping = pass_on(stop.clone(), &quit);
        let ending = end_at_boundary(self.context.running.turn_ends(self.attempt), open_calls, &quit);
        let running = async {
            tokio::select! {
                ended = driver.run(launch, sender, quitting) => ended,
                never = stopping => match never {},
                never = steering.feed() => match never {},
                never = ending => match never {},
                never = disk.watch(&self.context.tasks, self.task.id(), &quit) => match never {},
                never = log.watch(&self.context.tasks, self.task.id(), &quit) => match never {},
                never = memory.watch(&quit) => match never {},
            }
        };
        let (mut ended, heard) = tokio::join!(running.instrument(span), listening);
        if ended.reason != EndReason::FailedToStart {
            steering.note_prompt().await;
            steering.note_delivered(ended.messages_delivered).await;
        }
        // Nothing of it runs any more, so nobody has to look for it after a crash.
        let _ = fs::remove_file(&process_file);
        heard?;
        let starving = memory.found();
        reached = reached.or(disk.found()?).or(log.found()?);
        let in_all = usage.finish(&mut ended);
        let account = who.account.as_ref().unwrap_or(who.name);
        self.context.limits.charge_account(account, usage.amount()).await?;
        self.context.limits.live.end_run(self.attempt, usage.of_run(&ended));
        let is_new = |id: &&String| in_all.is_some() || noted.as_ref() != Some(*id);
        if let Some(id) = ended.agent_session.as_ref().filter(is_new) {
            self.note_session(who, id, false, in_all.unwrap_or(usage.before())).await?;
        }
        if matches!(ended.reason, EndReason::TurnLimit | EndReason::TimedOut) {
            reached = self.context.limits.reached(room, self.attempt, usage.amount()).await?;
        }
        let found = StopReasons { starving, reached, stalled };
        let is_stopped = *stop.borrow();
        self.settle_stop(found, is_stopped, &mut ended).await?;
        Ok(ended)
    }

    /// Makes the reason for which Baton ended the run a question.
    async fn settle_stop(
        &self,
        found: StopReasons,
        is_stopped: bool,
        ended: &mut RunResult,
    ) -> Result<(), EngineError> {
        // An agent that finished first has finished, whatever it used.
        let is_ended_by_baton = matches!(
            ended.reason,
            EndReason::Cancelled | EndReason::TurnLimit | EndReason::TimedOut | EndReason::Idle
        );
        let counts = is_ended_by_baton && !is_stopped;
        // Its processes were killed, whatever the agent looked like afterwards and whatever asked for a stop meanwhile.
        if let Some(starving) = found.starving {
            ended.failure = None;
            self.stop_for_budget(&starving, ended).await?;
        } else if let Some(reached) = found.reached.filter(|_| counts) {
            self.stop_for_budget(&reached, ended).await?;
        } else if let Some(stalled) = found.stalled.filter(|_| counts) {
            ended.reason = EndReason::Finished;
            let question = stalled.question(self.task.spec().title.as_str());
            ended.reported.result = AttemptResult::Asked { question };
        }
        Ok(())
    }

    /// How many turns may pass without anything new. Who only looks at another's work leaves nothing.
    fn idle_turns(&self, room: &Room) -> Option<u32> {
        let spec = self.task.spec();
        let is_author = *self.role == spec.role;
        let by_default = || self.context.settings.progress.idle_turns_of(spec.task_type);
        room.idle_turns.or_else(|| is_author.then(by_default).flatten())
    }

    /// Nobody stopped the run but its budget: a person decides whether it goes on, or the next day does.
    async fn stop_for_budget(
        &self,
        reached: &BudgetReached,
        ended: &mut RunResult,
    ) -> Result<(), EngineError> {
        ended.reason = EndReason::Finished;
        ended.reported.result = match reached.scope {
            BudgetScope::Task | BudgetScope::Project => AttemptResult::Asked { question: reached.question() },
            BudgetScope::Day => {
                // Before the task goes back to the queue, where the next agent would take it.
                self.context.limits.hold_day(reached).await?;
                AttemptResult::Error { cause: ErrorCause::Systemic, message: day_is_over(reached) }
            }
        };
        Ok(())
    }

    /// What the session that is resumed had used before.
    async fn session_use(&self, who: &Assignment<'_>, launch: &Launch) -> Result<SessionUse, EngineError> {
        if launch.session.resume.is_none() {
            return Ok(SessionUse::default());
        }
        Ok(self.earlier_session(who).await?.map(|session| session.used).unwrap_or_default())
    }

    pub(crate) async fn note_session(
        &self,
        who: &Assignment<'_>,
        id: &str,
        is_full: bool,
        used: SessionUse,
    ) -> Result<(), EngineError> {
        let since = self.context.tasks.store.now().await?;
        let (agent, account) = (who.name.clone(), who.account.clone());
        let session = AgentSession { agent, account, id: id.to_owned(), since, is_full, used };
        let note = Command::NoteSession { attempt: self.attempt, session };
        match self.context.tasks.apply(self.task.id(), note, Actor::Baton).await {
            // The task moved on without this attempt, which is being stopped.
            Ok(_) => Ok(()),
            Err(error) if error.is_stale() => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Turns are limited by the run itself, which lets the last one end. Only others that share the budget can take it before.
fn is_over_now(reached: &BudgetReached) -> bool {
    match (reached.measure, reached.scope) {
        (BudgetMeasure::Turns, BudgetScope::Task) => false,
        (BudgetMeasure::Turns, BudgetScope::Project | BudgetScope::Day) => reached.used > reached.allowed,
        (
            BudgetMeasure::Tokens
            | BudgetMeasure::Money
            | BudgetMeasure::Time
            | BudgetMeasure::Progress
            | BudgetMeasure::Disk
            | BudgetMeasure::Log
            | BudgetMeasure::Memory,
            _,
        ) => true,
    }
}

/// What can be compared of a call; none if the agent does not show its input.
fn observed(ended: EndedCall) -> Option<ObservedCall> {
    let is_failed = ended.outcome == ToolOutcome::Failed;
    ended.call.map(|call| ObservedCall { call, result: ended.result, is_failed })
}

/// Keeps the ids of the tool calls that run.
fn note_call(calls: &watch::Sender<BTreeSet<String>>, event: &AgentEvent) {
    match event {
        AgentEvent::ToolStarted(call) => calls.send_modify(|open| {
            open.insert(call.id.clone());
        }),
        AgentEvent::ToolEnded(ended) => calls.send_modify(|open| {
            open.remove(&ended.id);
        }),
        // An end may be among what was dropped.
        AgentEvent::Skipped(_) => calls.send_modify(BTreeSet::clear),
        _ => {}
    }
}

/// Stops the agent when it is to end and no tool of it runs. Never comes back.
async fn end_at_boundary(
    mut is_ending: watch::Receiver<bool>,
    mut open_calls: watch::Receiver<BTreeSet<String>>,
    quit: &watch::Sender<bool>,
) -> Infallible {
    if is_ending.wait_for(|is_ending| *is_ending).await.is_ok()
        && open_calls.wait_for(BTreeSet::is_empty).await.is_ok()
    {
        let _ = quit.send(true);
    }
    std::future::pending().await
}

/// Whether the agent has read its prompt, as far as can be seen.
const fn is_sign_of_work(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::Text(_) | AgentEvent::Turn(_) | AgentEvent::Stopped(_))
}

/// Passes a stop on to an agent that may be stopped for other reasons too. Never returns.
async fn pass_on(mut stop: watch::Receiver<bool>, quit: &watch::Sender<bool>) -> Infallible {
    if stop.wait_for(|is_stopped| *is_stopped).await.is_ok() {
        let _ = quit.send(true);
    }
    std::future::pending().await
}

/// Best effort: without it an orphan is still found by the attempt's id in its environment.
fn record_process(path: &Path, identity: &ProcessIdentity) {
    if let Ok(text) = serde_json::to_string(identity) {
        let _ = fs::write(path, text);
    }
}
