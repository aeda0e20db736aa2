//! The runner: one claimed task, from its worktree to the settled attempt.
//!
//! What goes wrong on Baton's side (no worktree, no agent set up) is not the task's fault and is settled as a
//! failure of the system.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use baton_agents::command::CommandAgent;
use baton_agents::driver::{Driver, EVENTS_MAX, Event, Launch, Limits};
use baton_agents::ended::{Ended, How};
use baton_agents::environment::Environment;
use baton_core::actor::Actor;
use baton_core::attempt::{AttemptEnd, AttemptResult, BlockReason, ErrorCause, Evidence, Reported};
use baton_core::command::Command;
use baton_core::id::AttemptId;
use baton_core::outcome::Outcome;
use baton_core::outcome_parser;
use baton_core::question_record::{QuestionRecord, QuestionState};
use baton_core::refusal::Refusal;
use baton_core::task::{Purpose, Task};
use baton_core::text::OutcomeName;
use baton_store::Store;
use baton_store::claim::Claimed;
use baton_store::query::QuestionFilter;
use tokio::sync::{mpsc, watch};

use crate::error::EngineError;
use crate::ids::Ids;
use crate::prompt::{BreakdownPrompt, WorkPrompt};
use crate::running::Place as Seat;
use crate::settings::{AgentKind, AgentSettings};
use crate::workshop::Workshop;
use crate::worktree::{Checkout, CheckoutSpec, Setup, Worktrees};

/// The outcomes of ordinary work. None reported counts as complete, and the evidence decides.
const WORK_OUTCOMES: [&str; 4] = ["complete", "no-changes", "blocked", "other"];

/// Questions of one task that go into its prompt.
const QUESTIONS_MAX: u32 = 50;

