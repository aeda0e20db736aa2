//! The acceptor: merges accepted work into its project's branch, then calls the task done.
//!
//! Merging first and recording second is safe in this order only: a crash in between leaves work that is merged
//! already, and accepting again finds it so.

use std::fmt::Write;

use baton_core::actor::Actor;
use baton_core::command::Command;
use baton_core::git_name::BranchName;
use baton_core::id::TaskId;
use baton_core::task::Task;
use baton_core::text::NonBlank;
use baton_store::Store;

use crate::error::EngineError;
use crate::workshop::Workshop;
use crate::worktree::{MergeSpec, Merged};

/// What became of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accepted {
    Done {
        merged: Option<Merged>,
    },
    /// The work is back with its agent, or a question waits; nothing was merged and nothing is lost.
    Conflicted {
        files: Vec<String>,
    },
}

pub struct Acceptor<S> {
    shop: Workshop<S>,
}

impl<S: Store> Acceptor<S> {
    pub fn new(shop: Workshop<S>) -> Self {
        Self { shop }
    }

    pub async fn accept(&self, id: TaskId, force: bool, actor: Actor) -> Result<Accepted, EngineError> {
        let task = self.shop.desk.task(id).await?.value;
        // Core is asked before git is touched: what may not be accepted is not merged.
        let context = self.shop.desk.context(actor.clone()).await?;
        task.apply(Command::Accept { force }, &context)?;
        let merged = self.merge(&task).await?;
        if let Some(Merged::Conflict { files }) = &merged {
            let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            let into = self.shop.repository(&task).await?.1;
            let mut text =
                format!("These files conflict with the branch {into}, which it is to be merged into:\n");
            for file in &files {
                let _ = writeln!(text, "- {file}");
            }
            let detail = NonBlank::or(&text, task.spec().title.clone());
            self.shop.desk.apply(id, Command::ReportConflict { detail }, Actor::Baton).await?;
            return Ok(Accepted::Conflicted { files });
        }
        self.shop.desk.apply(id, Command::Accept { force }, actor).await?;
        Ok(Accepted::Done { merged })
    }

    /// Nothing to merge is fine: a forced or changeless task may have no branch.
    async fn merge(&self, task: &Task) -> Result<Option<Merged>, EngineError> {
        let (worktrees, into) = self.shop.repository(task).await?;
        let branch = BranchName::of_task(task.id());
        if worktrees.repository().tip(&branch).await?.is_none() {
            return Ok(None);
        }
        let message = format!("Merge {}: {}", task.id(), task.spec().title);
        Ok(Some(worktrees.merge(&MergeSpec { branch, into, message }).await?))
    }
}
