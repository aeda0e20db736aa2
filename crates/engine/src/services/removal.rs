//! What runs before a worktree is removed: the project's hook, and the user task that takes down what its set-up has built.

use std::time::Duration;

use baton_core::base::id::{AttemptId, TaskId};
use baton_core::base::redact::redact;
use serde_json::json;
use tokio::sync::watch;

use crate::attempt::error::AttemptError;
use crate::base::error::EngineError;
use crate::git::Worktrees;
use crate::projects::hooks::HookCall;
use crate::services::workspace::Workspace;
use crate::settings::hooks::HookName;

/// Taking down a database is quick; what takes longer hangs.
const CLEANUP_TIMEOUT: Duration = Duration::from_mins(5);

impl Workspace {
    /// Runs both in the worktree, while it stands. A failure keeps it.
    pub(super) async fn prepare_removal(
        &self,
        worktrees: &Worktrees,
        task: TaskId,
        attempt: AttemptId,
    ) -> Result<(), EngineError> {
        let Some(folder) = worktrees.standing_folder(attempt).filter(|folder| folder.is_dir()) else {
            return Ok(());
        };
        let task = self.tasks.task(task).await?.value;
        // People may still want to take something out of it.
        let call = HookCall {
            name: HookName::BeforeRemove,
            task: &task,
            attempt: Some(attempt),
            folder: Some(&folder),
            more: json!({}),
        };
        self.projects.run_hook(call).await?;
        let settings = self.projects.settings_to_run(&task).await?;
        let Some(name) = &settings.worktree.cleanup else { return Ok(()) };
        let projects = self.projects.with_settings(&settings);
        let agents = self.agents.with_settings(&settings).with_values(projects.values.held(task.id())?);
        let mut site = agents.site(&projects.people_folder(worktrees), &folder, attempt, &[]);
        site.fence = projects.check_task_fence(worktrees, &folder);
        site.memory_bytes_max = projects.command_memory_bytes();
        let (_alive, mut never) = watch::channel(false);
        let ran = agents.user_tasks.run_unless_stopped(&site, name, CLEANUP_TIMEOUT, &mut never).await?;
        match ran {
            Some(ran) if !ran.succeeded => {
                let output = redact(&agents.user_tasks.told(&ran)).into_owned();
                Err(AttemptError::CleanupFailed { output }.into())
            }
            Some(_) | None => Ok(()),
        }
    }
}
