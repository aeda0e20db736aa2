//! Runs the checks on one commit, in a scratch clone, and keeps what they said about its tree.

use std::fmt::Write;
use std::time::Instant;

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::AttemptId;
use baton_core::base::text::NonBlank;
use baton_core::landing::verdict::{CheckRun, Verdict, VerdictKey, VerdictSubject};
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};
use baton_core::task::Task;
use baton_core::task::attempt::CheckResult;
use baton_core::task::finding::WorkFinding;
use sha2::{Digest, Sha256};
use tokio::sync::watch;
use tracing::{Instrument, info_span};

use crate::base::error::EngineError;
use crate::git::{ProtectedCommit, Worktrees};
use crate::landing::board::WatchedRun;
use crate::landing::error::LandingError;
use crate::landing::lander::Lander;
use crate::user_tasks::Site;
use crate::user_tasks::checks::{CheckGround, Checks};

/// Everything that runs on a commit.
#[derive(Clone)]
pub(crate) struct Suite {
    pub checks: Checks,
    /// Digest of everything that decides what they do, apart from the files they look at.
    pub digest: String,
    /// The commit of the branch that they come from; none if they are those of the checkout.
    pub from: Option<CommitId>,
    /// The work with the branch's own version of the protected files that it changes. The checks have to pass on that first:
    /// what an agent wrote must not judge its own work.
    pub judged: Option<ProtectedCommit>,
}

impl Suite {
    /// Only the commands that verify one task.
    pub(crate) fn of_task(task: &Task) -> Self {
        let checks = Checks::default().verifying([task]);
        let digest = hex(&Sha256::digest(serde_json::to_string(&checks).unwrap_or_default()));
        Self { checks, digest, from: None, judged: None }
    }

    pub(crate) fn key(&self, tree: CommitId) -> VerdictKey {
        let environment = format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH);
        VerdictKey { tree, suite: self.digest.clone(), environment }
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The commit to check, and what it is to become.
pub(crate) struct CheckOrder {
    pub into: BranchName,
    pub commit: CommitId,
    pub base: CommitId,
    pub suite: Suite,
    pub key: VerdictKey,
    /// Where people watch it.
    pub watched: WatchedRun,
    pub subject: VerdictSubject,
    /// The processes of the checks are known as this attempt's.
    pub attempt: AttemptId,
}

impl Lander {
    /// The project's checks, and the commands that verify these tasks.
    pub(crate) fn suite<'a>(
        &self,
        worktrees: &Worktrees,
        tasks: impl IntoIterator<Item = &'a Task>,
    ) -> Result<Suite, EngineError> {
        let checks = self.rules.settings.checks.verifying(tasks);
        let mut sum = Sha256::new();
        sum.update(serde_json::to_string(&checks).unwrap_or_default().as_bytes());
        let checkout = Site::of_person(&self.projects.people_folder(worktrees));
        if checks.user_tasks().next().is_some() {
            let mut site = checkout.clone();
            self.rules.define(&mut site);
            sum.update(self.user_tasks.portable_digest(&site)?.as_bytes());
        }
        if self.settings.worktree.setup.is_some() {
            sum.update(self.user_tasks.portable_digest(&checkout)?.as_bytes());
        }
        Ok(Suite { checks, digest: hex(&sum.finalize()), from: self.rules.from.clone(), judged: None })
    }

