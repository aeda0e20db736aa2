//! The stocker: keeps a worktree ready where work happens, so that the next agent starts at once.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::error::EngineError;
use crate::workshop::Workshop;

pub struct Stocker {
    shop: Workshop,
    /// The repositories whose spares were looked at since the start. What stands there now was made by us, and whole.
    seen: BTreeSet<PathBuf>,
}

impl Stocker {
    pub fn new(shop: Workshop) -> Self {
        Self { shop, seen: BTreeSet::new() }
    }

    /// Makes the worktrees that are missing; returns how many it made. It is called after every change, so where
    /// nothing is missing it costs no call of git.
    pub async fn run_once(&mut self) -> Result<usize, EngineError> {
        let wanted = usize::try_from(self.shop.settings.worktree.spares).unwrap_or(0);
        let mut made = 0;
        if wanted > 0 {
            for (worktrees, branch) in self.shop.repositories.in_use() {
                let repository = worktrees.repository().git_dir().to_owned();
                if !self.seen.contains(&repository) || worktrees.spares_standing() < wanted {
                    made += worktrees.stock(&branch, wanted).await?;
                    self.seen.insert(repository);
                }
            }
        }
        Ok(made)
    }

    /// Before the first task: the repository of this place, where there is one with a commit to start from.
    pub async fn begin(&self) {
        // Without one the first task says what is wrong.
        let _ = self.shop.home_repository().await;
    }
}
