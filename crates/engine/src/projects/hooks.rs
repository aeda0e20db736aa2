//! Runs the hooks of a project: commands of its people around attempts, landing, questions and worktrees.

use std::path::{Path, PathBuf};

use baton_agents::driver::run_result::ProcessExit;
use baton_agents::process::environment::AgentEnvironment;
use baton_agents::process::one_shot::{self, OneShot, OneShotEnd};
use baton_core::base::explanation::Explanation;
use baton_core::base::git_name::BranchName;
use baton_core::base::id::AttemptId;
use baton_core::base::redact::redact;
use baton_core::task::Task;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::base::error::{EngineError, ErrorKind, FolderError};
use crate::base::ids::random_bits;
use crate::base::refusals::failure;
use crate::git::Worktrees;
use crate::projects::Projects;
use crate::settings::hooks::{HookName, HookRights};

/// How much of a hook's output is kept.
const OUTPUT_BYTES_MAX: usize = 8_000;

/// A hook that failed, and what it printed.
#[derive(Debug, thiserror::Error)]
#[error("the hook {hook} {reason}\n{output}")]
pub struct HookFailed {
    pub hook: HookName,
    reason: String,
    output: String,
}

impl HookFailed {
    pub const EXPLAINED: Explanation = Explanation {
        code: "hook_failed",
        means: "A command in [hooks] of the project's settings failed, so what it runs before did not happen.",
        cause: "It ended with another code than 0, took longer than `hooks.seconds`, or could not be started; its output is in the message.",
        next: "Repair it, or what it found, and try again.",
    };
}

failure! {
    HookFailed { |it|
        kind: ErrorKind::Conflict,
        hint: format!("see hooks.{} in .agent/baton.toml", it.hook),
        explained: &Self::EXPLAINED,
    }
}

/// What a hook is about.
pub(crate) struct HookCall<'a> {
    pub name: HookName,
    pub task: &'a Task,
    pub attempt: Option<AttemptId>,
    /// The attempt's worktree, if it is about one.
    pub folder: Option<&'a Path>,
    /// Further keys of the JSON object.
    pub more: Value,
}

impl Projects {
    /// Runs the hook, if the project has it.
    pub(crate) async fn run_hook(&self, call: HookCall<'_>) -> Result<(), EngineError> {
        let settings = self.settings_to_run(call.task).await?;
        let Some(command) = settings.hooks.command(call.name) else { return Ok(()) };
        let worktrees = self.worktrees_of(call.task.id()).await?;
        let rights = settings.hooks.run_as;
        // Where nothing of the project is at hand, a fenced command gets a folder of its own.
        let empty = match (call.folder, rights) {
            (None, HookRights::Fence) => Some(
                tempfile::tempdir()
                    .map_err(|error| FolderError { path: std::env::temp_dir(), detail: error.to_string() })?,
            ),
            _ => None,
        };
        let folder: PathBuf = match (call.folder, &empty) {
            (Some(folder), _) => folder.to_owned(),
            (None, Some(empty)) => empty.path().to_owned(),
            (None, None) => self.people_folder(&worktrees),
        };
        let command = match rights {
            HookRights::Fence => command.to_vec(),
            HookRights::Person => of_person(command, &self.people_folder(&worktrees)),
        };
        let fence = match rights {
            HookRights::Fence => Some(self.with_settings(&settings).check_fence(&worktrees, &folder)?),
            HookRights::Person => None,
        };
        let mut environment = AgentEnvironment::allowed(std::env::vars_os(), &[]);
        environment.set("BATON_HOOK", call.name.as_str());
        environment.set("BATON_TASK_ID", call.task.id().to_string());
        for (name, value) in self.values.held(call.task.id())? {
            environment.set(&name, value);
        }
        let errand = OneShot {
            // Identifies its process tree; no attempt has this id.
            attempt: AttemptId::from_bits(random_bits()),
            command,
            environment,
            fence: fence.as_ref().map(|fence| fence.fence.clone()),
            input: input(&call, &folder, &worktrees).to_string(),
            folder,
            timeout: settings.hooks.timeout(),
            memory_bytes_max: self.command_memory_bytes(),
            output_bytes_max: OUTPUT_BYTES_MAX,
        };
        let (_stop, mut never) = watch::channel(false);
        let ran = one_shot::run(&errand, &mut never).await;
        let reason = match ran.end {
            OneShotEnd::Exited(ProcessExit::Code(0)) => return Ok(()),
            OneShotEnd::Exited(exit) => exit.to_string(),
            OneShotEnd::TimedOut => format!("did not end within {} s", settings.hooks.seconds),
            OneShotEnd::OutOfMemory(excess) => excess.to_string(),
            OneShotEnd::NotStarted(why) => format!("could not be started: {why}"),
            OneShotEnd::Unseen | OneShotEnd::Stopped => "could not be ended".to_owned(),
        };
        let output = redact(ran.output.trim()).into_owned();
        Err(HookFailed { hook: call.name, reason, output }.into())
    }

    /// The same for a hook after which nothing follows: a failure is only told.
    pub(crate) async fn run_last_hook(&self, call: HookCall<'_>) {
        let (name, task) = (call.name, call.task.id());
        if let Err(error) = self.run_hook(call).await {
            tracing::warn!(hook = %name, %task, %error, "a hook failed");
            (self.announce)(&format!("{task}: {error}"));
        }
    }
}

/// I21: a program that is named by a relative path is the one in the person's checkout. The worktree's was written by an
/// agent, and would run with the person's rights.
fn of_person(command: &[String], checkout: &Path) -> Vec<String> {
    let mut command = command.to_vec();
    if let Some(program) = command.first_mut().filter(|program| program.contains('/')) {
        // An absolute path stays as it is.
        *program = checkout.join(&*program).to_string_lossy().into_owned();
    }
    command
}

fn input(call: &HookCall<'_>, folder: &Path, worktrees: &Worktrees) -> Value {
    let spec = call.task.spec();
    let mut input = json!({
        "hook": call.name.as_str(),
        "task_id": spec.id,
        "title": spec.title,
        "session_id": spec.session_id,
        "project_id": spec.project_id,
        "attempt_id": call.attempt,
        "branch": BranchName::for_task(spec.id),
        "folder": folder,
        "repository": worktrees.repository().folder(),
    });
    if let (Some(input), Some(more)) = (input.as_object_mut(), call.more.as_object()) {
        input.extend(more.clone());
    }
    input
}
