//! The workshop: what everyone who works on tasks here shares.

use crate::base::error::{Entity, NotFound};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use baton_agents::driver::RunClock;
use baton_agents::failure::AgentFailure;
use baton_agents::process::environment::{ATTEMPT_ID, AgentEnvironment};
use baton_core::base::git_name::BranchName;
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::base::text::AgentName;
use baton_core::base::time::Timestamp;
use baton_core::limits::hold::{Hold, HoldReason};
use baton_core::task::attempt::{AttemptResult, ErrorCause};
use baton_core::task::{Purpose, Task};

use crate::asking::AgentGateway;
use crate::attempt::mailbox::Mailbox;
use crate::attempt::running::Running;
use crate::base::error::EngineError;
use crate::cluster::fleet_size::FleetSize;
use crate::cluster::node::{Node, host_name};
use crate::git::{Git, MergeSpec, Merged, Place as Stand, Repository, Restored, Worktrees};
use crate::limits::holds::hold_for;
use crate::limits::intakes::Intakes;
use crate::projects::availability::ProjectsHere;
use crate::projects::repositories::Repositories;
use crate::settings::Settings;
use crate::settings::place::Place;
use crate::supervisor::Services;
use crate::tasks::service::TaskService;
use crate::user_tasks::{Site, UserTasks};

/// Tells a person something while work goes on.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

#[derive(Clone)]
pub struct Workshop {
    pub tasks: TaskService,
    pub settings: Arc<Settings>,
    pub place: Place,
    pub git: Git,
    pub repositories: Repositories,
    pub running: Running,
    pub intakes: Intakes,
    /// Called with what a person should hear of.
    pub say: Say,
    /// Who claims: this machine and this state folder, the same after a restart.
    pub worker: String,
    /// What this process is there for.
    pub node: Node,
    /// When it was opened.
    pub opened: Instant,
    /// How many machines share the work.
    pub fleet: FleetSize,
    /// Which projects can be worked on here.
    pub projects: ProjectsHere,
    /// Baton's own program, for agents that call it and for the built-in one.
    pub program: PathBuf,
    /// What agents hand in by tool.
    pub mailbox: Mailbox,
    /// How the background services of this process are.
    pub services: Services,
    /// The commands of the project's people.
    pub user_tasks: UserTasks,
    /// Where agents reach the tools, while a server runs beside the engine.
    pub mcp_url: Option<String>,
}

impl Workshop {
    /// A workshop in which nothing runs yet. Git is looked at when it is first needed.
    pub fn new(tasks: TaskService, settings: Settings, place: Place, program: PathBuf, say: Say) -> Self {
        Self {
            worker: format!("{}:{}", host_name(), place.store_path().display()),
            node: Node::default(),
            opened: Instant::now(),
            fleet: FleetSize::default(),
            projects: ProjectsHere::default(),
            user_tasks: UserTasks::new(&place.state_dir, settings.user_tasks.clone()),
            tasks,
            settings: Arc::new(settings),
            place,
            git: Git::on_path(),
            repositories: Repositories::default(),
            running: Running::default(),
            intakes: Intakes::default(),
            say,
            program,
            mailbox: Mailbox::default(),
            services: Services::default(),
            mcp_url: None,
        }
    }

    /// Where the agents at work here ask.
    pub fn gateway(&self) -> AgentGateway {
        AgentGateway::new(self.tasks.clone(), self.settings.asking.expires_after())
    }

