//! How a candidate leaves its lane: the branch moves to what passed, or the task goes back.

use baton_core::base::git_name::CommitId;
use baton_core::base::id::TaskId;
use baton_core::landing::evidence::LandingEvidence;
use baton_core::landing::lane::landing_delay;
use baton_core::landing::verdict::Verdict;
use baton_core::people::actor::Actor;
use baton_core::task::Task;
use baton_core::task::not_landed::NotLanded;
use baton_core::transition::command::Command;
use baton_core::transition::refusal::CommandRefusal;
use serde_json::json;

use crate::base::error::EngineError;
use crate::cluster::merge_lock::MergeLock;
use crate::git::Worktrees;
use crate::landing::batch::Batch;
use crate::landing::lander::Lander;
use crate::landing::lanes::{self, Lane};
use crate::landing::withdrawn;
use crate::projects::hooks::HookCall;
use crate::projects::source::{CodeSource, slug};
use crate::settings::hooks::HookName;

impl Lander {
    /// I18: the branch moves to the commit whose tree passed, if it still is where that was built on. False if it is not.
    pub(crate) async fn move_branch(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        prefix: usize,
        verdict: Option<Verdict>,
    ) -> Result<bool, EngineError> {
        let to = batch.commit(worktrees, prefix).await?;
        let moved = match &lane.source {
            CodeSource::Here(_) => self.advance(lane, worktrees, batch, prefix, &to).await?,
            CodeSource::Remote(remote) => {
                let name = format!("merge:{}", slug(remote));
                let lock = MergeLock::take(&self.tasks.store, &self.node, name).await?;
                let moved = self.advance(lane, worktrees, batch, prefix, &to).await;
                lock.end(&self.tasks.store).await?;
                moved?
            }
        };
        // A person has decided otherwise meanwhile: the lane is looked at again.
        let Some(has_moved) = moved else { return Ok(true) };
        if has_moved {
            for (candidate, _) in batch.members.iter().take(prefix) {
                let verified =
                    self.verified(lane, worktrees, batch, &candidate.task, verdict.as_ref()).await?;
                let evidence = verdict.as_ref().and_then(LandingEvidence::of_verdict).map(Box::new);
                let command = Command::Land { commit: to.clone(), verified, evidence };
                self.leave(candidate.task.id(), command).await?;
                let more = json!({ "into": lane.key.branch, "commit": to });
                let hook = HookCall {
                    name: HookName::AfterLanding,
                    task: &candidate.task,
                    attempt: None,
                    folder: None,
                    more,
                };
                self.projects.run_last_hook(hook).await;
            }
        }
        Ok(has_moved)
    }

    /// Moves the branch, unless what is to come in has changed: nothing may lie between that look and the move, and the last one was
    /// before the batch was built. None if it has; false if the branch is not where it was.
    async fn advance(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        prefix: usize,
        to: &CommitId,
    ) -> Result<Option<bool>, EngineError> {
        if !self.is_still_wanted(lane, worktrees, batch, prefix).await? {
            return Ok(None);
        }
        let (branch, from) = (&lane.key.branch, &batch.tip);
        Ok(Some(match &lane.source {
            CodeSource::Here(_) => worktrees.advance(branch, from, to).await?,
            CodeSource::Remote(_) => worktrees.advance_shared(branch, from, to).await?,
        }))
    }

    /// Whether nobody has taken back one of the tasks, a commit in their work, or a commit of the person's that comes in with them.
    async fn is_still_wanted(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        prefix: usize,
    ) -> Result<bool, EngineError> {
        let (ids, project) = (batch.ids(prefix), lane.project.as_ref());
        let waiting = lanes::waiting(&self.projects, &lane.key).await?;
        let tasks: Vec<Task> = waiting.into_iter().filter(|task| ids.contains(&task.id())).collect();
        if tasks.len() < ids.len() {
            return Ok(false);
        }
        if !withdrawn::find(&self.projects, worktrees, project, &tasks).await?.is_empty()
            || !withdrawn::on_refused_since(&self.projects, worktrees, &tasks).await?.is_empty()
        {
            return Ok(false);
        }
        if !batch.brings_in() {
            return Ok(true);
        }
        let Some(trunk) = self.projects.trunk(worktrees, project).await? else { return Ok(false) };
        Ok(worktrees.repository().is_ancestor(&batch.ground.commit, &trunk.commit).await?)
    }

    pub(crate) async fn send_back(&self, task: &Task, reason: NotLanded) -> Result<(), EngineError> {
        self.leave(task.id(), Command::SendBack { reason: Box::new(reason) }).await
    }

    /// The task stays where it is. Said once for each reason: the lane is looked at again and again.
    pub(crate) async fn delay(&self, task: &Task, reason: NotLanded) -> Result<(), EngineError> {
        if landing_delay(task).is_some_and(|known| known.says_same(&reason)) {
            return Ok(());
        }
        self.leave(task.id(), Command::DelayLanding { reason: Box::new(reason) }).await
    }

    /// Somebody may have decided about the task meanwhile; then there is nothing left to do.
    pub(crate) async fn leave(&self, task: TaskId, command: Command) -> Result<(), EngineError> {
        match self.tasks.apply(task, command, Actor::Baton).await {
            Ok(_) => Ok(()),
            Err(refused) if refused.is::<CommandRefusal>() => Ok(()),
            Err(error) => Err(error),
        }
    }
}
