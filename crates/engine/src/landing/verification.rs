//! The commands that verify one task: they should fail on what it started from, and must pass on what its branch becomes.

use baton_core::base::git_name::CommitId;
use baton_core::base::id::TaskId;
use baton_core::landing::evidence::LandingEvidence;
use baton_core::landing::lane::lane_entry;
use baton_core::landing::verdict::{CheckRun, Verdict, VerdictSubject};
use baton_core::landing::verified::VerifiedCommand;
use baton_core::people::actor::Actor;
use baton_core::task::Task;
use baton_core::task::not_landed::NotLanded;
use baton_core::transition::command::Command;

use crate::base::error::EngineError;
use crate::git::Worktrees;
use crate::landing::acceptor::verified_head;
use crate::landing::batch::Batch;
use crate::landing::checking::{CheckOrder, Suite};
use crate::landing::lander::Lander;
use crate::landing::lanes::Lane;
use crate::landing::live_runs::CheckSubject;
use crate::landing::met;
use crate::projects::trunk::BranchTip;
use crate::settings::SettingsError;
use crate::user_tasks::checks::verification_name;

impl Lander {
    /// Why a person has to decide about this candidate, if so: no person accepted it, and its commands pass without it.
    pub(crate) async fn proves_nothing(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        task: &Task,
    ) -> Result<Option<NotLanded>, EngineError> {
        if task.spec().verify.is_empty() {
            return Ok(None);
        }
        let before = self.before(lane, worktrees, batch, task).await?;
        let is_by_policy =
            lane_entry(task).is_some_and(|entry| matches!(entry.accepted_by, Actor::Policy { .. }));
        Ok((is_by_policy && before.is_green())
            .then(|| NotLanded::ProvesNothing { base: before.commit, commands: task.spec().verify.clone() }))
    }

    /// What the commands say without the work. They run once for each commit that the task may have started from.
    async fn before(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        task: &Task,
    ) -> Result<Verdict, EngineError> {
        let base = base_of(task).unwrap_or(&batch.tip).clone();
        let (suite, tree) = (Suite::of_task(task), worktrees.tree_of(&base).await?);
        let key = suite.key(tree);
        loop {
            if let Some(known) = self.verdict(&key).await?.filter(|known| !known.value.runs.is_empty()) {
                return Ok(known.value);
            }
            let attempt = lane_entry(task).and_then(|entry| entry.work.attempt);
            let since = self.tasks.store.now().await?;
            let subject = CheckSubject {
                tasks: vec![task.id()],
                commit: base.clone(),
                base: base.clone(),
                without_work: Some("the commit it started from".to_owned()),
                since,
            };
            let order = CheckOrder {
                into: lane.key.branch.clone(),
                commit: base.clone(),
                base: base.clone(),
                suite: suite.clone(),
                key: key.clone(),
                subject: VerdictSubject::Before,
                watched: self.board.note_checking(&lane.key, subject),
                attempt: attempt.unwrap_or_else(|| self.tasks.ids.attempt()),
            };
            self.check(worktrees, order).await?;
        }
    }

    /// For work that is in the branch already, mostly because Baton was killed before it could say so: the commit by which it
    /// came there, and the evidence that was known when the branch was moved.
    pub(crate) async fn found_merged(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        task: &Task,
    ) -> Result<Command, EngineError> {
        let at_tip = || Command::Land { commit: batch.tip.clone(), verified: Vec::new(), evidence: None };
        let merge = match verified_head(task) {
            Some(head) => worktrees.merged_by(head, &batch.tip).await?,
            None => None,
        };
        let Some((commit, message)) = merge else { return Ok(at_tip()) };
        let ids = met::task_ids(&message);
        if !ids.contains(&task.id()) {
            return Ok(at_tip());
        }
        let merged = self.tasks.store.tasks_by_ids(&ids).await?;
        let find = |id: &TaskId| merged.iter().map(|stored| &stored.value).find(|merged| merged.id() == *id);
        let tree = worktrees.tree_of(&commit).await?;
        let tasks: Vec<&Task> = ids.iter().filter_map(find).collect();
        // What it was built on is its first parent.
        let parent = |number: u8| format!("{commit}^{number}");
        let base = worktrees.repository().commit_at(&parent(1)).await?;
        let base = base.unwrap_or_else(|| commit.clone());
        // The person's own commits, if it brought some in, come before the work.
        let second = worktrees.repository().commit_at(&parent(2)).await?;
        let is_work = |parent: &CommitId| tasks.iter().any(|task| verified_head(task) == Some(parent));
        let ground = second.filter(|second| !is_work(second)).unwrap_or(base);
        let ground = BranchTip { branch: lane.key.branch.clone(), commit: ground };
        // Rules that cannot be read have verified nothing.
        let by_rules = match self.by_rules_at(worktrees, &ground).await {
            Ok(by_rules) => by_rules,
            Err(error) if error.is::<SettingsError>() => return Ok(at_tip()),
            Err(error) => return Err(error),
        };
        let suite = by_rules.suite_on(worktrees, &ground.commit, &tree, tasks.iter().copied()).await?;
        let verdict = self.verdict(&suite.key(tree)).await?.map(|stored| stored.value);
        let verified = self.verified(lane, worktrees, batch, task, verdict.as_ref()).await?;
        let evidence = verdict.as_ref().and_then(LandingEvidence::of_verdict).map(Box::new);
        Ok(Command::Land { commit, verified, evidence })
    }

    /// The evidence for work that lands with this verdict.
    pub(crate) async fn verified(
        &self,
        lane: &Lane,
        worktrees: &Worktrees,
        batch: &Batch,
        task: &Task,
        landed: Option<&Verdict>,
    ) -> Result<Vec<VerifiedCommand>, EngineError> {
        if task.spec().verify.is_empty() {
            return Ok(Vec::new());
        }
        let before = self.before(lane, worktrees, batch, task).await?;
        let passed = landed.and_then(|verdict| verdict.runs.iter().find(|run| run.passed()));
        let mut verified = Vec::new();
        for command in &task.spec().verify {
            let name = verification_name(task.id(), command);
            let exit = |run: &CheckRun| {
                run.results.iter().find(|check| check.name == name).map(|check| check.exit_code)
            };
            let codes = (before.runs.last().and_then(exit), passed.and_then(exit));
            if let (Some(before_code), Some(after)) = codes {
                let base = before.commit.clone();
                verified.push(VerifiedCommand { command: command.clone(), base, before: before_code, after });
            }
        }
        Ok(verified)
    }
}

/// What the last attempt started from.
fn base_of(task: &Task) -> Option<&CommitId> {
    task.ledger().last_end.as_ref()?.verified.base.as_ref()
}