    /// Keeps the branch up to date on which work comes together that is for no feature: with the project's base, or else
    /// with what the human is on. Their checkout is never touched; they merge it when they like.
    pub(crate) async fn keep_up(
        &self,
        worktrees: &Worktrees,
        base: Option<&BranchName>,
    ) -> Result<(), EngineError> {
        let repository = worktrees.repository();
        let gathering = BranchName::integration();
        let mut base = match base {
            Some(base) => base.clone(),
            None => humans_branch(repository).await?,
        };
        let mut tips = repository.tips(&[&base, &gathering]).await?;
        // Nearly always it is a branch that has commits; else another is looked for, and the error says what is wrong.
        if !tips.contains_key(&base) {
            base = repository.default_branch().await?;
            tips = repository.tips(&[&base, &gathering]).await?;
        }
        let stand = (tips.get(&base).cloned(), tips.get(&gathering).cloned());
        // Merged before, and neither has moved since.
        if stand.0 == stand.1 && stand.0.is_some() || self.repositories.is_gathered(&stand) {
            return Ok(());
        }
        repository.ensure_branch(&gathering, &base).await?;
        let message = format!("Merge {base} into {gathering}");
        let spec = MergeSpec { branch: base, into: gathering, message };
        // A conflict with the human's own work is theirs to resolve when they merge; until then both stand.
        match worktrees.merge(&spec).await {
            Ok(Merged::Already { .. }) => self.repositories.note_gathered(stand),
            Ok(_) => {}
            // Somebody has it checked out or locked; work starts from where it stands until they let go.
            Err(error) if error.is_in_the_way() => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// What the worktree of a task stands on: its own branch, or, to plan a breakdown, the branch that holds the truth.
    pub async fn stand(
        &self,
        task: &Task,
        worktrees: &Worktrees,
        from: BranchName,
    ) -> Result<Stand, EngineError> {
        match task.spec().purpose {
            Purpose::Work | Purpose::Run => Ok(Stand::Task { branch: BranchName::for_task(task.id()), from }),
            Purpose::Breakdown { replaces_task_id: Some(replaced), .. } => {
                let branch = worktrees.repository().truth(&BranchName::for_task(replaced), &from).await?;
                Ok(Stand::Reading { branch })
            }
            Purpose::Breakdown { replaces_task_id: None, .. } => Ok(Stand::Reading { branch: from }),
        }
    }

    /// Where an attempt's user tasks come from and run. They get the allow-list's variables and those named, but not
    /// the attempt's token; its id is in their environment, so that they are found and ended with it.
    pub fn site(&self, root: &Path, worktree: &Path, attempt: AttemptId, variables: &[String]) -> Site {
        let mut environment = AgentEnvironment::allowed(std::env::vars_os(), variables);
        environment.set(ATTEMPT_ID, attempt.to_string());
        // What a task remembers between runs does not belong into the worktree, where it would look like work.
        environment.set("TASK_TEMP_DIR", self.attempt_folder(attempt).join("user-tasks"));
        for (name, value) in self.place.variables() {
            environment.set(name, value);
        }
        let plain = |text: &OsStr| text.to_string_lossy().into_owned();
        let environment = environment.iter().map(|(name, value)| (plain(name), plain(value))).collect();
        Site { root: root.to_owned(), folder: worktree.to_owned(), environment: Some(environment) }
    }

    /// Where an attempt keeps what is not in git: its log, and who its process is.
    pub fn attempt_folder(&self, attempt: AttemptId) -> PathBuf {
        self.attempts_folder().join(attempt.to_string())
    }

    pub fn attempts_folder(&self) -> PathBuf {
        self.place.state_dir.join("attempts")
    }

    pub fn clock() -> RunClock {
        Arc::new(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
        })
    }

    /// The worktrees of whatever repository an attempt of this task ran in.
    pub async fn worktrees_of(&self, task: TaskId) -> Result<Worktrees, EngineError> {
        let project = self.project(&self.tasks.task(task).await?.value).await?;
        self.open_source(&self.source(project.as_ref())).await
    }

    /// How the agent fared decides whether it takes more work. To be noted before the task goes back to the queue.
    pub async fn note_intake(&self, task: &Task, result: &AttemptResult) -> Result<(), EngineError> {
        let Some(live) = task.state().live_attempt() else { return Ok(()) };
        match result {
            AttemptResult::Error { cause: ErrorCause::Systemic, message } => {
                let now = self.tasks.store.now().await?;
                let known = self.tasks.hold_of(&live.agent).await?;
                // What is known already needs no counting.
                if known.is_some_and(|stored| stored.value.is_active(now)) {
                    return Ok(());
                }
                if let Some(until) = self.intakes.systemic_failure(&live.agent, now) {
                    let why = HoldReason::Failures;
                    self.hold(&Hold::new(live.agent.clone(), why, message, now, Some(until))).await?;
                }
            }
            AttemptResult::Complete
            | AttemptResult::Incomplete
            | AttemptResult::NoEvidence
            | AttemptResult::NoChanges { .. }
            | AttemptResult::Asked { .. }
            | AttemptResult::Blocked { .. }
            | AttemptResult::Error { cause: ErrorCause::Own, .. }
            | AttemptResult::TurnLimit => self.intakes.success(&live.agent),
        }
        Ok(())
    }

    /// A failure that any other task would have met too holds the account, before the task goes back to the queue.
    pub async fn note_failure(&self, agent: &AgentName, failure: &AgentFailure) -> Result<(), EngineError> {
        let now = self.tasks.store.now().await?;
        match hold_for(agent, failure, now) {
            Some(hold) => self.hold(&hold).await,
            None => Ok(()),
        }
    }

    pub async fn hold(&self, hold: &Hold) -> Result<(), EngineError> {
        if self.tasks.place_hold(hold).await? {
            let until = match hold.until {
                Some(until) => format!("rests until {until}"),
                None => format!("is held until you release it (baton hold release {})", hold.agent),
            };
            (self.say)(&format!("agent {} {until}: {}", hold.agent, hold.reason));
        }
        Ok(())
    }

    /// What a task changed, against the branch it goes into.
    pub async fn diff(&self, task: &Task) -> Result<String, EngineError> {
        let (worktrees, branch) = self.repository_as_shared(task).await?;
        let repository = worktrees.repository();
        let (Some(base), Some(head)) =
            (repository.tip(&branch).await?, repository.tip(&BranchName::for_task(task.id())).await?)
        else {
            return Ok(String::new());
        };
        Ok(repository.diff(&base, &head).await?.text)
    }

    /// Everything an attempt had, in a new folder.
    pub async fn restore(&self, attempt: AttemptId, into: &Path) -> Result<Restored, EngineError> {
        let missing = || NotFound::new(Entity::Attempt, attempt);
        let record = self.tasks.store.attempt(attempt).await?.ok_or_else(missing)?;
        let worktrees = self.worktrees_of(record.task_id).await?;
        if worktrees.repository().is_clone() {
            worktrees.fetch_attempt(attempt).await?;
        }
        Ok(worktrees.restore(attempt, into).await?)
    }
}

async fn humans_branch(repository: &Repository) -> Result<BranchName, EngineError> {
    match repository.current_branch().await? {
        Some(branch) => Ok(branch),
        None => Ok(repository.default_branch().await?),
    }
}
