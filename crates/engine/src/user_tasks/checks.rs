//! Checks: commands and user tasks of the people's, run over finished work. Their exit codes are evidence.
//!
//! A check runs what an agent wrote, so it runs like one: in the attempt's worktree, in a process group of its own,
//! with the allow-list's variables only, within limits, and nothing of its tree is left when it ends.

use std::time::Duration;

use baton_agents::driver::run_result::ProcessExit;
use baton_agents::fence::Fence;
use baton_agents::output::excerpt::TextExcerpt;
use baton_agents::output::live::LiveOutput;
use baton_agents::process::environment::AgentEnvironment;
use baton_agents::process::one_shot::{self, OneShot, OneShotEnd};
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::base::redact::redact;
use baton_core::base::text::NonBlank;
use baton_core::base::words::pluralize;
use baton_core::task::Task;
use baton_core::task::attempt::CheckResult;
use serde::{Serialize, Serializer};
use tokio::sync::watch;

use crate::user_tasks::output::out_of_memory;
use crate::user_tasks::{HeavyPermit, Site, UserTaskError, UserTasks};

/// What is kept of a check's output, beginning and end; enough to see what is wrong, and it goes into a prompt.
const OUTPUT_BYTES_MAX: usize = 8_000;
/// What the exit code of a check is when there is none: it could not be started, or did not end by itself.
const NO_EXIT_CODE: i32 = -1;

/// One check: what people call it, and what is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckSpec {
    pub name: NonBlank,
    pub deed: Deed,
    /// If it differs from that of all checks.
    pub timeout: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// The program and its arguments; never empty.
    Command(Vec<String>),
    /// A task of `.agent/Taskfile.yml`, as it stands in the human's checkout.
    UserTask(String),
}

/// All checks of the settings: a list of user tasks in its own order, or a table in the order of its names. Whatever
/// way a check is written down there, it has become a name and a deed here, and nobody further on has to know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checks(pub(super) Vec<CheckSpec>);

/// By name, as people write them: a user task by its own, a command in words.
impl Serialize for Checks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|check| {
            let words = match &check.deed {
                Deed::Command(words) => words.clone(),
                Deed::UserTask(name) => vec!["baton".to_owned(), "do".to_owned(), name.clone()],
            };
            let shown = match check.timeout {
                None => ShownCheck::Command(words),
                Some(timeout) => ShownCheck::Limited { command: words, timeout_seconds: timeout.as_secs() },
            };
            (&check.name, shown)
        }))
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum ShownCheck {
    Command(Vec<String>),
    Limited { command: Vec<String>, timeout_seconds: u64 },
}

/// The checks that the commands of one task are.
fn verification(task: &Task) -> impl Iterator<Item = CheckSpec> {
    task.spec().verify.iter().map(|command| CheckSpec {
        name: verification_name(task.id(), command),
        deed: Deed::Command(["sh", "-c", command.as_str()].map(str::to_owned).to_vec()),
        timeout: None,
    })
}

/// What a check is called that verifies one task only.
pub(crate) fn verification_name(task: TaskId, command: &NonBlank) -> NonBlank {
    NonBlank::or(&format!("{task}: {command}"), command.clone())
}

/// Where the checks of one attempt run.
pub struct CheckGround<'a> {
    pub attempt: AttemptId,
    pub user_tasks: &'a UserTasks,
    pub site: &'a Site,
    /// How long a check may take that has no limit of its own.
    pub timeout: Duration,
    /// What its commands run in.
    pub fence: Option<&'a Fence>,
    /// Where people watch their output.
    pub live: Option<&'a LiveOutput>,
}

impl CheckGround<'_> {
    fn note(&self, line: &str) {
        if let Some(live) = self.live {
            live.note(line);
        }
    }
}

impl Checks {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &CheckSpec> {
        self.0.iter()
    }

