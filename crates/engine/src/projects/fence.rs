//! What is fenced of the commands that people wrote and that run over an agent's work: checks, user tasks, set-up (I21).

use std::fs;
use std::path::{Path, PathBuf};

use baton_agents::fence::{FencePolicy, FenceRequest};
use baton_agents::process::environment::AgentEnvironment;
use baton_core::base::text::Role;
use baton_core::task::fence::FenceMode;

use crate::base::error::EngineError;
use crate::base::run_fence::RunFence;
use crate::git::Worktrees;
use crate::projects::Projects;
use crate::settings::AgentSettings;

impl Projects {
    /// For checks, which run what an agent wrote. They reach no tools.
    pub(crate) fn check_fence(&self, worktrees: &Worktrees, folder: &Path) -> Result<RunFence, EngineError> {
        let policy = |home: &Path| self.settings.check_fence(home);
        RunFence::for_commands(self.command_fence(policy, worktrees, folder))
    }

    /// For user tasks as checks and as set-up; none where nothing is fenced.
    pub(crate) fn check_task_fence(&self, worktrees: &Worktrees, folder: &Path) -> Option<FenceRequest> {
        let policy = |home: &Path| self.settings.check_fence(home);
        is_on(self.command_fence(policy, worktrees, folder))
    }

    /// For user tasks that an agent runs: its own fence, without its own folders.
    pub(crate) fn agent_task_fence(
        &self,
        role: &Role,
        agent: &AgentSettings,
        worktrees: &Worktrees,
        folder: &Path,
    ) -> Option<FenceRequest> {
        let policy = |home: &Path| self.settings.fence_policy(role, agent, home);
        is_on(self.command_fence(policy, worktrees, folder))
    }

    fn command_fence(
        &self,
        policy: impl FnOnce(&Path) -> FencePolicy,
        worktrees: &Worktrees,
        folder: &Path,
    ) -> FenceRequest {
        let environment = AgentEnvironment::allowed(std::env::vars_os(), &[]);
        let home = PathBuf::from(environment.get("HOME").unwrap_or_default());
        let search_path = std::env::split_paths(environment.get("PATH").unwrap_or_default()).collect();
        FenceRequest {
            policy: policy(&home),
            clone: folder.to_owned(),
            objects: object_folders(worktrees.repository().git_dir()),
            home,
            hide: vec![self.place.root.clone(), self.place.state_dir.clone()],
            search_path,
            ..FenceRequest::default()
        }
    }
}

fn is_on(request: FenceRequest) -> Option<FenceRequest> {
    (request.policy.mode != FenceMode::Off).then_some(request)
}

/// The repository's objects, and those that it borrows itself.
pub(crate) fn object_folders(git_dir: &Path) -> Vec<PathBuf> {
    let objects = git_dir.join("objects");
    let borrowed = fs::read_to_string(objects.join("info/alternates")).unwrap_or_default();
    let borrowed = borrowed.lines().map(|line| objects.join(line)).filter(|path| path.is_dir());
    std::iter::once(objects.clone())
        .chain(borrowed.collect::<Vec<_>>())
        .filter(|path| path.is_dir())
        .collect()
}
