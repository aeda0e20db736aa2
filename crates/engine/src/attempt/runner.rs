//! The runner: one claimed task, from its worktree to the settled attempt.
//!
//! Work is driven through its recipe by the [`Executor`]; a breakdown has one prompt and one deliverable, a plan.
//! What goes wrong on Baton's side (no worktree, no agent set up) is not the task's fault and is settled as a
//! failure of the system.

use crate::attempt::error::AttemptError;
use crate::git::GitError;
use crate::tasks::error::TaskError;

use baton_agents::driver::run_result::{EndReason, RunResult};
use baton_core::ask::question::QuestionDraft;
use baton_core::base::git_name::BranchName;
use baton_core::base::id::AttemptId;
use baton_core::base::redact::redact;
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::task::attempt::{AttemptEnd, AttemptReport, AttemptResult, ErrorCause, Evidence};
use baton_core::task::{Purpose, Task};
use baton_core::transition::command::Command;
use baton_store::model::claim::ClaimedTask;
use tokio::sync::watch;
use tracing::Span;

use crate::asking::Leave;
use crate::attempt::agent_run::AgentRun;
use crate::attempt::breakdown_prompt::{BreakdownPrompt, PlannerGround};
use crate::attempt::context::AttemptContext;
use crate::attempt::executor::{Executed, Executor, Spent, measure};
use crate::attempt::project_hold::{is_of_project, is_of_remote, is_of_repository};
use crate::attempt::prompt::messages_section;
use crate::base::error::EngineError;
use crate::cluster::running::RunningAttempt;
use crate::git::{Checkout, CheckoutSpec, Worktrees};
use crate::settings::hooks::HookName;
use crate::user_tasks::{TASKFILE, UserTaskError};

pub use crate::attempt::agent_run::PROCESS_FILE;

pub struct Runner {
    pub(super) context: AttemptContext,
}

impl Runner {
    pub fn new(context: AttemptContext) -> Self {
        Self { context }
    }

    /// Runs the attempt to its end and settles it. Only the store can make this fail.
    pub async fn run(&self, claimed: ClaimedTask, running: RunningAttempt) -> Result<(), EngineError> {
        let task = claimed.task.value;
        let attempt = claimed.lease.attempt;
        self.context.limits.intakes.begin(task.id());
        let runner = match self.prepared(&task, attempt).await {
            Ok(runner) => runner,
            Err(error) if error.is_stale() => return self.finish(&task, attempt, Executed::Stale).await,
            // Without its code nobody knows its settings.
            Err(error) if error.is::<GitError>() => {
                let executed = self.without_code(&task, attempt, &error).await?;
                return self.finish(&task, attempt, executed).await;
            }
            Err(error) => {
                let executed = self.hold_project(&task, attempt, &error).await?;
                return self.finish(&task, attempt, executed).await;
            }
        };
        // On the heap: it holds the state of every step.
        let executed = match Box::pin(runner.attempt(&task, attempt, running.stop_signal())).await {
            Ok(executed) => executed,
            Err(error) if is_of_project(&error) => self.hold_project(&task, attempt, &error).await?,
            // What the agent left is kept, and taken over once git can.
            Err(error) if is_of_repository(&error) => self.hold_project(&task, attempt, &error).await?,
            // Cancelled, or taken over by another machine, while its agent was being started: nobody's fault.
            Err(error) if error.is_stale() => Executed::Stale,
            Err(error) => runner.settle(&task, attempt, systemic(&error)).await?,
        };
        self.finish(&task, attempt, executed).await
    }

    async fn finish(&self, task: &Task, attempt: AttemptId, executed: Executed) -> Result<(), EngineError> {
        let used = self.context.limits.live.end(attempt);
        match executed {
            Executed::Settled => return Ok(()),
            // Somebody else is at it, or was: what this attempt had is kept, and found by its name.
            Executed::Stale => {
                Span::current().record("outcome", "stale");
                self.context.projects.hand_over(task, attempt).await;
            }
            // Cancelled, or Baton is going down. Nobody's fault either way.
            Executed::Stopped => {
                Span::current().record("outcome", "stopped");
                self.context.projects.hand_over(task, attempt).await;
                self.context.projects.keep_stopped(task, attempt).await;
                let expire = Command::ExpireLease { attempt };
                match self.context.tasks.apply(task.id(), expire, Actor::Baton).await {
                    Ok(_) => {}
                    Err(error) if error.is_stale() => {}
                    Err(error) => return Err(error),
                }
            }
        }
        self.context.limits.book_without_report(task, attempt, used).await
    }

