//! The acceptor: merges accepted work into its project's branch, then calls the task done. With checks, the lane of the branch
//! does that; only what a person forces is merged here.
//!
//! Merging first and recording second is safe in this order only: a crash in between leaves work that is merged
//! already, and accepting again finds it so.

use crate::landing::error::LandingError;
use std::fmt::Write;

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::TaskId;
use baton_core::base::remote_url::RemoteUrl;
use baton_core::base::text::NonBlank;
use baton_core::landing::lane::lane_entry;
use baton_core::people::actor::Actor;
use baton_core::records::project::Project;
use baton_core::task::Task;
use baton_core::task::not_landed::NotLanded;
use baton_core::transition::command::Command;
use serde_json::json;
use tracing::field::Empty;
use tracing::{Instrument, info_span};

use crate::base::error::EngineError;
use crate::cluster::merge_lock::MergeLock;
use crate::cluster::node::Node;
use crate::git::{GitError, Merged, Pushed, Worktrees};
use crate::landing::board::LandingBoard;
use crate::landing::foundations;
use crate::landing::lanes::{self, LaneKey};
use crate::landing::merging::{force_note, merged, tip_of};
use crate::projects::Projects;
use crate::projects::hooks::HookCall;
use crate::projects::source::{CodeSource, slug};
use crate::settings::hooks::HookName;
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
    /// The checks decide: it is in the lane of its branch.
    Waiting { landing: Landing },
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
    pub(super) projects: Projects,
    node: Node,
    board: LandingBoard,
}

impl Acceptor {
    pub fn new(projects: Projects, node: Node, board: LandingBoard) -> Self {
        Self { tasks: projects.tasks.clone(), projects, node, board }
    }

    pub async fn accept(&self, id: TaskId, force: bool, actor: Actor) -> Result<Accepted, EngineError> {
        let span = info_span!("landing", task = %id, force, outcome = Empty);
        let accepted = self.land(id, force, actor).instrument(span.clone()).await;
        let outcome = match &accepted {
            Ok(Accepted::Done { .. }) => "done",
            Ok(Accepted::Waiting { .. }) => "waiting",
            Ok(Accepted::Conflicted { .. }) => "conflicted",
            Err(_) => "failed",
        };
        span.record("outcome", outcome);
        accepted
    }

    async fn land(&self, id: TaskId, force: bool, actor: Actor) -> Result<Accepted, EngineError> {
        let task = self.tasks.task(id).await?.value;
        let project = self.projects.project(&task).await?;
        let source = self.projects.source(project.as_ref());
        let branch = project.as_ref().map_or_else(BranchName::integration, Project::branch);
        let landing = Landing { branch, remote: source.remote().cloned() };
        // Accepted before: it waits already.
        if !force && lane_entry(&task).is_some() {
            return Ok(Accepted::Waiting { landing });
        }
        // Merging it would merge what a person refused.
        let refused = self.projects.refused_below(&task).await?;
        if let Some(on) = refused.filter(|_| !force) {
            return Err(LandingError::OnRefused { task: id, on }.into());
        }
        let settings = self.projects.settings_to_work_by(project.as_ref()).await?;
        let is_checked = self.has_branch(&task).await?
            && self.projects.is_checked(&settings, project.as_ref(), &task).await?;
        let command = self.way_in(&task, is_checked, refused.is_some(), force).await?;
        // Core is asked before git is touched: what may not be accepted is not merged.
        let context = self.tasks.context(actor.clone()).await?;
        task.apply(command.clone(), &context)?;
        let hook = HookCall {
            name: HookName::BeforeLanding,
            task: &task,
            attempt: None,
            folder: None,
            more: json!({ "into": landing.branch }),
        };
        self.projects.run_hook(hook).await?;
        if let Command::EnterLane { .. } = command {
            self.check_can_land(&task, &source).await?;
            self.tasks.apply(id, command, actor).await?;
            return Ok(Accepted::Waiting { landing });
        }
        if let Some(found) = foundations::unmet(&self.projects, &task).await?.first() {
            return Err(LandingError::rests_on(id, *found).into());
        }
        let forced = match &command {
            Command::ForceLand { withdrawn, .. } => Some(force_note(&actor, withdrawn)),
            _ => None,
        };
        let merged = self.merge(&task, &source, forced.as_deref()).await?;
        match &merged {
            Some(Merged::Conflict { files }) => {
                let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
                let mut text = format!(
                    "These files conflict with the branch {}, which it is to be merged into:\n",
                    landing.branch
                );
                for file in &files {
                    let _ = writeln!(text, "- {file}");
                }
                let reason = NotLanded::Conflict {
                    into: landing.branch,
                    files: files.clone(),
                    met: Vec::new(),
                    met_more: 0,
                    met_commits: Vec::new(),
                };
                self.send_back(&task, &text, reason).await?;
                return Ok(Accepted::Conflicted { files });
            }
            Some(Merged::Moved { verified, tip }) => {
                // What is on the branch now was neither measured nor checked: it goes back to be both.
                let text = format!(
                    "The branch {} has moved since it was verified: it was at {verified} and is at {tip}.\n",
                    BranchName::for_task(id)
                );
                let reason = NotLanded::Moved { verified: verified.clone(), tip: tip.clone() };
                self.send_back(&task, &text, reason).await?;
                return Err(LandingError::Moved { task: id }.into());
            }
            None | Some(Merged::Already { .. } | Merged::FastForward { .. } | Merged::MergeCommit { .. }) => {
            }
        }
        let command = match command {
            Command::ForceLand { withdrawn, .. } => {
                Command::ForceLand { commit: merged.as_ref().and_then(tip_of), withdrawn }
            }
            other => other,
        };
        self.tasks.apply(id, command, actor).await?;
        self.look_at_lane(LaneKey {
            repository: self.projects.folder_of(&source),
            branch: landing.branch.clone(),
        })
        .await?;
        if merged.is_some() {
            let commit = merged.as_ref().and_then(tip_of);
            let more = json!({ "into": landing.branch, "commit": commit });
            let hook =
                HookCall { name: HookName::AfterLanding, task: &task, attempt: None, folder: None, more };
            self.projects.run_last_hook(hook).await;
        }
        Ok(Accepted::Done { landing: merged.map(|_| landing) })
    }

