//! The acceptor: merges accepted work into its project's branch, then calls the task done.
//!
//! Merging first and recording second is safe in this order only: a crash in between leaves work that is merged
//! already, and accepting again finds it so.

use crate::landing::error::LandingError;
use std::fmt::Write;

use baton_core::base::git_name::BranchName;
use baton_core::base::id::TaskId;
use baton_core::base::remote_url::RemoteUrl;
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::records::project::Project;
use baton_core::task::Task;
use baton_core::transition::command::Command;
use tracing::field::Empty;
use tracing::{Instrument, info_span};

use crate::base::error::EngineError;
use crate::cluster::merge_lock::MergeLock;
use crate::cluster::node::Node;
use crate::git::{GitError, MergeSpec, Merged, Pushed, Worktrees};
use crate::projects::Projects;
use crate::projects::source::{Source, slug};
use crate::tasks::service::TaskService;

/// People push to the same branch now and then; more often than this in a row they do not.
const TRIES_MAX: u32 = 5;

/// What became of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accepted {
    Done {
        /// Where the work is now, when there was any.
        landing: Option<Landing>,
    },
    /// The work is back with its agent, or a question waits; nothing was merged and nothing is lost.
    Conflicted { files: Vec<String> },
}

/// Where accepted work is, for people to take it over from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landing {
    pub branch: BranchName,
    /// The remote the branch was pushed to; without one it is in the repository of this machine.
    pub remote: Option<RemoteUrl>,
}

pub struct Acceptor {
    tasks: TaskService,
    projects: Projects,
    node: Node,
}

impl Acceptor {
    pub fn new(projects: Projects, node: Node) -> Self {
        Self { tasks: projects.tasks.clone(), projects, node }
    }

    pub async fn accept(&self, id: TaskId, force: bool, actor: Actor) -> Result<Accepted, EngineError> {
        let span = info_span!("landing", task = %id, force, outcome = Empty);
        let accepted = self.land(id, force, actor).instrument(span.clone()).await;
        let outcome = match &accepted {
            Ok(Accepted::Done { .. }) => "done",
            Ok(Accepted::Conflicted { .. }) => "conflicted",
            Err(_) => "failed",
        };
        span.record("outcome", outcome);
        accepted
    }

    async fn land(&self, id: TaskId, force: bool, actor: Actor) -> Result<Accepted, EngineError> {
        let task = self.tasks.task(id).await?.value;
        // Core is asked before git is touched: what may not be accepted is not merged.
        let context = self.tasks.context(actor.clone()).await?;
        task.apply(Command::Accept { force }, &context)?;
        let project = self.projects.project(&task).await?;
        let source = self.projects.source(project.as_ref());
        let into = project.as_ref().map_or_else(BranchName::integration, Project::branch);
        let merged = self.merge(&task, &source).await?;
        if let Some(Merged::Conflict { files }) = &merged {
            let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            let mut text =
                format!("These files conflict with the branch {into}, which it is to be merged into:\n");
            for file in &files {
                let _ = writeln!(text, "- {file}");
            }
            let detail = NonBlank::or(&text, task.spec().title.clone());
            self.tasks.apply(id, Command::ReportConflict { detail }, Actor::Baton).await?;
            return Ok(Accepted::Conflicted { files });
        }
        self.tasks.apply(id, Command::Accept { force }, actor).await?;
        let landing = merged.map(|_| Landing { branch: into, remote: source.remote().cloned() });
        Ok(Accepted::Done { landing })
    }

    async fn merge(&self, task: &Task, source: &Source) -> Result<Option<Merged>, EngineError> {
        match source {
            Source::Here(_) => {
                let (worktrees, into) = self.projects.repository(task).await?;
                merged(task, &worktrees, into).await
            }
            Source::Remote(remote) => {
                let name = format!("merge:{}", slug(remote));
                let lock = MergeLock::take(&self.tasks.store, &self.node, name).await?;
                let merged = self.merge_and_push(task).await;
                lock.end(&self.tasks.store).await?;
                merged
            }
        }
    }

    /// On one machine at a time; and if that ever failed, the remote takes no step but forwards.
    async fn merge_and_push(&self, task: &Task) -> Result<Option<Merged>, EngineError> {
        for _ in 0..TRIES_MAX {
            let (worktrees, into) = self.projects.repository_as_shared(task).await?;
            self.check_arrived(task, &worktrees).await?;
            let merged = merged(task, &worktrees, into.clone()).await?;
            match &merged {
                None | Some(Merged::Already { .. } | Merged::Conflict { .. }) => return Ok(merged),
                Some(Merged::FastForward { .. } | Merged::MergeCommit { .. }) => {}
            }
            if worktrees.push_trunk(&into).await? == Pushed::Done {
                return Ok(merged);
            }
        }
        let branch = BranchName::for_task(task.id());
        let (_, into) = self.projects.repository(task).await?;
        Err(GitError::KeptMoving { branch, into }.into())
    }

    /// What the attempt came to may still be on its way: its machine could not reach the remote.
    async fn check_arrived(&self, task: &Task, worktrees: &Worktrees) -> Result<(), EngineError> {
        let Some(head) = task.ledger().last_end.as_ref().and_then(|end| end.verified.head.clone()) else {
            return Ok(());
        };
        if worktrees.holds(&BranchName::for_task(task.id()), &head).await? {
            return Ok(());
        }
        let last = self.tasks.store.attempts(task.id()).await?.pop();
        let worker =
            last.and_then(|record| record.attempt.worker).unwrap_or_else(|| "its machine".to_owned());
        Err(LandingError::NotPushed { task: task.id(), worker }.into())
    }
}

/// Nothing to merge is fine: a forced or changeless task may have no branch.
async fn merged(task: &Task, worktrees: &Worktrees, into: BranchName) -> Result<Option<Merged>, EngineError> {
    let branch = BranchName::for_task(task.id());
    if worktrees.repository().tip(&branch).await?.is_none() {
        return Ok(None);
    }
    let message = format!("Merge {}: {}", task.id(), task.spec().title);
    Ok(Some(worktrees.merge(&MergeSpec { branch, into, message }).await?))
}
