//! The worktree pool: prepares worktrees in advance, so that agents start faster.

use std::collections::BTreeSet;
use std::path::PathBuf;

use baton_core::base::git_name::BranchName;

use crate::base::error::EngineError;
use crate::base::supervisor::{Item, ItemKind, Items, Round, Service, ServiceError, ServiceName};
use crate::git::Worktrees;
use crate::services::workspace::Workspace;

pub struct WorktreePool {
    workspace: Workspace,
    items: Items,
    /// The repositories whose spares were checked since the start; their spares are complete.
    seen: BTreeSet<PathBuf>,
    is_begun: bool,
}

impl WorktreePool {
    pub fn new(workspace: Workspace) -> Self {
        let items = workspace.items(ServiceName::WorktreePool);
        Self { workspace, items, seen: BTreeSet::new(), is_begun: false }
    }

    /// Creates missing worktrees, and removes what there is too much. Does not run git if neither is the case.
    async fn stock(&mut self, worktrees: &Worktrees, branch: &BranchName) -> Result<(), EngineError> {
        let projects = &self.workspace.projects;
        let settings = projects.settings_in(&projects.people_folder(worktrees))?;
        // No more agents than run here can start at once.
        let spares = settings.worktree.spares.min(self.workspace.settings.max_agents);
        let wanted = usize::try_from(spares).unwrap_or(0);
        let repository = worktrees.repository().git_dir().to_owned();
        let is_seen = wanted == 0 || self.seen.contains(&repository);
        if !is_seen || worktrees.spares_standing() != wanted {
            worktrees.stock(branch, wanted).await?;
            self.seen.insert(repository);
        }
        Ok(())
    }
}

impl Service for WorktreePool {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        if !self.is_begun {
            // Before the first task, the repository for work without a project. Errors are reported by the first task.
            let _ = self.workspace.projects.home_repository().await;
            self.is_begun = true;
        }
        let items = self.items.clone();
        for (worktrees, branch) in self.workspace.projects.repositories.in_use() {
            let item = Item::new(ItemKind::Worktree, &worktrees.repository().git_dir().display());
            items.attempt(&item, self.stock(&worktrees, &branch)).await?;
        }
        Ok(items.end_round())
    }
}
