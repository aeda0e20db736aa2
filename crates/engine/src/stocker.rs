//! The stocker: keeps a worktree ready where work happens, so that the next agent starts at once.

use baton_store::Store;

use crate::error::EngineError;
use crate::workshop::Workshop;

pub struct Stocker<S> {
    shop: Workshop<S>,
}

impl<S: Store> Stocker<S> {
    pub fn new(shop: Workshop<S>) -> Self {
        Self { shop }
    }

    /// Makes the worktrees that are missing; returns how many it made.
    pub async fn run_once(&self) -> Result<usize, EngineError> {
        let wanted = usize::try_from(self.shop.settings.worktree.spares).unwrap_or(0);
        let mut made = 0;
        if wanted > 0 {
            for (worktrees, branch) in self.shop.repositories.in_use() {
                made += worktrees.stock(&branch, wanted).await?;
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