/// Where the identity of an attempt's process is written, in the attempt's folder.
pub const PROCESS_FILE: &str = "process.json";
/// The attempt's log, in the attempt's folder.
pub const LOG_FILE: &str = "agent.log";

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
        let command = match self.attempt(&task, attempt, seat.stop_signal()).await {
            Ok(Some(end)) => Command::Settle { attempt, end },
            // Stopped from outside: cancelled, or Baton is going down. Nobody's fault either way.
            Ok(None) => Command::ExpireLease { attempt },
            Err(error) => Command::Settle { attempt, end: systemic(&error) },
        };
        self.note_intake(&task, &command).await?;
        match self.shop.desk.apply(task.id(), command, Actor::Baton).await {
            Ok(_) => Ok(()),
            // The task moved on without this attempt; its work is kept and its result discarded (I16).
            Err(EngineError::Refused(Refusal::Stale { .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// How the agent fared decides whether it takes more work.
    async fn note_intake(&self, task: &Task, command: &Command) -> Result<(), EngineError> {
        let (Command::Settle { end, .. }, Some(live)) = (command, task.state().live_attempt()) else {
            return Ok(());
        };
        match &end.reported.result {
            AttemptResult::Error { cause: ErrorCause::Systemic, message } => {
                let now = self.shop.desk.store.now().await?;
                if let Some(until) = self.shop.intakes.systemic_failure(&live.agent, now) {
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
        mut stop: watch::Receiver<bool>,
    ) -> Result<Option<AttemptEnd>, EngineError> {
        let role = &task.spec().role;
        let no_agent = || EngineError::NoAgent { role: role.clone() };
        let (_, agent) = self.shop.settings.agent_for(role).ok_or_else(no_agent)?;
        let (worktrees, branch) = self.shop.repository(task).await?;
        let place = self.shop.stand(task, &worktrees, branch).await?;
        let resumes = self.resumes(task, &worktrees).await?;
        let wanted = &self.shop.settings.worktree;
        let setup =
            Setup { copy: wanted.copy.iter().map(Into::into).collect(), submodules: wanted.submodules };
        let spec = CheckoutSpec { attempt, place, resumes, setup };
        let checkout = worktrees.create(&spec).await?;
        let questions = self.questions(task).await?;
        let prompt = self.prompt(task, &worktrees, &checkout, &questions, spec.resumes.is_some()).await?;
        let has_answer =
            questions.iter().any(|record| matches!(record.state, QuestionState::Answered { .. }));
        let launch = self.launch(task, attempt, agent, &checkout, prompt, has_answer)?;
        let turns_max = launch.limits.turns_max;
        let started = Instant::now();
        let ended = self.drive(launch, attempt, stop.clone()).await;
        if ended.how == How::Cancelled {
            return Ok(None);
        }
        let mut verified = self.verify(&worktrees, &checkout, &ended, turns_max, started.elapsed()).await?;
        if verified.shows_work() {
            match self.shop.settings.checks.run_all(attempt, &checkout.folder, &mut stop).await {
                Some(results) => verified.checks = results,
                None => return Ok(None),
            }
        }
        let reported = self.reported(task, attempt, ended).await?;
        Ok(Some(AttemptEnd { reported, verified }))
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

    /// The task's conversation so far.
    async fn questions(&self, task: &Task) -> Result<Vec<QuestionRecord>, EngineError> {
        let filter = QuestionFilter { task: Some(task.id()), ..QuestionFilter::default() };
        let page = self.shop.desk.store.questions(&filter, None, QUESTIONS_MAX).await?;
        Ok(page.items.into_iter().map(|stored| stored.value).collect())
    }

    async fn prompt(
        &self,
        task: &Task,
        worktrees: &Worktrees,
        checkout: &Checkout,
        questions: &[QuestionRecord],
        is_resumed: bool,
    ) -> Result<String, EngineError> {
        match task.spec().purpose {
            Purpose::Work => {
                let branch = baton_core::git_name::BranchName::of_task(task.id());
                let outcomes = work_outcomes();
                let prompt =
                    WorkPrompt { task, branch: branch.as_str(), questions, is_resumed, outcomes: &outcomes };
                Ok(prompt.text())
            }
            Purpose::Breakdown { .. } => {
                BreakdownPrompt { shop: &self.shop, task }.text(worktrees, checkout).await
            }
        }
    }

    fn launch(
        &self,
        task: &Task,
        attempt: AttemptId,
        agent: &AgentSettings,
        checkout: &Checkout,
        prompt: String,
        has_answer: bool,
    ) -> Result<Launch, EngineError> {
        let folder = self.shop.attempt_folder(attempt);
        fs::create_dir_all(&folder)
            .map_err(|error| EngineError::Folder { path: folder.clone(), detail: error.to_string() })?;
        let mut environment = Environment::allowed(std::env::vars_os(), &agent.env);
        environment.set("BATON_TASK_ID", task.id().to_string());
        environment.set("BATON_TOKEN", Ids::secret());
        environment.set("BATON_BIN", self.shop.program.as_os_str());
        // With an answer to go on from, the prompt holds the conversation; a lost attempt alone is begun anew.
        if has_answer {
            environment.set("BATON_RESUME", "1");
        }
        let live = task.state().live_attempt();
        environment.set("BATON_ATTEMPT_NUMBER", live.map_or(1, |live| live.number).to_string());
        let command = match agent.kind {
            AgentKind::Command => agent.command.clone(),
            AgentKind::Scripted => {
                let program = self.shop.program.to_string_lossy().into_owned();
                [program, "scripted-agent".to_owned()].into_iter().chain(agent.command.clone()).collect()
            }
        };
        Ok(Launch {
            attempt,
            command,
            worktree: checkout.folder.clone(),
            prompt,
            environment,
            limits: Limits {
                turns_max: self.shop.settings.turns_max(&task.spec().role, agent),
                timeout: Some(Duration::from_secs(agent.timeout)),
                idle_timeout: Some(Duration::from_secs(agent.idle_timeout)),
                ..Limits::default()
            },
            log_path: folder.join(LOG_FILE),
        })
    }

    /// Runs the agent, writing down who its process is before anything else happens.
    async fn drive(&self, launch: Launch, attempt: AttemptId, stop: watch::Receiver<bool>) -> Ended {
        let driver = CommandAgent::new(Workshop::<S>::clock());
        let (sender, mut events) = mpsc::channel(EVENTS_MAX);
        let process_file = self.shop.attempt_folder(attempt).join(PROCESS_FILE);
        let listening = async {
            while let Some(event) = events.recv().await {
                if let Event::Started(identity) = event {
                    record_process(&process_file, &identity);
                }
            }
        };
        let (ended, ()) = tokio::join!(driver.run(launch, sender, stop), listening);
        // Nothing of it runs any more, so nobody has to look for it after a crash.
        let _ = fs::remove_file(&process_file);
        ended
    }

    /// I15: Baton counts, in git, after the agent is gone.
    async fn verify(
        &self,
        worktrees: &Worktrees,
        checkout: &Checkout,
        ended: &Ended,
        turns_max: u32,
        duration: Duration,
    ) -> Result<Evidence, EngineError> {
        let settled = worktrees.settle(checkout).await?;
        Ok(Evidence {
            commits: settled.measured.commits,
            uncommitted_changes: settled.uncommitted_changes,
            turns: ended.turns,
            turns_max,
            files_changed: settled.measured.files_changed,
            insertions: settled.measured.insertions,
            deletions: settled.measured.deletions,
            input_tokens: ended.input_tokens,
            output_tokens: ended.output_tokens,
            cost_micro_usd: ended.cost_micro_usd,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            checks: Vec::new(),
        })
    }

    async fn reported(&self, task: &Task, attempt: AttemptId, ended: Ended) -> Result<Reported, EngineError> {
        let Ended { mut reported, outcome, plan, .. } = ended;
        reported.plan_submitted = false;
        if let Some(draft) = plan.filter(|_| task.is_breakdown()) {
            match self.shop.desk.submit_plan(task.id(), draft, Actor::Agent { attempt }).await {
                Ok(_) => reported.plan_submitted = true,
                // The next attempt reads what was wrong with it.
                Err(EngineError::Plan(faults)) => {
                    reported.output = format!("{}\n\nThe plan could not be used:\n{faults}", reported.output);
                }
                Err(error) => return Err(error),
            }
        }
        if reported.result == AttemptResult::Complete && !task.is_breakdown() {
            let outcomes = work_outcomes();
            let said = match outcome {
                Some(said) => Outcome::report(&said.name, said.description.as_deref(), &outcomes).ok(),
                None => outcome_parser::parse(&reported.output, &outcomes).ok(),
            };
            reported.result = said.map_or(AttemptResult::Complete, result_of);
        }
        Ok(reported)
    }
}

/// What an outcome of ordinary work means for the attempt.
fn result_of(outcome: Outcome) -> AttemptResult {
    let description = outcome.description.map(String::from).unwrap_or_default();
    match outcome.name.as_str() {
        "no-changes" => AttemptResult::NoChanges { reason: description },
        "blocked" if description.is_empty() => AttemptResult::Blocked { reason: BlockReason::Unstated },
        "blocked" => AttemptResult::Blocked { reason: BlockReason::Other(description) },
        "other" => AttemptResult::Incomplete,
        _ => AttemptResult::Complete,
    }
}

fn work_outcomes() -> Vec<OutcomeName> {
    WORK_OUTCOMES.iter().filter_map(|name| name.parse().ok()).collect()
}

fn systemic(error: &EngineError) -> AttemptEnd {
    let message = format!("{error}\n{}", error.hint());
    let result = AttemptResult::Error { cause: ErrorCause::Systemic, message: message.clone() };
    AttemptEnd { reported: Reported::new(result, message), verified: Evidence::default() }
}

/// Best effort: without it an orphan is still found by the attempt's id in its environment.
fn record_process(path: &Path, identity: &baton_agents::identity::ProcessIdentity) {
    if let Ok(text) = serde_json::to_string(identity) {
        let _ = fs::write(path, text);
    }
}