    async fn settle(
        &self,
        task: &Task,
        attempt: AttemptId,
        end: AttemptEnd,
    ) -> Result<Executed, EngineError> {
        self.context.limits.note_intake(task, &end.reported.result).await?;
        let reported = self.context.limits.limit_systemic(task, end.reported).await?;
        let end = AttemptEnd { reported, ..end };
        Span::current().record("outcome", end.reported.result.kind().as_str());
        match self.context.limits.settle_charged(task, attempt, end).await {
            Ok(()) => Ok(Executed::Settled),
            // The task moved on without this attempt; its work is kept and its result discarded (I16).
            Err(error) if error.is_stale() => Ok(Executed::Stale),
            Err(error) => Err(error),
        }
    }

    /// The same with what the task's project has decided.
    async fn prepared(&self, task: &Task, attempt: AttemptId) -> Result<Self, EngineError> {
        let project = self.context.projects.project(task).await?;
        let settings = self.context.projects.settings_to_work_by(project.as_ref()).await?;
        self.with_environment(settings, task, attempt).await
    }

    /// Where machines share work, code that cannot be had here may be at hand elsewhere.
    async fn without_code(
        &self,
        task: &Task,
        attempt: AttemptId,
        error: &EngineError,
    ) -> Result<Executed, EngineError> {
        // What a repository lacks, it lacks everywhere.
        let lacks = matches!(error.get(), Some(GitError::NoBranch { .. } | GitError::NoCommits { .. }));
        if !self.context.place.store.is_shared() || lacks {
            if let Some(project) = task.spec().project_id.filter(|_| is_of_remote(error))
                && self.context.projects.here.note_unreached(project)
            {
                (self.context.announce)(&format!("{}: {error}; it is tried again", task.id()));
                return Ok(Executed::Stopped);
            }
            // No task of the project can run, and its agent has nothing to do with it.
            if is_of_repository(error) {
                return self.hold_project(task, attempt, error).await;
            }
            return self.settle(task, attempt, systemic(error)).await;
        }
        (self.context.announce)(&format!("{attempt} is handed back, its code cannot be had here: {error}"));
        if let Some(project) = task.spec().project_id {
            self.context.projects.here.note_away(project);
        }
        Ok(Executed::Stopped)
    }

    async fn attempt(
        &self,
        task: &Task,
        attempt: AttemptId,
        stop: watch::Receiver<bool>,
    ) -> Result<Executed, EngineError> {
        if let Some(end) = self.context.limits.over_budget(task).await? {
            return self.settle(task, attempt, end).await;
        }
        let (worktrees, branch) = match self.context.projects.repository_to_work_in(task, attempt).await {
            Ok(found) => found,
            Err(error) if error.is::<GitError>() && !is_of_project(&error) => {
                return self.without_code(task, attempt, &error).await;
            }
            Err(error) => return Err(error),
        };
        if let Some(project) = task.spec().project_id {
            self.context.projects.here.note_reached(project);
        }
        let spec = match self.checkout_spec(task, attempt, &worktrees, branch).await {
            Err(error) if is_of_repository(&error) => return self.hold_project(task, attempt, &error).await,
            spec => spec?,
        };
        let checkout = match worktrees.create(&spec).await.map_err(EngineError::from) {
            // A folder that an agent has worked in is that agent's doing.
            Err(error) if spec.resumes.is_none() && is_of_repository(&error) => {
                return self.hold_project(task, attempt, &error).await;
            }
            checkout => checkout?,
        };
        self.tell_reused(task, &worktrees, &checkout).await?;
        match self.prepare(task, &worktrees, &checkout, stop.clone()).await? {
            Prepared::Ready => {}
            Prepared::Stopped => return Ok(Executed::Stopped),
            Prepared::Ask(question) => {
                let asked = AttemptResult::Asked { question };
                return self.settle(task, attempt, without_work(asked, "")).await;
            }
            Prepared::Refused => {
                let message =
                    format!("its checks or its set-up need {TASKFILE}, and the human does not let it run");
                let refused = AttemptResult::Error { cause: ErrorCause::Own, message: message.clone() };
                return self.settle(task, attempt, without_work(refused, &message)).await;
            }
        }
        if let Some(question) = self.run_before_hook(task, &checkout).await? {
            let asked = AttemptResult::Asked { question };
            return self.settle(task, attempt, without_work(asked, "")).await;
        }
        // Before it is settled: from then on nothing else says that the folder is needed.
        let has_hook = self.context.settings.hooks.command(HookName::AfterAttempt).is_some();
        let folder_use = has_hook.then(|| self.context.projects.use_folder(attempt)).transpose()?;
        let services = self.start_services(task, &worktrees, &checkout).await?;
        let executed = match task.spec().purpose {
            Purpose::Work | Purpose::Run => {
                let executor = Executor {
                    context: &self.context,
                    task,
                    attempt,
                    worktrees: &worktrees,
                    checkout: &checkout,
                    is_resumed: spec.resumes.is_some(),
                    stop,
                    span: Span::current(),
                };
                Box::pin(executor.run()).await
            }
            Purpose::Breakdown { .. } => self.breakdown(task, attempt, &worktrees, &checkout, stop).await,
        };
        services.end().await;
        self.run_after_hook(task, &checkout, &executed).await;
        drop(folder_use);
        executed
    }