    /// These, and after them the commands that verify a task.
    pub fn verifying<'a>(&self, tasks: impl IntoIterator<Item = &'a Task>) -> Self {
        let commands = tasks.into_iter().flat_map(verification);
        Self(self.0.iter().cloned().chain(commands).collect())
    }

    /// The user tasks among them.
    pub fn user_tasks(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|check| match &check.deed {
            Deed::UserTask(name) => Some(name.as_str()),
            Deed::Command(_) => None,
        })
    }

    /// Those among them that failed.
    pub fn failed_in(&self, results: &[CheckResult]) -> Self {
        let failed = |check: &&CheckSpec| {
            results.iter().any(|result| result.name == check.name && result.exit_code != 0)
        };
        Self(self.0.iter().filter(failed).cloned().collect())
    }

    /// Runs all of them, one after the other, in the worktree. None when somebody asked for a stop meanwhile.
    pub async fn run_all(
        &self,
        ground: &CheckGround<'_>,
        stop: &mut watch::Receiver<bool>,
    ) -> Result<Option<Vec<CheckResult>>, UserTaskError> {
        let mut results = Vec::new();
        for check in &self.0 {
            ground.note(&format!("== {} ==", check.name));
            let Some(permit) = ground.user_tasks.check_permit(stop).await? else { return Ok(None) };
            let limit = check.timeout.unwrap_or(ground.timeout);
            let ended = match &check.deed {
                // On the heap: each holds the state of a process.
                Deed::Command(command) => Box::pin(run_command(ground, command, limit, stop, &permit)).await,
                Deed::UserTask(name) => Box::pin(run_user_task(ground, name, limit, stop, &permit)).await?,
            };
            let Some((exit_code, output)) = ended else { return Ok(None) };
            ground.note(&format!("== {}: exit code {exit_code} ==", check.name));
            let output_tail = redact(&output).into_owned();
            results.push(CheckResult::new(check.name.clone(), exit_code, output_tail));
        }
        Ok(Some(results))
    }
}

/// The exit code and what was printed. None when it was stopped.
type Ended = Option<(i32, String)>;

async fn run_command(
    ground: &CheckGround<'_>,
    command: &[String],
    limit: Duration,
    stop: &mut watch::Receiver<bool>,
    permit: &HeavyPermit,
) -> Ended {
    let mut environment = AgentEnvironment::allowed(std::env::vars_os(), &[]);
    for (name, value) in ground.site.values.clone().into_iter().chain(permit.marks()) {
        environment.set(&name, value);
    }
    let errand = OneShot {
        attempt: ground.attempt,
        command: command.to_vec(),
        folder: ground.site.folder.clone(),
        environment,
        fence: ground.fence.cloned(),
        input: String::new(),
        timeout: limit,
        memory_bytes_max: ground.site.memory_bytes_max,
        output_bytes_max: OUTPUT_BYTES_MAX,
    };
    let returned = one_shot::run_watched(&errand, stop, ground.live).await;
    let output = returned.output;
    Some(match returned.end {
        OneShotEnd::Stopped => return None,
        OneShotEnd::Exited(ProcessExit::Code(code)) => (code, output),
        OneShotEnd::Exited(ProcessExit::Signal(signal)) => {
            (NO_EXIT_CODE, format!("{output}It was ended by signal {signal}."))
        }
        OneShotEnd::Unseen => (NO_EXIT_CODE, format!("{output}Its end was not seen.")),
        OneShotEnd::TimedOut => {
            (NO_EXIT_CODE, format!("{output}It did not end within {}.", pluralize(limit.as_secs(), "second")))
        }
        OneShotEnd::OutOfMemory(excess) => (NO_EXIT_CODE, format!("{output}{}", out_of_memory(&excess))),
        OneShotEnd::NotStarted(why) => (NO_EXIT_CODE, why),
    })
}

/// One that cannot run at all (the file is gone, or was not trusted) says nothing about the work, and is an error.
async fn run_user_task(
    ground: &CheckGround<'_>,
    name: &str,
    limit: Duration,
    stop: &mut watch::Receiver<bool>,
    permit: &HeavyPermit,
) -> Result<Ended, UserTaskError> {
    let (tasks, site) = (ground.user_tasks, ground.site);
    let ran = tasks.run_permitted(site, name, limit, stop, ground.live, permit).await?;
    Ok(ran.map(|ran| {
        let mut kept = TextExcerpt::new(OUTPUT_BYTES_MAX);
        kept.push(&ran.printed());
        (ran.exit_code, kept.into_text())
    }))
}