    /// The same for a tree that these tasks make of the branch's tip.
    pub(crate) async fn suite_on<'a>(
        &self,
        worktrees: &Worktrees,
        tip: &CommitId,
        tree: &CommitId,
        tasks: impl IntoIterator<Item = &'a Task> + Clone,
    ) -> Result<Suite, EngineError> {
        let suite = self.suite(worktrees, tasks.clone())?;
        if !tasks.into_iter().any(changes_protected) {
            return Ok(suite);
        }
        let Some(judged) = worktrees.with_protected_of(tip, tree, &self.rules.settings.protect).await? else {
            return Ok(suite);
        };
        let digest = hex(&Sha256::digest(format!("{} {}", suite.digest, judged.commit)));
        Ok(Suite { digest, judged: Some(judged), ..suite })
    }

    pub(crate) async fn verdict(&self, key: &VerdictKey) -> Result<Option<Versioned<Verdict>>, EngineError> {
        Ok(self.tasks.store.verdict(key).await?)
    }

    /// Runs all checks once and records the result.
    pub(crate) async fn check(&self, worktrees: &Worktrees, order: CheckOrder) -> Result<(), EngineError> {
        let span = info_span!("landing_check", branch = %order.into, commit = %order.commit);
        let run = self.run_checks(worktrees, &order).instrument(span).await?;
        let mut decision = self.tasks.decision(&order.key);
        loop {
            let stored = self.verdict(&order.key).await?;
            let guard = stored.as_ref().map_or(WriteGuard::New, |stored| WriteGuard::Version(stored.version));
            let mut verdict = stored.map_or_else(
                || Verdict {
                    key: order.key.clone(),
                    into: order.into.clone(),
                    commit: order.commit.clone(),
                    base: order.base.clone(),
                    subject: order.subject,
                    suite_from: order.suite.from.clone(),
                    runs: Vec::new(),
                },
                |stored| stored.value,
            );
            verdict.runs.push(run.clone());
            let flaky: Vec<String> = verdict.flaky().iter().map(ToString::to_string).collect();
            if decision.commit(Change::new().put(Record::Verdict(Box::new(verdict)), guard)).await? {
                if !flaky.is_empty() {
                    let names = flaky.join(", ");
                    (self.announce)(&format!(
                        "flaky: {names} failed on {} and passed when run again",
                        order.commit
                    ));
                }
                return Ok(());
            }
        }
    }

    async fn run_checks(&self, worktrees: &Worktrees, order: &CheckOrder) -> Result<CheckRun, EngineError> {
        let started_at = self.tasks.store.now().await?;
        let started = Instant::now();
        let mut results = Vec::new();
        if let Some(judged) = &order.suite.judged {
            order.watched.output.note("== with the protected files of the branch ==");
            let ran = self.run_on(worktrees, order, &judged.commit).await?;
            results
                .extend(ran.into_iter().map(|check| CheckResult { name: judged_name(&check.name), ..check }));
        }
        if results.iter().all(|check| check.exit_code == 0) {
            results.extend(self.run_on(worktrees, order, &order.commit).await?);
        }
        let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(CheckRun { started_at, duration_ms, results })
    }

    /// All checks in a scratch clone of this commit.
    async fn run_on(
        &self,
        worktrees: &Worktrees,
        order: &CheckOrder,
        commit: &CommitId,
    ) -> Result<Vec<CheckResult>, EngineError> {
        let wanted = &self.settings.worktree;
        let setup = wanted.for_clone();
        let live = &order.watched.output;
        let clone = worktrees.scratch_clone(&order.into, commit, &setup).await?;
        let root = self.projects.people_folder(worktrees);
        let values = self.projects.lease_for_checks(&wanted.values)?;
        let given = self.projects.build_jobs(1).into_iter().chain(values.values.clone()).collect();
        let mut site =
            self.projects.check_site(&root, clone.folder(), order.attempt, &clone.memory(), &given);
        site.fence = self.projects.check_task_fence(worktrees, clone.folder());
        // No stop signal: cancelling this drops it, and what is dropped ends its processes.
        let (_alive, mut stop) = watch::channel(false);
        if let Some(name) = &wanted.setup {
            live.note(&format!("== set-up: {name} =="));
            let ran = self
                .user_tasks
                .run_watched(&site, name, wanted.setup_timeout(), &mut stop, Some(live))
                .await?;
            if let Some(ran) = ran.filter(|ran| !ran.succeeded) {
                return Err(LandingError::SetupFailed { output: self.user_tasks.told(&ran) }.into());
            }
        }
        // What it is set up with is the person's; what judges it is the branch's.
        self.rules.define(&mut site);
        let fence = self.projects.check_fence(worktrees, clone.folder())?;
        let ground = CheckGround {
            attempt: order.attempt,
            user_tasks: &self.user_tasks,
            site: &site,
            live: Some(live),
            timeout: self.rules.settings.check_timeout(),
            fence: Some(&fence.fence),
        };
        let results = order.suite.checks.run_all(&ground, &mut stop).await?.unwrap_or_default();
        clone.remove().await?;
        Ok(results)
    }
}

fn changes_protected(task: &Task) -> bool {
    let end = task.ledger().last_end.as_ref();
    let is_protected = |finding: &WorkFinding| matches!(finding, WorkFinding::ProtectedFiles { .. });
    end.is_some_and(|end| end.verified.findings.iter().any(is_protected))
}

fn judged_name(check: &NonBlank) -> NonBlank {
    NonBlank::or(&format!("{check} (with the protected files of the branch)"), check.clone())
}