    /// Where the attempt works, and from what.
    async fn checkout_spec(
        &self,
        task: &Task,
        attempt: AttemptId,
        worktrees: &Worktrees,
        branch: BranchName,
    ) -> Result<CheckoutSpec, EngineError> {
        let projects = &self.context.projects;
        projects.start_branch(task, worktrees, &branch).await?;
        let place = projects.stand(task, worktrees, branch).await?;
        let resumes = self.resumes(task, worktrees).await?;
        if let Some(earlier) = resumes {
            // It works in the same folder.
            projects.wait_for_folder(earlier).await?;
        }
        Ok(CheckoutSpec { attempt, place, resumes, setup: self.context.settings.worktree.for_clone() })
    }

    /// The project's own set-up, and a look whether the checks that come later can run at all: an agent's turns
    /// are not spent on work that nothing could be said about.
    async fn prepare(
        &self,
        task: &Task,
        worktrees: &Worktrees,
        checkout: &Checkout,
        mut stop: watch::Receiver<bool>,
    ) -> Result<Prepared, EngineError> {
        let AttemptContext { settings, agents, tasks, .. } = &self.context;
        let user_tasks = &agents.user_tasks;
        let root = self.context.projects.people_folder(worktrees);
        let mut site = self.context.agents.site(&root, &checkout.folder, checkout.attempt, &[]);
        site.fence = self.context.projects.check_task_fence(worktrees, &checkout.folder);
        site.memory_bytes_max = self.context.projects.command_memory_bytes();
        let setup = settings.worktree.setup.as_deref().filter(|_| !worktrees.is_set_up(checkout));
        let services = settings.worktree.services.iter().map(String::as_str);
        let rules = self.context.projects.rules_for_attempt(settings, worktrees, task).await?;
        let mut check_site = site.clone();
        rules.define(&mut check_site);
        let checks = rules.settings.checks.user_tasks().map(|name| (&check_site, name));
        for (site, name) in checks.chain(setup.into_iter().chain(services).map(|name| (&site, name))) {
            match user_tasks.ready_to_run(site, name) {
                Ok(_) => {}
                Err(UserTaskError::Untrusted) => {
                    match Leave::look(tasks, user_tasks, site, task.id()).await? {
                        Leave::Given => {}
                        Leave::Refused => return Ok(Prepared::Refused),
                        Leave::Unasked(question) => return Ok(Prepared::Ask(question)),
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        let Some(name) = setup else { return Ok(Prepared::Ready) };
        let turn = tokio::select! {
            turn = self.context.projects.setup_turn(task) => turn,
            _ = stop.wait_for(|is_stopped| *is_stopped) => None,
        };
        let Some(turn) = turn else { return Ok(Prepared::Stopped) };
        let timeout = settings.worktree.setup_timeout();
        match user_tasks.run_unless_stopped(&site, name, timeout, &mut stop).await? {
            None => Ok(Prepared::Stopped),
            Some(ran) if ran.succeeded => {
                turn.succeeded();
                worktrees.note_set_up(checkout).await?;
                Ok(Prepared::Ready)
            }
            Some(ran) => {
                Err(AttemptError::SetupFailed { output: redact(&user_tasks.told(&ran)).into_owned() }.into())
            }
        }
    }

    /// The attempt to go on from: the nearest before this one that got as far as a worktree. One that was lost
    /// before that has nothing to go on from, but the one it went on from itself has.
    async fn resumes(&self, task: &Task, worktrees: &Worktrees) -> Result<Option<AttemptId>, EngineError> {
        let mut earlier = task.state().live_attempt().and_then(|live| live.resumes);
        while let Some(attempt) = earlier {
            if worktrees.repository().is_clone() && !worktrees.has_started(attempt).await? {
                // It ran on another machine, which has told where it began.
                worktrees.fetch_attempt(attempt).await?;
            }
            if worktrees.has_started(attempt).await? {
                return Ok(Some(attempt));
            }
            earlier =
                self.context.tasks.store.attempt(attempt).await?.and_then(|record| record.attempt.resumes);
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
        let prompt = BreakdownPrompt { projects: &self.context.projects, task };
        let head = worktrees.measure(checkout).await?.head;
        let ground = PlannerGround { branch: checkout.place.branch(), base: checkout.base.clone(), head };
        let questions = self.context.tasks.questions_of(task.id()).await?;
        // A new session gets everything that was said; an earlier one only what is new.
        let new = self.context.tasks.queued_messages(task).await?;
        let said = self.context.tasks.messages_to(task).await?;
        let shift = AgentRun {
            context: &self.context,
            task,
            attempt,
            worktrees,
            checkout,
            role: &task.spec().role,
            name: "breakdown".to_owned(),
            going_on: prompt.going_on(&questions, &new),
            prompt: format!("{}{}", prompt.text(worktrees, ground).await?, messages_section(&said)),
            messages: &new,
            session_since: None,
            model: None,
            outcomes: Vec::new(),
            variables: Vec::new(),
            turns: spent.allowance(&self.context.settings, &task.spec().role)?,
        };
        let worked = shift.work(stop.clone()).await?;
        spent.add(&worked);
        if worked.ended.reason == EndReason::Cancelled {
            return Ok(Executed::Stopped);
        }
        let measured = measure(&self.context, worktrees, checkout, task, &spent, &stop).await?;
        let Some(verified) = measured else { return Ok(Executed::Stopped) };
        let reported = self.planned(task, attempt, worked.ended).await?;
        self.settle(task, attempt, AttemptEnd { reported, verified }).await
    }

    async fn planned(
        &self,
        task: &Task,
        attempt: AttemptId,
        ended: RunResult,
    ) -> Result<AttemptReport, EngineError> {
        let RunResult { mut reported, plan, .. } = ended;
        reported.plan_submitted = false;
        if let Some(draft) = plan {
            match self.context.tasks.submit_plan(task.id(), draft, Actor::Agent { attempt }).await {
                Ok(_) => reported.plan_submitted = true,
                // The next attempt reads what was wrong with it.
                Err(error) => {
                    let Some(TaskError::InvalidPlan(faults)) = error.get() else { return Err(error) };
                    reported.plan_fault = NonBlank::new(faults.to_string()).ok();
                    reported.output = format!("{}\n\nThe plan could not be used:\n{faults}", reported.output);
                }
            }
        }
        Ok(reported)
    }
}

/// What is to be done before the agent starts.
enum Prepared {
    Ready,
    Stopped,
    /// A person has to allow the project's commands first.
    Ask(QuestionDraft),
    /// They said no.
    Refused,
}

fn systemic(error: &EngineError) -> AttemptEnd {
    let message = format!("{error}\n{}", error.hint());
    let result = AttemptResult::Error { cause: ErrorCause::Systemic, message: message.clone() };
    without_work(result, &message)
}

pub(super) fn without_work(result: AttemptResult, output: &str) -> AttemptEnd {
    AttemptEnd { reported: AttemptReport::new(result, output), verified: Evidence::default() }
}