    /// What kept the lane may be over, now that this work is merged past it.
    async fn look_at_lane(&self, lane: LaneKey) -> Result<(), EngineError> {
        if !self.board.is_stopped(&lane) {
            return Ok(());
        }
        if lanes::waiting(&self.projects, &lane).await?.is_empty() {
            self.board.note_idle(&lane);
        } else {
            self.board.request_look(&lane);
        }
        Ok(())
    }

    /// Nothing to merge is fine: a forced or changeless task may have no branch.
    pub(super) async fn has_branch(&self, task: &Task) -> Result<bool, EngineError> {
        let (worktrees, _) = self.projects.repository_as_it_is(task).await?;
        Ok(worktrees.repository().tip(&BranchName::for_task(task.id())).await?.is_some())
    }

    /// What would keep this task from being accepted, apart from its state: it contains work that a person refused, its branch
    /// cannot be moved, its work has not arrived, it would bring the work of another task along, or nobody has allowed what the
    /// settings run.
    pub async fn check_can_accept(&self, task: &Task, force: bool) -> Result<(), EngineError> {
        let project = self.projects.project(task).await?;
        if !force
            && lane_entry(task).is_none()
            && let Some(on) = self.projects.refused_below(task).await?
        {
            return Err(LandingError::OnRefused { task: task.id(), on }.into());
        }
        let settings = self.projects.settings_to_run(task).await?;
        if !self.has_branch(task).await? {
            return Ok(());
        }
        let is_checked = self.projects.is_checked(&settings, project.as_ref(), task).await?;
        if (!is_checked || force)
            && let Some(found) = foundations::unmet(&self.projects, task).await?.first()
        {
            return Err(LandingError::rests_on(task.id(), *found).into());
        }
        self.check_can_land(task, &self.projects.source(project.as_ref())).await
    }

    /// What would stop the whole lane is reported to the person who accepts.
    async fn check_can_land(&self, task: &Task, source: &CodeSource) -> Result<(), EngineError> {
        let unmet = foundations::unmet(&self.projects, task).await?;
        if let Some(gone) = unmet.iter().find(|found| found.is_cancelled) {
            return Err(LandingError::RestsOnCancelled { task: task.id(), on: gone.task }.into());
        }
        let worktrees = self.projects.open_source(source).await?;
        let project = self.projects.project(task).await?;
        let into = project.as_ref().map_or_else(BranchName::integration, Project::branch);
        match source {
            CodeSource::Here(_) => Ok(worktrees.check_free(&into).await?),
            CodeSource::Remote(_) => self.check_arrived(task, &worktrees).await,
        }
    }

    /// Work that cannot be merged: out of its lane, or from where it waited to be accepted.
    async fn send_back(&self, task: &Task, text: &str, reason: NotLanded) -> Result<(), EngineError> {
        let command = if lane_entry(task).is_some() {
            Command::SendBack { reason: Box::new(reason) }
        } else {
            Command::ReportConflict { detail: NonBlank::or(text, task.spec().title.clone()) }
        };
        self.tasks.apply(task.id(), command, Actor::Baton).await.map(drop)
    }

    async fn merge(
        &self,
        task: &Task,
        source: &CodeSource,
        forced: Option<&str>,
    ) -> Result<Option<Merged>, EngineError> {
        match source {
            CodeSource::Here(_) => {
                let (worktrees, into) = self.projects.repository(task).await?;
                merged(task, &worktrees, into, forced).await
            }
            CodeSource::Remote(remote) => {
                let name = format!("merge:{}", slug(remote));
                let lock = MergeLock::take(&self.tasks.store, &self.node, name).await?;
                let merged = self.merge_and_push(task, forced).await;
                lock.end(&self.tasks.store).await?;
                merged
            }
        }
    }

    /// On one machine at a time; and if that ever failed, the remote takes no step but forwards.
    async fn merge_and_push(&self, task: &Task, forced: Option<&str>) -> Result<Option<Merged>, EngineError> {
        for _ in 0..TRIES_MAX {
            let (worktrees, into) = self.projects.repository_as_shared(task).await?;
            self.check_arrived(task, &worktrees).await?;
            let merged = merged(task, &worktrees, into.clone(), forced).await?;
            match &merged {
                None | Some(Merged::Already { .. } | Merged::Conflict { .. } | Merged::Moved { .. }) => {
                    return Ok(merged);
                }
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
        let Some(head) = verified_head(task) else { return Ok(()) };
        if worktrees.holds(&BranchName::for_task(task.id()), head).await? {
            return Ok(());
        }
        let last = self.tasks.store.attempts(task.id()).await?.pop();
        let worker =
            last.and_then(|record| record.attempt.worker).unwrap_or_else(|| "its machine".to_owned());
        Err(LandingError::NotPushed { task: task.id(), worker }.into())
    }
}

/// The commit that was measured and checked at the end of the last attempt.
pub(crate) fn verified_head(task: &Task) -> Option<&CommitId> {
    task.ledger().last_end.as_ref()?.verified.head.as_ref()
}
