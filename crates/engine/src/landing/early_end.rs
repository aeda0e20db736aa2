//! What leaves a lane, or waits in it, before anything of it is checked: work that is in the branch already, that has moved, that
//! stands on withdrawn commits, or that cannot be merged.

use std::collections::BTreeMap;

use baton_core::base::git_name::CommitId;
use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::task::Task;
use baton_core::task::attempt::CheckResult;
use baton_core::task::not_landed::NotLanded;

use crate::base::error::EngineError;
use crate::git::Worktrees;
use crate::landing::batch::{Batch, LandingCandidate};
use crate::landing::error::LandingError;
use crate::landing::lander::{Lander, LaneRound};
use crate::landing::lanes::Lane;
use crate::landing::met::{self, MetWork};
use crate::landing::start::{StartState, unlanded_start};
use crate::landing::withdrawn::{self, WithdrawnCommits};
use crate::projects::landing_rules::LandingRules;
use crate::settings::SettingsError;

impl Lander {
    /// Sends back what contains withdrawn commits: they would land with it. What stands on work of another task that is still to
    /// land stays until that has, and is put on it then; what contains work that a person has refused since stays until they decide
    /// about it. Returns what stays and why; None if something left the lane.
    pub(crate) async fn send_back_withdrawn(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        waiting: &[Task],
    ) -> Result<Option<BTreeMap<TaskId, LandingError>>, EngineError> {
        let project = lane.project.as_ref();
        let mut found = withdrawn::find(&self.projects, worktrees, project, waiting).await?;
        let on_refused = withdrawn::on_refused_since(&self.projects, worktrees, waiting).await?;
        let mut staying: BTreeMap<TaskId, LandingError> =
            on_refused.into_iter().map(|(task, on)| (task, LandingError::OnRefused { task, on })).collect();
        if found.is_empty() {
            return Ok(Some(staying));
        }
        let mut has_left = false;
        for task in waiting {
            let Some(WithdrawnCommits { commits, waits_for }) = found.remove(&task.id()) else { continue };
            if let Some(giver) = waits_for {
                staying.insert(task.id(), LandingError::StandsOn { task: task.id(), on: giver });
                continue;
            }
            self.send_back(task, NotLanded::StartWithdrawn { commits }).await?;
            has_left = true;
        }
        Ok((!has_left).then_some(staying))
    }

    /// What needs no check. True if the lane has to be looked at again.
    pub(crate) async fn settle_early(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        round: &mut LaneRound,
    ) -> Result<bool, EngineError> {
        for task in &batch.merged {
            let command = self.found_merged(lane, worktrees, batch, task).await?;
            self.leave(task.id(), command).await?;
        }
        for (task, verified, tip) in &batch.moved {
            let reason = NotLanded::Moved { verified: verified.clone(), tip: tip.clone() };
            self.send_back(task, reason).await?;
        }
        for (candidate, files) in &batch.conflicts {
            // Nobody has to fit in with commits of the person's that fail the checks.
            if batch.brings_in() {
                match self.judge_ground(lane, worktrees, batch, candidate, round).await? {
                    StartState::Passes => {}
                    StartState::Checked => return Ok(true),
                    StartState::Fails(reason) => {
                        self.delay(&candidate.task, reason).await?;
                        round.delayed.insert((candidate.task.id(), batch.ground.commit.clone()));
                        continue;
                    }
                }
            }
            if let Some(reason) = self.start_conflicts(lane, worktrees, batch, candidate).await? {
                self.delay(&candidate.task, reason).await?;
                round.delayed.insert((candidate.task.id(), batch.ground.commit.clone()));
                continue;
            }
            let met_commits = met::find_commits(worktrees, candidate, batch).await?;
            let met_commits = met::commits_touching(worktrees, candidate, met_commits, files).await?;
            // Where nobody is known to have touched the files, it may have been any of them.
            let or_all = met_commits.is_empty();
            let MetWork { tasks: met, more: met_more } =
                met::find_touching(&self.tasks, worktrees, candidate, &batch.tip, files, or_all).await?;
            let into = batch.ground.branch.clone();
            let reason = NotLanded::Conflict { into, files: files.clone(), met, met_more, met_commits };
            self.send_back(&candidate.task, reason).await?;
        }
        for (candidate, tree) in &batch.members {
            if let Some(reason) = self.start_is_unreadable(lane, worktrees, batch, candidate, tree).await? {
                self.delay(&candidate.task, reason).await?;
                round.delayed.insert((candidate.task.id(), batch.ground.commit.clone()));
                return Ok(true);
            }
        }
        Ok(!batch.merged.is_empty() || !batch.moved.is_empty() || !batch.conflicts.is_empty())
    }

    /// Whether the person's commit that the work started from conflicts with the branch by itself.
    async fn start_conflicts(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        candidate: &LandingCandidate,
    ) -> Result<Option<NotLanded>, EngineError> {
        let Some(start) = unlanded_start(worktrees, batch, candidate).await? else { return Ok(None) };
        let merged = worktrees.merge_trees(&candidate.spec, &batch.ground.commit, &start).await?;
        Ok(merged.err().map(|files| NotLanded::StartFails {
            into: lane.key.branch.clone(),
            base: start,
            checks: Vec::new(),
            conflicts: files.iter().map(|file| file.display().to_string()).collect(),
        }))
    }

    /// Whether the branch would get settings that cannot be read from the person's commit that the work started from.
    async fn start_is_unreadable(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        candidate: &LandingCandidate,
        tree: &CommitId,
    ) -> Result<Option<NotLanded>, EngineError> {
        let Some(start) = unlanded_start(worktrees, batch, candidate).await? else { return Ok(None) };
        let rules = |commit: CommitId| async move {
            self.projects.rules_at(&self.settings, worktrees, &batch.ground.branch, &commit).await
        };
        if unreadable(rules(tree.clone()).await)?.is_none() {
            return Ok(None);
        }
        let Some(error) = unreadable(rules(start.clone()).await)? else { return Ok(None) };
        let name = NonBlank::or(".agent/baton.toml", candidate.task.spec().title.clone());
        let checks = vec![CheckResult::new(name, 1, error.to_string())];
        let into = lane.key.branch.clone();
        Ok(Some(NotLanded::StartFails { into, base: start, checks, conflicts: Vec::new() }))
    }
}

/// Why rules cannot be read, if that is so.
fn unreadable(rules: Result<LandingRules, EngineError>) -> Result<Option<EngineError>, EngineError> {
    match rules {
        Ok(_) => Ok(None),
        Err(error) if error.is::<SettingsError>() => Ok(Some(error)),
        Err(error) => Err(error),
    }
}
